package redisseen

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus/seen"
)

// Kind says how a Set remembers.
type Kind string

const (
	Exact    Kind = "exact"    // every key, for good
	Bloom    Kind = "bloom"    // a filter, for good
	Window   Kind = "window"   // a filter for each of the last N units of time
	Expiring Kind = "expiring" // every key, for a time
)

// Options describe a set. Name is required, and what its Kind needs.
type Options struct {
	// Client is used where it is given, and not closed; else URL is dialled
	// (see redisx.Dial): redis://host:port/db, redis+cluster://host:port.
	Client redis.UniversalClient
	URL    string

	// Name begins all keys of the set.
	Name string
	// Kind defaults to Exact.
	Kind Kind

	// Capacity is the number of entries that a filter is sized for: of bloom
	// in all, of window in each window. Required for both.
	Capacity int64
	// ErrorRate is the share of new entries that may be taken for known, over
	// all windows together. Default 1e-4.
	ErrorRate float64
	// Bits and Hashes fix a filter's size and the bits an entry sets; 0 means
	// the least that meets ErrorRate. Values that miss it are refused.
	Bits   int64
	Hashes int

	// Granularity is the unit of a window; empty means a day.
	Granularity seen.Granularity
	// Windows is the number of windows that are asked, the current one
	// included. Default 7.
	Windows int
	// Zone has the calendar that windows follow. Default UTC.
	Zone *time.Location

	// Expiry is how long an entry of an expiring set lives at least. Required
	// there, at least a millisecond.
	Expiry time.Duration

	// CallerTime makes the set follow the times that its methods are told,
	// not the server's clock: for tests and simulations.
	CallerTime bool
}

// Limits of a filter.
const (
	blockBits = 1 << 32 // of a Redis string: 512 MB
	maxBlocks = 256
	maxHashes = 64
)

