package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags, for parent and child.
type options struct {
	pages, gets, bytes, rounds, round int
	indexMB                           int64
	dir, html, stores, sync           string
	packed, filled, digests, zstd     bool
	phase                             string
}

func main() {
	var o options
	flag.IntVar(&o.pages, "pages", 100_000, "pages to store")
	flag.IntVar(&o.gets, "gets", 10_000, "random gets, for each way of reading")
	flag.IntVar(&o.bytes, "bytes", 0, "length of a body; 0: 10,000, or 2,500 with -packed")
	flag.StringVar(&o.dir, "dir", "store-bench", "directory for the stores, removed at the end")
	flag.StringVar(&o.html, "html", "/usr/share/doc", "directory of HTML that pages are made of")
	flag.StringVar(&o.stores, "stores", strings.Join(names, ","), "what to measure")
	flag.BoolVar(&o.packed, "packed", false, "bodies that are compressed already")
	flag.IntVar(&o.rounds, "rounds", 5, "how often gets are measured, store after store; the median is printed")
	flag.StringVar(&o.sync, "sync", "always", "always: one sync for each batch; never: the operating system decides")
	flag.BoolVar(&o.filled, "filled", false, "the stores in -dir are full already; they stay there")
	flag.Int64Var(&o.indexMB, "index", 0, "memory of octopus's index in MB, the rest of it being on disk; 0: all in memory")
	flag.BoolVar(&o.digests, "digests", false, "peers look for the payload by its SHA-1 before they store a page, as octopus always does")
	flag.BoolVar(&o.zstd, "zstd", false, "octopus compresses with zstd, not with gzip")
	flag.StringVar(&o.phase, "phase", "", "fill, warm, cold, cold2 or cold32: what a child process does (internal)")
	flag.IntVar(&o.round, "round", 0, "the round of a child process (internal)")
	flag.Parse()
	if o.bytes == 0 {
		o.bytes = 10_000
		if o.packed {
			o.bytes = 2_500
		}
	}
	run := o.parent
	if o.phase != "" {
		run = o.child
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}

// child opens the store, works, and prints its figures. It ends when the parent
// closes its input; after fill it is killed instead.
func (o *options) child() error {
	c, err := loadCorpus(o.html, o.bytes, o.packed)
	if err != nil {
		return err
	}
	debug.FreeOSMemory()
	j := &job{corpus: c, pages: o.pages, gets: o.gets, round: uint64(o.round), in: bufio.NewReader(os.Stdin),
		base: figures{"VmRSS": status("VmRSS"), "RssAnon": status("RssAnon")}}
	begin := time.Now()
	if j.store, err = openStore(o); err != nil {
		return err
	}
	opened := ms(time.Since(begin))
	work := map[string]func() (figures, error){"fill": j.fill, "warm": j.warm,
		"cold": func() (figures, error) { return j.cold(1) }, "cold2": func() (figures, error) { return j.cold(2) }, "cold32": func() (figures, error) { return j.cold(32) }}
	f, err := work[o.phase]()
	if err != nil {
		return err
	}
	if o.phase == "warm" && o.round == 0 { // the first open after the kill
		f["reopen_ms"] = opened
	}
	if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
		return err
	}
	j.in.ReadString('\n') // until the parent goes on
	return j.store.Close()
}

// parent fills the stores, then measures gets in rounds, so that all of them meet
// the same load of the machine.
func (o *options) parent() error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	if !o.filled {
		defer os.RemoveAll(o.dir)
	}
	stores := strings.Split(o.stores, ",")
	all := map[string]map[string][]float64{}
	for _, name := range stores {
		all[name] = map[string][]float64{}
		if o.filled {
			continue
		}
		if err := o.measure(name, "fill", all[name]); err != nil {
			return err
		}
		size, err := allocated(filepath.Join(o.dir, name))
		if err != nil {
			return err
		}
		all[name]["disk_B_per_page"] = []float64{size / float64(o.pages)}
	}
	for o.round = range o.rounds {
		for _, phase := range []string{"warm", "cold", "cold2", "cold32"} {
			for _, name := range stores {
				if phase == "cold" {
					if err := o.yardstick(name, all[name]); err != nil {
						fmt.Fprintf(os.Stderr, "store: no yardstick for %s: %v\n", name, err)
					}
				}
				if err := o.measure(name, phase, all[name]); err != nil {
					return err
				}
			}
		}
	}
	return o.print(stores, all)
}

