package seen_test

import (
	"math"
	"testing"

	"octopus/seen"
)

// near reports whether got is within a share of want.
func near(got, want, share float64) bool { return math.Abs(got-want) <= share*want }

// TestFacts checks the figures that source texts get wrong.
func TestFacts(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"16 bits per URL, 8 hashes", seen.ClassicError(1, 16, 8), 5.7e-4},
		{"32 bits per URL, 8 hashes", seen.ClassicError(1, 32, 8), 5.7e-6},
		{"32 bits per URL, 22 hashes", seen.ClassicError(1, 32, 22), 2.1e-7},
		{"2^30 bits, 6 hashes, 43 M URLs", seen.ClassicError(43e6, 1<<30, 6), 0.96e-4},
		{"2^30 bits, 6 hashes, 179 M URLs", seen.ClassicError(179e6, 1<<30, 6), 0.064},
		{"each of 7 windows for 1e-4", seen.WindowError(1e-4, 7), 1e-4 / 7},
		{"split8 at 32 bits", seen.Formula(false, 32), 1.69e-5},
		{"split8 at 16 bits", seen.Formula(false, 16), 9.1e-4},
		{"twoline16 at 32 bits", seen.Formula(true, 32), 8.3e-7},
		{"twoline16 at 16 bits", seen.Formula(true, 16), 8.5e-4},
	} {
		if !near(c.got, c.want, 0.05) {
			t.Errorf("%s: %.3g, want %.3g", c.name, c.got, c.want)
		}
	}
	if b, _ := seen.ClassicBits(seen.WindowError(1e-4, 7)); !near(b, 23.2, 0.005) {
		t.Errorf("7 windows at 1e-4 need %.2f bits per URL and window, want 23.2", b)
	}
}

func TestPlan(t *testing.T) {
	p, err := seen.PlanFor(50e6, 1, 1e-6)
	if err != nil || p.Layout != "twoline16" || p.ErrorRate > 1e-6 || !near(float64(p.Bytes), 200e6, 0.05) {
		t.Errorf("50 M at 1e-6: %+v, %v", p, err)
	}
	p, err = seen.PlanFor(200e6, 3, 1e-4)
	if err != nil || p.ErrorRate > 1e-4 || p.Bytes > 1.8e9 || p.Blocks < 1 {
		t.Errorf("3 x 200 M at 1e-4: %+v, %v", p, err)
	}
	p, err = seen.PlanFor(1000, 1, 1e-2)
	if err != nil || p.Layout != "split8" || p.ErrorRate > 1e-2 {
		t.Errorf("1000 at 1e-2: %+v, %v", p, err)
	}
	p, err = seen.PlanClassic(179e6, 1<<30, 6, 1)
	if err != nil || !near(p.ErrorRate, 0.064, 0.05) || p.Blocks != 1 || p.Bytes != 1<<27 {
		t.Errorf("the source's figures: %+v, %v", p, err)
	}
	for _, c := range []struct {
		capacity int64
		windows  int
		rate     float64
	}{{0, 1, 0.1}, {1, 0, 0.1}, {1, 1, 0}, {1, 1, 1}, {1, 1, math.NaN()}, {1e12, 1, 1e-6}} {
		if p, err := seen.PlanFor(c.capacity, c.windows, c.rate); err == nil {
			t.Errorf("PlanFor(%d, %d, %g) = %+v, want an error", c.capacity, c.windows, c.rate, p)
		}
	}
	if _, err := seen.PlanClassic(1, 0, 1, 1); err == nil {
		t.Error("a filter of no bits is planned")
	}
}

// TestMeasuredError: false positives among absent keys are as many as the
// layout's formula says, and as the filter itself estimates from its bits.
func TestMeasuredError(t *testing.T) {
	const n = 50_000
	for _, c := range []struct {
		twoLines bool
		bits     float64
		absent   int
	}{{false, 10, 60_000}, {false, 16, 300_000}, {true, 10, 60_000}, {true, 16, 300_000}} {
		f := seen.NewTestFilter(c.twoLines, n, c.bits)
		for i := range n {
			f.Add(seen.Mix(uint64(i)))
		}
		for i := range n {
			if !f.Has(seen.Mix(uint64(i))) {
				t.Fatalf("key %d was forgotten", i)
			}
		}
		wrong := 0
		for i := range c.absent {
			if f.Has(seen.Mix(uint64(1<<40 + i))) {
				wrong++
			}
		}
		got, want := float64(wrong)/float64(c.absent), seen.Formula(c.twoLines, c.bits)
		if !near(got, want, 0.25) || !near(f.Measured(), want, 0.15) {
			t.Errorf("two lines %v, %.0f bits: measured %.3g, estimated %.3g, formula %.3g", c.twoLines, c.bits, got, f.Measured(), want)
		}
	}
}
