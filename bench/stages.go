package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"octopus/internal/benchweb"
)

// stageTable says where the CPU time of a crawl went. Every sample of the
// profile is counted once.
type stageTable struct {
	Case    string  `json:"case,omitempty"`
	Client  string  `json:"client,omitempty"`
	Stages  []stage `json:"stages"`
	Sum     float64 `json:"sum_cpu_s"`               // of the rows
	Sampled float64 `json:"sampled_share,omitempty"` // Sum / CPU by the kernel's count of the same run
	*benchweb.Inside
}

// stage is one row: seconds of CPU, and what of them was memory management
// (allocation, its share of garbage collection), system calls, and compression.
type stage struct {
	Name     string  `json:"stage"`
	CPU      float64 `json:"cpu_s"`
	PerPage  float64 `json:"us_per_page,omitempty"`
	Share    float64 `json:"share"`
	Memory   float64 `json:"of_it_memory"`
	Kernel   float64 `json:"of_it_kernel"`
	Compress float64 `json:"of_it_compress"`
}

// stages crawls once more in each mode, with a profile, and prints the tables.
func (b *bench) stages(c webCase, s site, web *benchweb.Remote) error {
	for _, client := range ours {
		if b.clients != "" && !slices.Contains(strings.Split(b.clients, ","), client) {
			continue
		}
		t, err := b.stage(client, s, c.web.Total())
		if err != nil {
			return fmt.Errorf("%s inside: %w", client, err)
		}
		t.Case, t.Client = c.name, client
		if _, err := web.Reset(); err != nil {
			return err
		}
		if err := b.out.Encode(t); err != nil {
			return err
		}
	}
	return nil
}

// modes are the names of ours in octopus bench.
var modes = map[string]string{"octopus-discard": "discard", "octopus": "default", "octopus-warc": "pages"}

// stage has octopus crawl a site and look at itself.
func (b *bench) stage(client string, s site, pages int) (t stageTable, err error) {
	dir, err := os.MkdirTemp(b.scratch, client+"-")
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(b.scratch, client+".prof")
	cmd := exec.Command(b.product, "bench", "inside", s.Entry, "--mode", modes[client], "--concurrency", strconv.Itoa(s.parallel),
		"--pages", strconv.Itoa(pages), "--dir", dir, "--profile", path)
	out, err := cmd.Output()
	if err != nil {
		return t, err
	}
	if b.profiles != "" {
		if err := os.Rename(path, filepath.Join(b.profiles, client+".prof")); err != nil {
			return t, err
		}
		path = filepath.Join(b.profiles, client+".prof")
	}
	if t, err = readStages(path); err != nil {
		return t, err
	}
	t.Inside = new(benchweb.Inside)
	if err := json.Unmarshal(out, t.Inside); err != nil {
		return t, err
	}
	t.Sampled = benchweb.Round(t.Sum / t.CPU)
	for i := range t.Stages {
		t.Stages[i].PerPage = benchweb.Round(1e6 * t.Stages[i].CPU / float64(t.Pages))
	}
	return t, nil
}

// printStages prints the table of a profile that is there already.
func printStages(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: bench stages FILE")
	}
	t, err := readStages(args[0])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(t)
}

func readStages(path string) (stageTable, error) {
	f, err := os.Open(path)
	if err != nil {
		return stageTable{}, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return stageTable{}, err
	}
	rows := map[string]*stage{}
	var t stageTable
	for _, sample := range p.Sample {
		stack, cpu := functions(sample), float64(sample.Value[len(sample.Value)-1])/1e9
		name := stageOf(stack)
		if rows[name] == nil {
			rows[name] = &stage{Name: name}
		}
		row := rows[name]
		row.CPU += cpu
		t.Sum += cpu
		switch {
		case calls(stack, "runtime.mallocgc", "runtime.gcAssist", "runtime.growslice", "runtime.newobject"):
			row.Memory += cpu
		case calls(stack, "internal/runtime/syscall", "syscall.Syscall", "syscall.RawSyscall"):
			row.Kernel += cpu
		case calls(stack, "github.com/klauspost/compress", "compress/"):
			row.Compress += cpu
		}
	}
	for _, row := range rows {
		row.Share = benchweb.Round(row.CPU / t.Sum)
		for _, v := range []*float64{&row.CPU, &row.Memory, &row.Kernel, &row.Compress} {
			*v = benchweb.Round(*v)
		}
		t.Stages = append(t.Stages, *row)
	}
	t.Sum = benchweb.Round(t.Sum)
	slices.SortFunc(t.Stages, func(a, b stage) int { return int(1e6 * (b.CPU - a.CPU)) })
	return t, nil
}

// functions returns the names on the stack of a sample, innermost first.
func functions(s *profile.Sample) []string {
	var names []string
	for _, at := range s.Location {
		for _, line := range at.Line {
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
	}
	return names
}

// elsewhere are the rows for goroutines that run no code of octopus, by what is
// found on their stacks; the first that fits counts.
var elsewhere = []struct {
	name  string
	marks []string
}{
	{"runtime: garbage collection", []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart"}},
	{"fetch: net/http connections", []string{"net/http.", "golang.org/x/net/http2"}},
	{"kv: Pebble in the background", []string{"github.com/cockroachdb/"}},
	{"runtime: scheduler, poller, timers", []string{"runtime.mcall", "runtime.schedule", "runtime.mstart", "runtime.sysmon", "runtime.goexit0", "runtime.park_m", "runtime.gosched_m", "runtime.rt0_go", "runtime.systemstack", "runtime.morestack"}},
}

// stageOf names the stage of a stack: the package of octopus nearest to where
// the time is spent.
func stageOf(stack []string) string {
	for _, name := range stack {
		path, ok := strings.CutPrefix(name, "octopus/")
		if !ok || strings.HasPrefix(path, "internal/") {
			continue
		}
		end := strings.LastIndexByte(path, '/') + 1 // the dot in front of the function comes after the last slash
		dot := strings.IndexByte(path[end:], '.')
		return path[:end+max(dot, 0)]
	}
	for _, e := range elsewhere {
		if calls(stack, e.marks...) {
			return e.name
		}
	}
	return "other"
}

// calls reports whether a function on the stack begins with one of the marks.
func calls(stack []string, marks ...string) bool {
	return slices.ContainsFunc(stack, func(name string) bool {
		return slices.ContainsFunc(marks, func(m string) bool { return strings.HasPrefix(name, m) })
	})
}