// print writes the median of each figure, one line for each store.
func (o *options) print(names []string, all map[string]map[string][]float64) error {
	out := json.NewEncoder(os.Stdout)
	for _, name := range names {
		f := figures{}
		for what, values := range all[name] {
			slices.Sort(values)
			f[what] = values[len(values)/2]
		}
		err := out.Encode(struct {
			Store   string  `json:"store"`
			Pages   int     `json:"pages"`
			Packed  bool    `json:"packed"`
			Digests bool    `json:"peers_with_digests"`
			Zstd    bool    `json:"octopus_with_zstd"`
			IndexMB int64   `json:"index_MB"`
			Bytes   int     `json:"body_bytes"`
			Sync    string  `json:"sync"`
			F       figures `json:"figures"`
		}{name, o.pages, o.packed, o.digests, o.zstd, o.indexMB, o.bytes, o.sync, f})
		if err != nil {
			return err
		}
	}
	return nil
}

// measure runs one process of a store and adds its figures.
func (o *options) measure(name, phase string, to map[string][]float64) error {
	dir := filepath.Join(o.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := o.process(name, dir, phase)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", name, phase, err)
	}
	for what, value := range f {
		to[what] = append(to[what], value)
	}
	return nil
}

func (o *options) process(name, dir, phase string) (f figures, err error) {
	cmd := exec.Command(os.Args[0], "-phase", phase, "-stores", name, "-dir", dir, "-html", o.html,
		fmt.Sprint("-pages=", o.pages), fmt.Sprint("-gets=", max(1, o.gets/o.rounds)), fmt.Sprint("-bytes=", o.bytes), fmt.Sprint("-packed=", o.packed),
		"-sync", o.sync, fmt.Sprint("-digests=", o.digests), fmt.Sprint("-zstd=", o.zstd), fmt.Sprint("-index=", o.indexMB), fmt.Sprint("-round=", o.round))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if lines.Text() == "evict" {
			if err := evict(); err != nil {
				in.Close()
				return nil, err
			}
			fmt.Fprintln(in, "done")
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, err
		}
		if phase == "fill" {
			cmd.Process.Kill()
		}
		in.Close()
	}
	if err := cmd.Wait(); err != nil && phase != "fill" || f == nil {
		return nil, fmt.Errorf("process: %w", err)
	}
	return f, nil
}

// evict empties the kernel's cache.
func evict() error {
	syscall.Sync()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		return fmt.Errorf("cold gets need root: %w", err)
	}
	return nil
}

// allocated sums the blocks of all files below dir: some stores make files
// longer than what is in them.
func allocated(dir string) (sum float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += float64(info.Sys().(*syscall.Stat_t).Blocks * 512)
		}
		return err
	})
	return sum, err
}

// yardstick measures random reads of 4 KiB in the files of a store, one at a time,
// past the page cache. Before, all of them are read once: a virtual disk has a
// cache of its own and answers many times later for what is not in it.
func (o *options) yardstick(name string, to map[string][]float64) error {
	files, err := largeFiles(filepath.Join(o.dir, name))
	if err != nil || len(files) == 0 {
		return err
	}
	for _, file := range files {
		if out, err := exec.Command("dd", "if="+file, "of=/dev/null", "bs=4M", "iflag=direct").CombinedOutput(); err != nil {
			return fmt.Errorf("dd %s: %w: %s", file, err, out)
		}
	}
	us, err := fio(files[:min(len(files), 40)]) // it takes a line of 4 KB
	if err == nil {
		to["fio_4k_us"] = append(to["fio_4k_us"], us)
	}
	return err
}

// largeFiles lists the files of a store that matter for the time of a read.
func largeFiles(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	return slices.DeleteFunc(files, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || info.Size() < 1<<20
	}), err
}

// fio returns the mean latency of random reads of 4 KiB in microseconds.
func fio(files []string) (float64, error) {
	text, err := exec.Command("fio", "--name=r", "--filename="+strings.Join(files, ":"), "--readonly", "--rw=randread", "--bs=4k", "--direct=1",
		"--time_based", "--runtime=2", "--output-format=json").Output()
	if err != nil {
		return 0, fmt.Errorf("fio: %w: %s", err, text)
	}
	var rep struct {
		Jobs []struct {
			Read struct {
				Lat struct{ Mean float64 } `json:"lat_ns"`
			}
		}
	}
	if err := json.Unmarshal(text, &rep); err != nil || len(rep.Jobs) == 0 {
		return 0, fmt.Errorf("fio's answer: %w", err)
	}
	return rep.Jobs[0].Read.Lat.Mean / 1e3, nil
}
