package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"octopus"
)

// batch is the number of pages in one put, writers that of goroutines.
const (
	batch   = 256
	writers = 2
)

// job is one process's work on one store.
type job struct {
	store  store
	corpus *corpus
	pages  int
	gets   int
	round  uint64
	base   figures       // memory before the store was opened: mostly the corpus
	in     *bufio.Reader // the parent's orders
}

// figures are what a child measured; the parent names them.
type figures map[string]float64

// fill stores all pages. They are made beforehand, a few batches at a time; only
// storing them counts.
func (j *job) fill() (figures, error) {
	var took []time.Duration // of each batch
	var wall, cpu time.Duration
	for from := 0; from < j.pages; {
		var batches [][]*octopus.Page
		for range 16 {
			var pages []*octopus.Page
			for ; from < j.pages && len(pages) < batch; from++ {
				pages = append(pages, j.corpus.page(from))
			}
			batches = append(batches, pages)
		}
		begin, used := time.Now(), cpuTime()
		each, err := j.putAll(batches)
		wall, cpu, took = wall+time.Since(begin), cpu+cpuTime()-used, append(took, each...)
		if err != nil {
			return nil, err
		}
	}
	begin, used := time.Now(), cpuTime()
	if err := j.store.flush(); err != nil {
		return nil, err
	}
	wall, cpu = wall+time.Since(begin), cpu+cpuTime()-used
	s := wall.Seconds()
	slices.Sort(took)
	return figures{"puts_per_s": float64(j.pages) / s, "put_MB_per_s": float64(j.pages*j.corpus.length) / s / 1e6,
		"put_cpu_us": us(cpu) / float64(j.pages), "batch_p50_ms": ms(took[len(took)/2]), "batch_p99_ms": ms(took[len(took)*99/100]),
		"fill_rss_MB": j.memory("VmRSS"), "fill_anon_MB": j.memory("RssAnon")}, nil
}

// putAll stores batches from several goroutines.
func (j *job) putAll(batches [][]*octopus.Page) ([]time.Duration, error) {
	var next atomic.Int64
	took, errs := make([]time.Duration, len(batches)), make([]error, len(batches))
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(batches); i = int(next.Add(1)) - 1 {
				begin := time.Now()
				errs[i] = j.store.put(batches[i])
				took[i] = time.Since(begin)
			}
		})
	}
	wg.Wait()
	return took, errors.Join(errs...)
}

// warm reads random pages twice; the second time counts.
func (j *job) warm() (figures, error) {
	if _, _, err := j.read(1, j.gets, 11+j.round); err != nil {
		return nil, err
	}
	wall, cpu, err := j.read(1, j.gets, 11+j.round)
	f := figures{"warm_us": wall, "warm_cpu_us": cpu, "warm_rss_MB": j.memory("VmRSS"), "warm_anon_MB": j.memory("RssAnon")}
	if o, ok := j.store.(ours); ok {
		address, payloads := o.indexBytes()
		f["index_B_per_page"], f["digests_B_per_page"] = address/float64(j.pages), payloads/float64(j.pages)
	}
	return f, err
}

// cold waits until the parent has emptied the page cache, and reads random pages.
// A process does so once: what it has mapped is not forgotten. For the program
// itself that is right: a few gets bring it into memory before.
func (j *job) cold(readers int) (figures, error) {
	if _, _, err := j.read(readers, 16*readers, 1000+j.round); err != nil {
		return nil, err
	}
	fmt.Println("evict")
	if _, err := j.in.ReadString('\n'); err != nil {
		return nil, err
	}
	wall, cpu, err := j.read(readers, j.gets, uint64(readers)*100+j.round)
	return figures{fmt.Sprintf("cold%d_us", readers): wall, fmt.Sprintf("cold%d_cpu_us", readers): cpu}, err
}

// stretch is how many pages are read before their bodies are compared: so few that
// their memory is used again, as in a program that does something with a page.
const stretch = 512

// read gets so many random pages and returns the microseconds of time and of processor
// that one took. Every body is compared, outside the measured time.
func (j *job) read(readers, gets int, seed uint64) (wall, cpu float64, err error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	urls, numbers := make([]octopus.URL, stretch), make([]int, stretch)
	var took, used time.Duration
	for left := gets; left > 0; left -= stretch {
		n := min(left, stretch)
		for k := range n {
			numbers[k] = rng.IntN(j.pages)
			urls[k] = pageURL(numbers[k])
		}
		bodies, d, c, err := j.readAll(readers, urls[:n])
		if err != nil {
			return 0, 0, err
		}
		took, used = took+d, used+c
		for k, body := range bodies {
			if !bytes.Equal(body, j.corpus.page(numbers[k]).Body) {
				return 0, 0, fmt.Errorf("page %d: %d bytes, not those that were stored", numbers[k], len(body))
			}
		}
	}
	return us(took) / float64(gets), us(used) / float64(gets), nil
}

// readAll gets pages from several goroutines.
func (j *job) readAll(readers int, urls []octopus.URL) (bodies [][]byte, wall, cpu time.Duration, err error) {
	bodies, errs := make([][]byte, len(urls)), make([]error, len(urls))
	var next atomic.Int64
	var wg sync.WaitGroup
	begin, used := time.Now(), cpuTime()
	for range readers {
		wg.Go(func() {
			for k := int(next.Add(1)) - 1; k < len(urls); k = int(next.Add(1)) - 1 {
				bodies[k], errs[k] = j.store.get(urls[k])
			}
		})
	}
	wg.Wait()
	return bodies, time.Since(begin), cpuTime() - used, errors.Join(errs...)
}

// cpuTime is what the process has used, of all its threads.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for a wrong pointer only
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func us(d time.Duration) float64 { return float64(d) / 1e3 }

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// memory is what the process took since the store was opened, in MB.
func (j *job) memory(name string) float64 { return status(name) - j.base[name] }

// status reads a line of /proc/self/status, in MB.
func status(name string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, name+": %f kB", &kb); n == 1 {
			return kb / 1e3
		}
	}
	return 0
}
