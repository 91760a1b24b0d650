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
	"strings"
	"syscall"
	"time"
)

// options are the flags, for parent and child.
type options struct {
	pages, gets, bytes int
	dir, html, stores  string
	packed             bool
	phase              string
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
	flag.StringVar(&o.phase, "phase", "", "fill, warm or cold: what a child process does (internal)")
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

// child opens the store, says so, works, and prints its figures. It ends when
// the parent closes its input; after fill it is killed instead.
func (o *options) child() error {
	c, err := loadCorpus(o.html, o.bytes, o.packed)
	if err != nil {
		return err
	}
	debug.FreeOSMemory()
	base := figures{"VmRSS": status("VmRSS"), "RssAnon": status("RssAnon")}
	begin := time.Now()
	s, err := openStore(o.stores, o.dir, o.packed)
	if err != nil {
		return err
	}
	opened := ms(time.Since(begin))
	j := &job{store: s, corpus: c, pages: o.pages, gets: o.gets, base: base, in: bufio.NewReader(os.Stdin)}
	f, err := map[string]func() (figures, error){"fill": j.fill, "warm": j.warm, "cold": j.cold}[o.phase]()
	if err != nil {
		return err
	}
	if o.phase == "warm" { // the first open after the kill
		f["reopen_ms"] = opened
	}
	if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
		return err
	}
	j.in.ReadString('\n') // until the parent goes on
	return s.Close()
}

func (o *options) parent() error {
	out := json.NewEncoder(os.Stdout)
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(o.dir)
	if us, err := fio(o.dir); err != nil {
		fmt.Fprintln(os.Stderr, "store: no yardstick:", err)
	} else {
		out.Encode(figures{"fio_4k_randread_us": us})
	}
	for _, name := range strings.Split(o.stores, ",") {
		f, err := o.measure(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out.Encode(struct {
			Store  string  `json:"store"`
			Pages  int     `json:"pages"`
			Packed bool    `json:"packed"`
			Bytes  int     `json:"body_bytes"`
			F      figures `json:"figures"`
		}{name, o.pages, o.packed, o.bytes, f})
	}
	return nil
}

// measure runs the three processes of a store.
func (o *options) measure(name string) (figures, error) {
	dir := filepath.Join(o.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	all := figures{}
	for _, phase := range []string{"fill", "warm", "cold"} {
		f, err := o.process(name, dir, phase)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", phase, err)
		}
		for k, v := range f {
			all[k] = v
		}
	}
	size, err := allocated(dir)
	all["disk_B_per_page"] = size / float64(o.pages)
	return all, err
}

func (o *options) process(name, dir, phase string) (f figures, err error) {
	cmd := exec.Command(os.Args[0], "-phase", phase, "-stores", name, "-dir", dir, "-html", o.html,
		fmt.Sprint("-pages=", o.pages), fmt.Sprint("-gets=", o.gets), fmt.Sprint("-bytes=", o.bytes), fmt.Sprint("-packed=", o.packed))
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

// fio returns the mean latency of random reads of 4 KiB, one at a time, past the
// page cache, in microseconds.
func fio(dir string) (float64, error) {
	file := filepath.Join(dir, "fio")
	defer os.Remove(file)
	text, err := exec.Command("fio", "--name=r", "--filename="+file, "--size=1G", "--rw=randread", "--bs=4k", "--direct=1",
		"--time_based", "--runtime=8", "--output-format=json").Output()
	if err != nil {
		return 0, fmt.Errorf("fio: %w", err)
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
