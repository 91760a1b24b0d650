package main

import (
	"context"
	"runtime"
	"time"

	"octopus"
	"octopus/seen"
)

// window fills three daily windows and asks the union for absent keys.
func (b *bench) window() error {
	const windows, target = 3, 1e-4
	each, absent := b.size(200_000_000), b.size(10_000_000)
	set, err := seen.NewWindow(seen.WindowOptions{Windows: windows, Capacity: int64(each), ErrorRate: target})
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, rng, m := context.Background(), newSource(4), threadMeter()
	keys, answers := make([]octopus.Key, part), make([]bool, part)
	day := time.Date(2019, 6, 3, 12, 0, 0, 0, time.UTC)
	var points []point
	for w := range windows {
		now := day.AddDate(0, 0, w)
		if err := set.Believe(now); err != nil {
			return err
		}
		for range each / part {
			rng.fill(keys)
			m.start()
			if err := set.Add(ctx, now, keys, answers); err != nil {
				return err
			}
			m.stop()
		}
		wrong := 0
		for range absent / part {
			rng.fill(keys)
			if err := set.Contains(ctx, now, keys, answers); err != nil {
				return err
			}
			wrong += trues(answers)
		}
		p := point{keys: float64((w + 1) * each), err: float64(wrong) / float64(absent)}
		for _, f := range set.Fill() {
			p.bytes += float64(f.Bytes)
		}
		points = append(points, p)
		say("window", "octopus", figures{"windows": w + 1, "keys": (w + 1) * each, "MB": p.bytes / 1e6, "bytes_per_key": p.bytes / p.keys,
			"absent": absent, "error": p.err, "error_asked_for": target, "cpu_ns_add": m.ns((w + 1) * each)})
	}
	if b.plot == "" {
		return nil
	}
	return b.draw(points)
}