func (o Options) withDefaults() (Options, error) {
	if o.Kind == "" {
		o.Kind = Exact
	}
	if o.ErrorRate == 0 {
		o.ErrorRate = 1e-4
	}
	if o.Granularity == "" {
		o.Granularity = seen.Day
	}
	if o.Windows == 0 {
		o.Windows = 7
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Kind != Window {
		o.Windows = 1
	}
	return o, o.check()
}

func (o *Options) check() error {
	switch {
	case o.Name == "" || strings.ContainsAny(o.Name, "{} \r\n"):
		return fmt.Errorf("redisseen: name %q: give the set a name without spaces and braces", o.Name)
	case o.Kind != Exact && o.Kind != Bloom && o.Kind != Window && o.Kind != Expiring:
		return fmt.Errorf("redisseen: kind %q: must be exact, bloom, window or expiring", o.Kind)
	case o.Kind == Expiring && o.Expiry < time.Millisecond:
		return fmt.Errorf("redisseen: an expiring set needs its expiry, have %s", o.Expiry)
	case o.Windows < 1 || o.Windows > 1000:
		return fmt.Errorf("redisseen: %d windows: must be from 1 to 1000", o.Windows)
	case layouts[o.Granularity] == "":
		return fmt.Errorf("redisseen: granularity %q: must be hour, day or month", o.Granularity)
	}
	return nil
}

// size is the size of one window's filter.
type size struct {
	bits   int64 // of one block
	hashes int
	blocks int
	err    float64 // of a check over all windows, full
}

// plan returns the filter size that the options ask for, or why there is none.
func (o *Options) plan() (size, error) {
	if o.Kind != Bloom && o.Kind != Window {
		return size{blocks: 1}, nil
	}
	if o.Capacity < 1 {
		return size{}, fmt.Errorf("redisseen: a %s needs its capacity, the entries of one window; have %d", o.Kind, o.Capacity)
	}
	if !(o.ErrorRate >= 1e-12 && o.ErrorRate <= 0.5) {
		return size{}, fmt.Errorf("redisseen: error rate %g: must be from 1e-12 to 0.5", o.ErrorRate)
	}
	target := seen.WindowError(o.ErrorRate, o.Windows)
	best := bestHashes(target)
	need := bitsFor(o.Capacity, best, target)
	bits, hashes := o.Bits, o.Hashes
	if hashes == 0 {
		hashes = best
	}
	if hashes < 1 || hashes > maxHashes {
		return size{}, fmt.Errorf("redisseen: %d hashes: must be from 1 to %d", hashes, maxHashes)
	}
	if bits == 0 {
		bits = bitsFor(o.Capacity, hashes, target)
	}
	total := union(seen.ClassicError(float64(o.Capacity), float64(bits), hashes), o.Windows)
	if total > o.ErrorRate*1.0001 { // rounding
		return size{}, fmt.Errorf("redisseen: %d entries in each of %d windows of %d bits with %d hashes err with %.2g, asked for is %.2g: take %d bits (%d MB a window) with %d hashes, or at most %d entries",
			o.Capacity, o.Windows, bits, hashes, total, o.ErrorRate, need, need>>23+1, best, entriesFor(bits, hashes, target))
	}
	if least := (bits + blockBits - 1) / blockBits; least > maxBlocks {
		return size{}, fmt.Errorf("redisseen: %d bits need %d blocks of 512 MB, %d are possible: lower the capacity to %d, or raise the error rate",
			bits, least, maxBlocks, entriesFor(maxBlocks*blockBits, best, target))
	}
	blocks := cut(bits)
	return size{bits: (bits + blocks - 1) / blocks, hashes: hashes, blocks: int(blocks), err: total}, nil
}

// Cutting a filter into blocks.
const (
	cutMost  = 16      // blocks more than needed, plus one
	cutLeast = 1 << 16 // bytes of a block of a filter that need not be cut
	cutGood  = 1.03    // memory over what the bits take that is good enough
)

// cut returns the number of blocks for a filter. Redis' allocator has four sizes
// of memory in each doubling, so one string of any length may take a quarter
// more than it holds; a few equal ones of the right length take little more.
func cut(size int64) (blocks int64) {
	least := (size + blockBits - 1) / blockBits
	best := math.Inf(1)
	for n := least; n < min(least+cutMost, maxBlocks+1); n++ {
		bytes := ((size+n-1)/n + 7) / 8
		if n > least && bytes < cutLeast {
			break
		}
		if over := float64(n*allocated(bytes)) / (float64(size) / 8); over < best {
			best, blocks = over, n
		}
		if best <= cutGood {
			break
		}
	}
	return blocks
}

// allocated is the memory of a Redis string: its bytes, and at most 16 of a
// header, in the least of jemalloc's sizes (4, 5, 6, 7 times a power of two).
func allocated(n int64) int64 {
	n += 16
	step := int64(1) << max(bits.Len64(uint64(n-1))-3, 0)
	return (n + step - 1) / step * step
}

// bestHashes is the number of hashes that needs the fewest bits for error p.
func bestHashes(p float64) int { return min(max(1, int(math.Round(-math.Log2(p)))), maxHashes) }

// bitsFor is the least m with (1 - e^(-kn/m))^k <= p, and one per cent: so a full
// filter measures a tenth below p, not on either side of it.
func bitsFor(n int64, k int, p float64) int64 {
	return int64(math.Ceil(1.01 * (-float64(k) * float64(n) / math.Log1p(-math.Pow(p, 1/float64(k))))))
}

// entriesFor is the largest n with (1 - e^(-kn/m))^k <= p.
func entriesFor(m int64, k int, p float64) int64 {
	return int64(-float64(m) / float64(k) * math.Log1p(-math.Pow(p, 1/float64(k))))
}

// union is the error of a check that asks n windows of error p each.
func union(p float64, n int) float64 { return -math.Expm1(float64(n) * math.Log1p(-p)) }
