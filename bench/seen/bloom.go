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
// All take turns of round keys, so that whatever else the machine does slows
// all of them down.
func (b *bench) bloom() error {
	n := b.size(50_000_000)
	const bitsPerKey = 32
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set, err := seen.NewBloom(seen.BloomOptions{Capacity: int64(n), BitsPerKey: bitsPerKey})
	if err != nil {
		return err
	}
	peers := []*peerBloom{newPeer(n, 8, bitsPerKey), newPeer(n, 22, bitsPerKey)}
	keys, answers, rng, ours := make([]octopus.Key, round), make([]bool, part), newSource(1), threadMeter()
	for done := 0; done < n; done += round {
		keys := keys[:min(round, n-done)]
		rng.fill(keys)
		ours.start()
		for at := 0; at < len(keys); at += part {
			if err := set.Add(context.Background(), time.Time{}, keys[at:at+part], answers); err != nil {
				return err
			}
		}
		ours.stop()
		for _, p := range peers {
			p.take(keys)
		}
	}
	wrong, asked, err := b.askAbsent(set)
	if err != nil {
		return err
	}
	fill := set.Fill()
	say("bloom", "octopus", figures{"keys": n, "MB": float64(fill.Bytes) / 1e6, "layers": fill.Layers, "cpu_ns_add": ours.ns(n), "cpu_ns_absent": asked.ns(b.absent),
		"absent": b.absent, "error": float64(wrong) / float64(b.absent), "error_by_bits": fill.ErrorRate, "formula": formula(int64(n), bitsPerKey)})
	for _, p := range peers {
		absent := min(2*n, b.absent)
		say("bloom", fmt.Sprintf("bits-and-blooms, k=%d", p.k), figures{"keys": n, "cpu_ns_add": p.add.ns(p.added), "cpu_ns_testandadd": p.both.ns(n - p.added),
			"absent": absent, "error": p.err(absent), "octopus_faster_than_add": p.add.ns(p.added) / ours.ns(n),
			"octopus_faster_than_testandadd": p.both.ns(n-p.added) / ours.ns(n)})
	}
	return nil
}

// round is the number of keys of one turn.
const round = 500 * part

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

// peerBloom is a filter of the other library. It is given 8 bytes of each key,
// hashes them itself, and has no call for many. Every second turn goes in by
// Add, the others by TestAndAdd.
type peerBloom struct {
	filter    *peer.BloomFilter
	k         uint
	add, both *meter
	added     int // by add
	turn      int
}

func newPeer(n int, k uint, bitsPerKey int) *peerBloom {
	return &peerBloom{filter: peer.New(uint(n*bitsPerKey), k), k: k, add: threadMeter(), both: threadMeter()}
}

func (p *peerBloom) take(keys []octopus.Key) {
	if p.turn++; p.turn%2 == 1 {
		p.add.start()
		for i := range keys {
			p.filter.Add(keys[i][8:])
		}
		p.add.stop()
		p.added += len(keys)
		return
	}
	p.both.start()
	for i := range keys {
		p.filter.TestAndAdd(keys[i][8:])
	}
	p.both.stop()
}

func (p *peerBloom) err(absent int) float64 {
	keys, rng, wrong := make([]octopus.Key, part), newSource(2), 0
	for range absent / part {
		rng.fill(keys)
		for i := range keys {
			if p.filter.Test(keys[i][8:]) {
				wrong++
			}
		}
	}
	return float64(wrong) / float64(absent)
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
