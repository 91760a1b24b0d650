package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"octopus/internal/benchweb"
)

// bench is one run of the suite.
type bench struct {
	self     string // this program
	product  string // the octopus to measure
	scratch  string // directory for crawl states and archives
	runs     int    // of each client; the median counts
	full     bool
	only     string // part of the name of the cases wanted
	clients  string // comma-separated names; empty: all of the case
	limit    time.Duration
	brief    bool   // no stage tables
	profiles string // directory that keeps the profiles of the stage tables
	out      *json.Encoder
}

func run(args []string) (err error) {
	b := bench{out: json.NewEncoder(os.Stdout)}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&b.product, "octopus", "./octopus", "the program to measure")
	fs.StringVar(&b.scratch, "dir", "", "scratch directory (default a temporary one)")
	fs.IntVar(&b.runs, "n", 1, "runs of each client; the median is printed")
	fs.BoolVar(&b.full, "full", false, "all clients in all cases (half an hour instead of four minutes)")
	fs.StringVar(&b.only, "case", "", "only cases whose name contains this")
	fs.StringVar(&b.clients, "clients", "", "only these clients, comma-separated")
	fs.BoolVar(&b.brief, "nostages", false, "no stage tables and points of the large case")
	fs.StringVar(&b.profiles, "profiles", "", "keep the CPU profiles of the stage tables in this directory")
	fs.DurationVar(&b.limit, "limit", 10*time.Minute, "longest time for one run of a client")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.product, err = filepath.Abs(b.product); err != nil {
		return err
	}
	if b.scratch, err = os.MkdirTemp(b.scratch, "octopus-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.scratch)) }()
	if err := b.out.Encode(machine()); err != nil {
		return err
	}
	for _, c := range cases() {
		if strings.Contains(c.name, b.only) {
			if err := b.runCase(c); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// result is one line of output.
type result struct {
	Case       string             `json:"case"`
	Client     string             `json:"client"`
	PagesPerS  float64            `json:"pages_per_s"`
	CPU        float64            `json:"cpu_s_per_1k"`
	RSS        float64            `json:"peak_rss_mb"`
	Complete   float64            `json:"complete"`   // distinct pages fetched / pages there are, by the server
	Duplicates int64              `json:"duplicates"` // further fetches of the same page, by the server
	Conns      int64              `json:"connections"`
	Wall       float64            `json:"wall_s"`
	Runs       int                `json:"runs"`
	Ratio      map[string]float64 `json:"ratio,omitempty"`    // CPU of octopus / CPU of each peer
	Distance   map[string]float64 `json:"distance,omitempty"` // CPU of octopus / CPU of the least programs
	Error      string             `json:"error,omitempty"`
}

// runCase starts the web and lets the clients crawl it, one after the other.
func (b *bench) runCase(c webCase) (err error) {
	opt, err := json.Marshal(c.web)
	if err != nil {
		return err
	}
	server := exec.Command(b.self, "serve", string(opt))
	server.Stderr = os.Stderr
	web, err := benchweb.Spawn(server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, web.Close()) }()
	s := site{Hello: web.Hello, parallel: c.parallel, perHost: cmp.Or(c.perHost, c.parallel)}
	if web.CA != nil {
		s.ca = filepath.Join(b.scratch, "ca.pem")
		if err := os.WriteFile(s.ca, web.CA, 0o600); err != nil {
			return err
		}
	}
	var done []result
	for _, client := range b.chosen(c) {
		r, err := b.median(c.name, client, s, web)
		if err != nil {
			return err
		}
		if strings.HasPrefix(client, "octopus") {
			r.compare(done)
		}
		done = append(done, r)
		if err := b.out.Encode(r); err != nil {
			return err
		}
	}
	if !b.brief && strings.HasPrefix(c.name, "large") {
		return b.stages(c, s, web)
	}
	return nil
}

// chosen returns the clients of a case, peers first, without those that are not
// installed.
func (b *bench) chosen(c webCase) []string {
	names := slices.Clone(c.quick)
	if b.full {
		names = append(slices.Clone(c.full), names...)
	}
	slices.SortStableFunc(names, func(x, y string) int { return rank(x) - rank(y) })
	return slices.DeleteFunc(names, func(client string) bool {
		if b.clients != "" && !slices.Contains(strings.Split(b.clients, ","), client) {
			return true
		}
		program, _, _ := strings.Cut(client, "-")
		if program != "wget" && program != "wget2" {
			return false
		}
		_, err := exec.LookPath(program)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is not installed, left out\n", program)
		}
		return err != nil
	})
}

// rank sorts octopus behind the peers.
func rank(client string) int {
	if strings.HasPrefix(client, "octopus") {
		return 1
	}
	return 0
}

// median measures a client several times and returns the run with the middle
// CPU time; a run that failed or missed pages is told rather than left out.
func (b *bench) median(name, client string, s site, web *benchweb.Remote) (result, error) {
	var all []result
	for range b.runs {
		r, err := b.measure(client, s, web)
		if err != nil {
			return result{}, err
		}
		r.Case = name
		if r.Error != "" {
			return r, nil
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y result) int { return int(1e6 * (x.CPU - y.CPU)) })
	r := all[len(all)/2]
	r.Runs = len(all)
	return r, nil
}

// measure runs a client once.
func (b *bench) measure(client string, s site, web *benchweb.Remote) (r result, err error) {
	if s.dir, err = os.MkdirTemp(b.scratch, client+"-"); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	if _, err := web.Reset(); err != nil {
		return r, err
	}
	args := b.command(client, s)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.dir, os.Environ()
	if s.ca != "" {
		cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+s.ca)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	kill := time.AfterFunc(b.limit, func() { cmd.Process.Kill() })
	u, failed := benchweb.Measure(cmd)
	kill.Stop()
	st, err := web.Reset()
	if err != nil {
		return r, err
	}
	pages := float64(max(st.Distinct, 1))
	r = result{Client: client, PagesPerS: benchweb.Round(pages / u.Wall.Seconds()), CPU: benchweb.Round(u.CPU.Seconds() * 1000 / pages), RSS: benchweb.Round(float64(u.RSS) / 1e6),
		Complete: benchweb.Round(float64(st.Distinct) / float64(st.Pages)), Duplicates: st.Duplicates, Conns: st.Conns, Wall: benchweb.Round(u.Wall.Seconds()), Runs: 1}
	if failed != nil {
		r.Error = fmt.Sprintf("%v: %s", failed, lastLine(said.Bytes()))
	}
	return r, nil
}

// compare sets the ratios to what the same site cost others.
func (r *result) compare(others []result) {
	r.Ratio, r.Distance = map[string]float64{}, map[string]float64{}
	for _, o := range others {
		switch {
		case o.CPU == 0 || strings.HasPrefix(o.Client, "octopus"):
		case strings.HasPrefix(o.Client, "L"):
			r.Distance[o.Client] = benchweb.Round(r.CPU / o.CPU)
		default:
			r.Ratio[o.Client] = benchweb.Round(r.CPU / o.CPU)
		}
	}
}

func lastLine(b []byte) string {
	b = bytes.TrimSpace(b)
	return string(b[bytes.LastIndexByte(b, '\n')+1:])
}
