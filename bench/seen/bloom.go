package main

import (
	"context"
	"crypto/md5"
	"fmt"
	"math"
	"runtime"
	"time"

	peer "github.com/bits-and-blooms/bloom/v3"

	"octopus"
	"octopus/seen"
)

// bloom measures test-and-add, and the error by keys that were never added.
func (b *bench) bloom() error {
	n := b.size(50_000_000)
	const bitsPerKey = 32
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set, err := seen.NewBloom(seen.BloomOptions{Capacity: int64(n), BitsPerKey: bitsPerKey})
	if err != nil {
		return err
	}
	ours, err := addAll(n, set)
	if err != nil {
		return err
	}
	wrong, asked, err := b.askAbsent(set)
	if err != nil {
		return err
	}
	fill := set.Fill()
	say("bloom", "octopus", figures{"keys": n, "MB": float64(fill.Bytes) / 1e6, "layers": fill.Layers, "cpu_ns_add": ours, "cpu_ns_absent": asked.ns(b.absent),
		"absent": b.absent, "error": float64(wrong) / float64(b.absent), "error_by_bits": fill.ErrorRate, "formula": formula(int64(n), bitsPerKey)})
	for _, k := range []uint{8, 22} {
		f := addPeer(n, k, bitsPerKey)
		say("bloom", fmt.Sprintf("bits-and-blooms, k=%d", k), figures{"keys": n, "cpu_ns_add": f.add, "cpu_ns_testandadd": f.both, "absent": f.absent, "error": f.err,
			"octopus_faster_than_add": f.add / ours, "octopus_faster_than_testandadd": f.both / ours})
	}
	return nil
}

// formula returns the error rate that the layout has at so many bits for each
// key, the uneven load of its lines included: that of the smallest plan which
// needs no more.
func formula(n int64, bitsPerKey float64) float64 {
	low, high := -12.0, -0.5 // powers of ten
	for range 40 {
		mid := (low + high) / 2
		if p, err := seen.PlanFor(n, 1, math.Pow(10, mid)); err != nil || p.BitsPerKey > bitsPerKey*1.000001 {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Pow(10, high)
}

// addAll adds n new keys in batches, and returns the CPU of one in ns.
func addAll(n int, set seen.Set) (float64, error) {
	keys, answers, rng, m := make([]octopus.Key, part), make([]bool, part), newSource(1), threadMeter()
	for range n / part {
		rng.fill(keys)
		m.start()
		if err := set.Add(context.Background(), time.Time{}, keys, answers); err != nil {
			return 0, err
		}
		m.stop()
	}
	return m.ns(n), nil
}

func (b *bench) askAbsent(set seen.Set) (wrong int, m *meter, err error) {
	keys, answers, rng := make([]octopus.Key, part), make([]bool, part), newSource(2)
	m = threadMeter()
	for range b.absent / part {
		rng.fill(keys)
		m.start()
		if err := set.Contains(context.Background(), time.Time{}, keys, answers); err != nil {
			return 0, nil, err
		}
		m.stop()
		wrong += trues(answers)
	}
	return wrong, m, nil
}

// peerFigures are of the other library: ns of Add and of TestAndAdd.
type peerFigures struct {
	add, both, err float64
	absent         int
}

// addPeer gives 8 bytes of each key to the other library, which hashes them
// itself and has no call for many. The first half goes in by Add, the second by
// TestAndAdd.
func addPeer(n int, k uint, bitsPerKey int) (f peerFigures) {
	filter := peer.New(uint(n*bitsPerKey), k)
	keys, rng := make([]octopus.Key, part), newSource(1)
	half := n / part / 2
	for i, add := range []func([]byte){func(p []byte) { filter.Add(p) }, func(p []byte) { filter.TestAndAdd(p) }} {
		m := threadMeter()
		for range half {
			rng.fill(keys)
			m.start()
			for i := range keys {
				add(keys[i][8:])
			}
			m.stop()
		}
		*[]*float64{&f.add, &f.both}[i] = m.ns(half * part)
	}
	wrong := 0
	rng, f.absent = newSource(2), 2*n
	for range f.absent / part {
		rng.fill(keys)
		for i := range keys {
			if filter.Test(keys[i][8:]) {
				wrong++
			}
		}
	}
	f.err = float64(wrong) / float64(f.absent)
	return f
}

// texts adds URL texts, their MD5 included.
func (b *bench) texts() error {
	n := b.size(50_000_000)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set, err := seen.NewBloom(seen.BloomOptions{Capacity: int64(n), BitsPerKey: 32})
	if err != nil {
		return err
	}
	keys, answers := make([]octopus.Key, part), make([]bool, part)
	text := []byte("https://www.example.com/section/of/the/site/article-")
	prefix := len(text)
	m := threadMeter()
	m.start()
	for at := 0; at < n; at += part {
		for i := range keys {
			text = fmt.Appendf(text[:prefix], "%09d.html", at+i)
			keys[i] = md5.Sum(text)
		}
		if err := set.Add(context.Background(), time.Time{}, keys, answers); err != nil {
			return err
		}
	}
	m.stop()
	say("texts", "octopus", figures{"texts": n, "cpu_s": m.sum, "cpu_ns": m.ns(n)})
	return nil
}
