package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"octopus"
)

// bench is one run.
type bench struct {
	scale  float64
	absent int
	plot   string
	setFP  float64 // bytes of a fingerprint in a Redis set, once measured
}

var sections = []string{"bloom", "texts", "exact", "sieve", "redis", "window"}

func main() {
	var b bench
	only := flag.String("only", strings.Join(sections, ","), "what to measure")
	flag.Float64Var(&b.scale, "scale", 1, "all sizes times this")
	flag.IntVar(&b.absent, "absent", 1_000_000_000, "absent keys that the error of bloom is measured with")
	flag.StringVar(&b.plot, "plot", "", "draw the memory of windows into this SVG file")
	flag.Parse()
	if err := b.run(strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "seen:", err)
		os.Exit(1)
	}
}

func (b *bench) run(only []string) error {
	work := map[string]func() error{"bloom": b.bloom, "texts": b.texts, "exact": b.exact, "sieve": b.sieve, "window": b.window, "redis": b.redis}
	for _, name := range only {
		if work[name] == nil {
			return fmt.Errorf("no section %q; there are %s", name, strings.Join(sections, ", "))
		}
	}
	for _, name := range sections { // redis before window, which draws its figure
		if !slices.Contains(only, name) {
			continue
		}
		if err := work[name](); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		runtime.GC()
	}
	return nil
}

// size scales a number of keys, to whole parts.
func (b *bench) size(n int) int { return max(int(float64(n)*b.scale)/part, 1) * part }

// part is the number of keys of one call.
const part = 1000

// figures are what one line tells.
type figures map[string]any

func say(section, who string, f figures) {
	f["section"], f["who"] = section, who
	line, err := json.Marshal(f)
	if err != nil {
		line = fmt.Appendf(nil, "%v", err)
	}
	fmt.Println(string(line))
}

// source makes keys as MD5 makes them, without its cost.
type source struct{ *rand.ChaCha8 }

func newSource(seed byte) source { return source{rand.NewChaCha8([32]byte{seed})} }

func (s source) fill(keys []octopus.Key) {
	for i := range keys {
		binary.LittleEndian.PutUint64(keys[i][:8], s.Uint64())
		binary.LittleEndian.PutUint64(keys[i][8:], s.Uint64())
	}
}

// meter adds up the CPU that a thread uses while it runs.
type meter struct {
	clock      int32
	sum, since float64
	worst      float64
}

func threadMeter() *meter { return &meter{clock: unix.CLOCK_THREAD_CPUTIME_ID} }
func processMeter() *meter {
	return &meter{clock: unix.CLOCK_PROCESS_CPUTIME_ID}
}

func (m *meter) now() float64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(m.clock, &ts); err != nil {
		panic(err) // there is no system without these clocks
	}
	return float64(ts.Sec) + float64(ts.Nsec)/1e9
}

func (m *meter) start() { m.since = m.now() }
func (m *meter) stop() {
	took := m.now() - m.since
	m.sum, m.worst = m.sum+took, max(m.worst, took)
}

// ns is the CPU of one of n.
func (m *meter) ns(n int) float64 { return m.sum * 1e9 / float64(n) }

// heap is the live heap in bytes.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func trues(answers []bool) (n int) {
	for _, a := range answers {
		if a {
			n++
		}
	}
	return n
}

var errWrong = errors.New("the answers are wrong")
