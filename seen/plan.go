package seen

import (
	"fmt"
	"math"
)

// ClassicError is the error rate of a plain Bloom filter of m bits with k
// hashes and n keys: (1 - e^(-kn/m))^k.
func ClassicError(n, m float64, k int) float64 {
	return math.Pow(1-math.Exp(-float64(k)*n/m), float64(k))
}

// ClassicBits returns the bits per key and the hashes of the smallest plain
// Bloom filter with error rate p: log2(e) log2(1/p), and log2(1/p).
func ClassicBits(p float64) (perKey float64, k int) {
	return math.Log2E * math.Log2(1/p), max(1, int(math.Round(math.Log2(1/p))))
}

// WindowError returns the error rate that each of n windows may have, so that
// "in any of them" errs with at most total: 1 - (1-total)^(1/n), about total/n.
func WindowError(total float64, n int) float64 {
	return -math.Expm1(math.Log1p(-total) / float64(n))
}

// lineError is the error rate of one line: keys fall on lines as Poisson events
// of mean load. A key sets two bits of one of two words in each of four pairs of
// words. Of two given bits of a word, it leaves a given one unset with 63/64, and
// both with half of 1 + (62*61)/(64*63) = 3907/4032; j keys do with the power j.
func lineError(load float64) float64 {
	p, one, both, sum := math.Exp(-load), 1.0, 1.0, 0.0
	if p == 0 { // a load beyond any use
		return 1
	}
	for j := 1.0; j < load+20*math.Sqrt(load)+40; j++ {
		p *= load / j
		one *= 63.0 / 64
		both *= 3907.0 / 4032
		set := 1 - 2*one + both
		sum += p * set * set * set * set // in all four pairs
	}
	return sum
}

// err returns the error rate of a layout at so many bits per key, the uneven
// load of the lines included.
func (l layout) err(bitsPerKey float64) float64 {
	load := 8 * lineBytes / bitsPerKey
	if l == split8 {
		return lineError(load)
	}
	p := lineError(2 * load)
	return p * p
}

// bits returns the bits per key that a layout needs for error rate p.
func (l layout) bits(p float64) float64 {
	lo, hi := 1.0, 512.0
	for range 40 {
		if mid := (lo + hi) / 2; l.err(mid) > p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// String returns the layout's name.
func (l layout) String() string {
	if l == split8 {
		return "split8"
	}
	return "twoline16"
}

// pick returns the better layout for error rate p. One line is one cache miss,
// so it may cost a tenth more memory.
func pick(p float64) (layout, float64) {
	one, two := split8.bits(p), twoLine16.bits(p)
	if one <= 1.1*two {
		return split8, one
	}
	return twoLine16, two
}

// Plan is the size of a filter.
type Plan struct {
	Capacity   int64   // keys of one window
	Windows    int     // 1 where there are none
	Layout     string  // split8 or twoline16; classic where bits and k were given
	Hashes     int     // bits a key sets
	BitsPerKey float64 // per window
	Bits       int64   // per window
	Bytes      int64   // of all windows
	Blocks     int     // 512 MB Redis strings per window
	ErrorRate  float64 // the true one, of a check that asks all windows
}

// redisBlock is the largest Redis string, 512 MB, in bits.
const redisBlock = 1 << 32

// maxBlocks is how many blocks a filter may have.
const maxBlocks = 256

// PlanFor sizes the filter of capacity keys in each of so many windows, that
// takes a new key for known with at most errorRate.
func PlanFor(capacity int64, windows int, errorRate float64) (Plan, error) {
	if capacity < 1 || windows < 1 {
		return Plan{}, fmt.Errorf("capacity %d in %d windows: both must be at least 1", capacity, windows)
	}
	if !(errorRate >= 1e-12 && errorRate <= 0.5) {
		return Plan{}, fmt.Errorf("error rate %g: must be from 1e-12 to 0.5", errorRate)
	}
	l, perKey := pick(WindowError(errorRate, windows))
	lines := linesFor(capacity, perKey)
	bitsPerKey := float64(lines) * 8 * lineBytes / float64(capacity)
	p := Plan{
		Capacity: capacity, Windows: windows, Layout: l.String(), Hashes: 8 * int(l), BitsPerKey: bitsPerKey,
		Bits: int64(lines) * 8 * lineBytes, ErrorRate: UnionError(l.err(bitsPerKey), windows),
	}
	return p.finish()
}

// PlanClassic tells what a plain filter of m bits with k hashes does to
// capacity keys in each of so many windows.
func PlanClassic(capacity, m int64, k, windows int) (Plan, error) {
	if capacity < 1 || m < 1 || k < 1 || windows < 1 {
		return Plan{}, fmt.Errorf("capacity %d, %d bits, %d hashes, %d windows: all must be at least 1", capacity, m, k, windows)
	}
	p := Plan{
		Capacity: capacity, Windows: windows, Layout: "classic", Hashes: k, BitsPerKey: float64(m) / float64(capacity),
		Bits: m, ErrorRate: UnionError(ClassicError(float64(capacity), float64(m), k), windows),
	}
	return p.finish()
}

// union is the error rate of a check that asks n windows of error p each.
func UnionError(p float64, n int) float64 { return -math.Expm1(float64(n) * math.Log1p(-p)) }

func (p Plan) finish() (Plan, error) {
	p.Bytes = (p.Bits + 7) / 8 * int64(p.Windows)
	blocks := (p.Bits + redisBlock - 1) / redisBlock
	if blocks > maxBlocks {
		return p, fmt.Errorf("%d keys at %.1f bits need %d blocks of 512 MB, %d are possible: lower the capacity to %d, or raise the error rate",
			p.Capacity, p.BitsPerKey, blocks, maxBlocks, int64(float64(maxBlocks)*redisBlock/p.BitsPerKey))
	}
	p.Blocks = int(blocks)
	return p, nil
}

// linesFor returns the lines of a filter of so many keys.
func linesFor(capacity int64, bitsPerKey float64) uint64 {
	return max(1, uint64(math.Ceil(float64(capacity)*bitsPerKey/(8*lineBytes))))
}
