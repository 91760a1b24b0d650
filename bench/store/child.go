package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	base   figures       // memory before the store was opened: mostly the corpus
	in     *bufio.Reader // the parent's orders
}

// figures are what a child measured; the parent names them.
type figures map[string]float64

// fill stores all pages.
func (j *job) fill() (figures, error) {
	var next atomic.Int64
	var mu sync.Mutex // guards took and failed
	var took []time.Duration
	var failed error
	var wg sync.WaitGroup
	begin := time.Now()
	for range writers {
		wg.Go(func() {
			for {
				from := int(next.Add(batch)) - batch
				if from >= j.pages {
					return
				}
				var pages []*octopus.Page
				for i := from; i < min(from+batch, j.pages); i++ {
					pages = append(pages, j.corpus.page(i))
				}
				t := time.Now()
				err := j.store.put(pages)
				mu.Lock()
				took = append(took, time.Since(t))
				if err != nil {
					failed = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	s := time.Since(begin).Seconds()
	slices.Sort(took)
	return figures{"puts_per_s": float64(j.pages) / s, "put_MB_per_s": float64(j.pages*len(j.corpus.page(0).Body)) / s / 1e6,
		"batch_p50_ms": ms(took[len(took)/2]), "batch_p99_ms": ms(took[len(took)*99/100]), "fill_rss_MB": j.memory("VmRSS"), "fill_anon_MB": j.memory("RssAnon")}, nil
}

// warm reads random pages twice; the second time counts.
func (j *job) warm() (figures, error) {
	if _, err := j.read(1, 11); err != nil {
		return nil, err
	}
	s, err := j.read(1, 11)
	return figures{"warm_us": s / float64(j.gets) * 1e6, "warm_rss_MB": j.memory("VmRSS"), "warm_anon_MB": j.memory("RssAnon")}, err
}

// cold waits until the parent has emptied the page cache, reads random pages,
// and again with 32 readers.
func (j *job) cold() (figures, error) {
	f := figures{}
	for _, readers := range []int{1, 32} {
		fmt.Println("evict")
		if _, err := j.in.ReadString('\n'); err != nil {
			return nil, err
		}
		s, err := j.read(readers, uint64(readers)*100)
		if err != nil {
			return nil, err
		}
		f[fmt.Sprintf("cold_us_%d", readers)] = s / float64(j.gets) * 1e6
	}
	return f, nil
}

// read gets random pages and returns the seconds that took. Every body is
// compared, outside the measured time where there is one reader.
func (j *job) read(readers int, seed uint64) (float64, error) {
	var wg sync.WaitGroup
	var wrong atomic.Pointer[string]
	var idle atomic.Int64 // of one reader: spent on comparing
	begin := time.Now()
	for r := range readers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(r)))
			for range j.gets / readers {
				i := rng.IntN(j.pages)
				body, err := j.store.get(pageURL(i))
				t := time.Now()
				if err != nil || !bytes.Equal(body, j.corpus.page(i).Body) {
					text := fmt.Sprintf("page %d: %d bytes, %v", i, len(body), err)
					wrong.Store(&text)
					return
				}
				if readers == 1 {
					idle.Add(int64(time.Since(t)))
				}
			}
		})
	}
	wg.Wait()
	if text := wrong.Load(); text != nil {
		return 0, fmt.Errorf("%s", *text)
	}
	return (time.Since(begin) - time.Duration(idle.Load())).Seconds(), nil
}

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
