package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

const (
	batch      = 1000 // records
	recordSize = 150  // bytes
)

func main() {
	n := flag.Int("n", 2_000_000, "records")
	turn := flag.Int("round", 10, "batches of a turn")
	dir := flag.String("dir", "", "directory for the queues; empty: a temporary one")
	flag.Parse()
	if err := run(*n, *turn, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "queue:", err)
		os.Exit(1)
	}
}

// contender is a queue with its figures.
type contender struct {
	name  string
	dir   string
	queue fifo
	spent [2][]time.Duration // by turn: pushing, popping
	peak  int64              // bytes of dir
	rest  int64              // bytes of dir in the end
}

func run(n, turn int, dir string) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "queue-bench"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	all, err := openAll(dir, int64(n))
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(1, 1))
	for phase, do := range []func(*contender, [][]byte) error{push, pop} {
		for t := range n / batch / turn {
			records := made(t*turn*batch, turn*batch)
			for _, i := range order.Perm(len(all)) { // who goes after whom matters
				c := all[i]
				start := time.Now()
				if err := do(c, records); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				c.spent[phase] = append(c.spent[phase], time.Since(start))
			}
		}
		for _, c := range all {
			c.peak = max(c.peak, dirBytes(c.dir))
		}
	}
	for _, c := range all {
		if err := c.queue.compact(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		c.rest = settled(c.dir)
		if err := c.queue.close(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return report(all, turn*batch)
}

// push appends the records of a turn, batch by batch.
func push(c *contender, records [][]byte) error {
	for b := range slices.Chunk(records, batch) {
		if err := c.queue.push(b); err != nil {
			return err
		}
	}
	return nil
}

// pop reads and acknowledges as many, and compares them.
func pop(c *contender, records [][]byte) error {
	for b := range slices.Chunk(records, batch) {
		wrong := 0
		err := c.queue.pop(len(b), func(r []byte) {
			if !bytes.Equal(r, b[0]) {
				wrong++
			}
			b = b[1:]
		})
		if err != nil {
			return err
		}
		if wrong > 0 {
			return fmt.Errorf("%d records of a batch are not those that were pushed", wrong)
		}
	}
	return nil
}

// openAll opens the contenders, the QueueDB first: without a limit, and as a
// ring of just enough slots.
func openAll(dir string, n int64) (all []*contender, err error) {
	for _, o := range []struct {
		name string
		open func(dir string) (fifo, error)
	}{
		{"queuedb", func(dir string) (fifo, error) { return openQueueDB(dir, 0) }},
		{"queuedb ring", func(dir string) (fifo, error) { return openQueueDB(dir, n) }},
		{"segment log", func(dir string) (fifo, error) { return openSeglog(dir) }},
		{"bbolt", func(dir string) (fifo, error) { return openBolt(dir) }},
	} {
		c := &contender{name: o.name, dir: filepath.Join(dir, o.name)}
		if err := os.MkdirAll(c.dir, 0o755); err != nil {
			return nil, err
		}
		if c.queue, err = o.open(c.dir); err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// made returns records that are told apart by their numbers, and that do not
// compress.
func made(from, n int) [][]byte {
	records := make([][]byte, n)
	for i := range records {
		rng := rand.New(rand.NewPCG(uint64(from+i), 1))
		r := make([]byte, 0, recordSize+8)
		for len(r) < recordSize {
			r = binary.BigEndian.AppendUint64(r, rng.Uint64())
		}
		records[i] = r[:recordSize]
	}
	return records
}

func report(all []*contender, records int) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "queue\tenqueue k/s\tdequeue k/s\tqueuedb is, enqueue\tdequeue\tdisk at the peak, MB\tafter drain and compaction")
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.2f x\t%.2f x\t%.1f\t%.1f %%\n", c.name,
			float64(records)/median(c.spent[0])/1e3, float64(records)/median(c.spent[1])/1e3,
			ratio(c, all[0], 0), ratio(c, all[0], 1), float64(c.peak)/1e6, 100*float64(c.rest)/float64(c.peak))
	}
	return w.Flush()
}

func median(d []time.Duration) float64 {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2].Seconds()
}

// ratio is how many times as fast as the peer the QueueDB is, by the median turn.
func ratio(peer, ours *contender, phase int) float64 {
	var all []float64
	for t, d := range peer.spent[phase] {
		all = append(all, d.Seconds()/ours.spent[phase][t].Seconds())
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// settled returns the bytes of dir once they stay the same for a second: Pebble
// deletes in the background.
func settled(dir string) int64 {
	for n := dirBytes(dir); ; {
		time.Sleep(time.Second)
		m := dirBytes(dir)
		if m == n {
			return n
		}
		n = m
	}
}

// dirBytes adds up what the files below dir take on the disk.
func dirBytes(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	})
	return sum
}
