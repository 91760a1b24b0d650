package frontier_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/kv"
)

// The benchmarks of this file compare the frontier with plain puts: what the
// frontier writes is recorded, and the same changes go into a second store, those
// of one call in one batch with one sync. Rounds of both alternate, so that what else the machine
// does meets both alike; the metric "of-plain-put" is the median over the rounds
// of (time of the puts / time of the frontier). Run them with -benchtime 50x: one
// iteration is one round.

// recorder is a store that keeps the changes it is given.
type recorder struct {
	kv.Store
	ops     []kv.Op
	batches int
}

func (r *recorder) Apply(b *kv.Batch, d kv.Durability) error {
	r.ops = append(r.ops, b.Ops()...)
	r.batches++
	return r.Store.Apply(b, d)
}

// replay puts what was recorded into a plain store, in one batch.
func (r *recorder) replay(b *testing.B, plain kv.Store) {
	var batch kv.Batch
	for _, op := range r.ops {
		switch op.Kind {
		case kv.OpSet:
			batch.Set(op.Key, op.Value)
		case kv.OpDelete:
			batch.Delete(op.Key)
		default:
			batch.DeleteRange(op.Key, op.Value)
		}
	}
	if err := plain.Apply(&batch, kv.Sync); err != nil {
		b.Fatal(err)
	}
	r.ops = r.ops[:0]
}

// versus is a frontier on a recorded store, and the plain store beside it.
type versus struct {
	*frontier.Frontier
	rec    *recorder
	plain  kv.Store
	ratios []float64
	spent  [2]time.Duration // by the frontier, by the plain store
	ops    int
	calls  int
}

// newVersus opens both with n known URLs of 1,000 hosts.
func newVersus(b *testing.B, n int) *versus {
	v := &versus{rec: &recorder{Store: openPebble(b, b.TempDir())}, plain: openPebble(b, b.TempDir())}
	f, err := frontier.Open(plain(v.rec))
	if err != nil {
		b.Fatal(err)
	}
	v.Frontier = f
	b.Cleanup(func() { f.Close(); v.rec.Close(); v.plain.Close() })
	for i := 0; i < n; i += 10_000 {
		if _, err := f.Add(context.Background(), linksOf(i, 10_000, 1000)); err != nil {
			b.Fatal(err)
		}
		v.rec.replay(b, v.plain)
	}
	v.rec.batches = 0
	return v
}

// round has do called, which makes one call of the frontier and returns how many
// operations it was, until there were n; after each, the same records are put.
func (v *versus) round(b *testing.B, n int, do func() int) {
	var spent [2]time.Duration
	for done := 0; done < n; {
		start := time.Now()
		ops := do()
		between := time.Now()
		v.rec.replay(b, v.plain)
		spent[0] += between.Sub(start)
		spent[1] += time.Since(between)
		done += ops
		v.ops += ops
		v.calls++
	}
	v.ratios = append(v.ratios, spent[1].Seconds()/spent[0].Seconds())
	v.spent[0] += spent[0]
	v.spent[1] += spent[1]
}

func (v *versus) report(b *testing.B) {
	slices.Sort(v.ratios)
	b.ReportMetric(v.ratios[len(v.ratios)/2], "of-plain-put")
	b.ReportMetric(v.spent[1].Seconds()/v.spent[0].Seconds(), "of-plain-put-in-all")
	b.ReportMetric(float64(v.rec.batches)/float64(v.calls), "commits/call")
	b.ReportMetric(float64(v.ops)/v.spent[0].Seconds(), "ops/s")
}

// BenchmarkAddKnown offers links of which 90 % are known, 1,000 in a call, as
// the pages of a real crawl do: the plain store puts the records of the other
// 10 % only.
func BenchmarkAddKnown(b *testing.B) {
	const known, calls, size = 300_000, 20, 1000
	v := newVersus(b, known)
	all := linksOf(0, known, 1000)
	rng := rand.New(rand.NewPCG(1, 1))
	next := known
	for b.Loop() {
		var offers [calls][]octopus.Link
		for i := range offers {
			offers[i] = linksOf(next, size/10, 1000)
			next += size / 10
			for len(offers[i]) < size {
				offers[i] = append(offers[i], all[rng.IntN(known)])
			}
			rng.Shuffle(size, func(j, k int) { offers[i][j], offers[i][k] = offers[i][k], offers[i][j] })
		}
		v.addAll(b, offers[:])
	}
	v.report(b)
}

// BenchmarkAddFresh offers fresh links only, 1,000 in a call.
func BenchmarkAddFresh(b *testing.B) {
	const known, calls, size = 100_000, 5, 1000
	v := newVersus(b, known)
	next := known
	for b.Loop() {
		var offers [calls][]octopus.Link
		for i := range offers {
			offers[i] = linksOf(next, size, 1000)
			next += size
		}
		v.addAll(b, offers[:])
	}
	v.report(b)
}

// addAll is a round of one Add for each of the offers, which are of one size.
func (v *versus) addAll(b *testing.B, offers [][]octopus.Link) {
	size := len(offers[0])
	v.round(b, len(offers)*size, func() int {
		if _, err := v.Add(context.Background(), offers[0]); err != nil {
			b.Fatal(err)
		}
		offers = offers[1:]
		return size
	})
}

// BenchmarkLeaseDone leases up to 256 URLs at a time and ends them in one call,
// 2,560 a round.
func BenchmarkLeaseDone(b *testing.B) {
	const round, most, known = 2560, 256, 300_000
	v := newVersus(b, known)
	for b.Loop() {
		if v.Counts().Queued < known/10 {
			b.Fatal("the frontier runs dry: ask for fewer rounds")
		}
		v.round(b, round, func() int { return v.leaseAndEnd(b, most) })
	}
	v.report(b)
}

// leaseAndEnd leases up to most URLs and reports them done.
func (v *versus) leaseAndEnd(b *testing.B, most int) int {
	leases, err := v.Lease(context.Background(), most)
	if err != nil {
		b.Fatal(err)
	}
	outcomes := make([]octopus.Outcome, len(leases))
	for i, l := range leases {
		outcomes[i] = octopus.Outcome{Lease: l, Status: 200, End: time.Now(), Digest: "sha1:ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"}
	}
	if _, err := v.Done(context.Background(), outcomes); err != nil {
		b.Fatal(err)
	}
	return len(leases)
}
