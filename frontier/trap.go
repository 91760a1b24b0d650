package frontier

import (
	"encoding/binary"
	"fmt"
	"strings"

	"octopus"
)

// yield counts what one URL pattern of a host brought.
type yield struct {
	fetches, fresh uint32
	prints         [4]octopus.Fingerprint // of the last pages that were no near-duplicates
	next           uint8                  // of prints to be replaced
}

// near reports whether a page is nearly the same as one that the pattern brought
// before. Where it is not, it is remembered.
func (y *yield) near(p octopus.Fingerprint) bool {
	if p == (octopus.Fingerprint{}) {
		return false
	}
	for _, q := range y.prints {
		if p.Near(q) {
			return true
		}
	}
	y.prints[y.next%4] = p
	y.next++
	return false
}

// maxPatterns bounds the patterns counted of one host.
const maxPatterns = 64

// patternOf hashes the shape of a URL (FNV-1a): runs of digits count as one
// sign, and of the query only the names.
func patternOf(text string) uint64 {
	const prime = 1099511628211
	sum := uint64(14695981039346656037)
	value, digits := false, false
	for i := strings.Index(text, "://") + 3; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '?' || c == '&':
			value = false
		case c == '=':
			value = true
		case value:
			continue
		}
		if digit := c >= '0' && c <= '9'; digit && digits {
			continue
		} else if digits = digit; digit {
			c = '0'
		}
		sum = (sum ^ uint64(c)) * prime
	}
	return sum
}

// learn counts an answer for the pattern of its URL. A page that is nearly the
// same as others of the pattern is nothing new, unless the URL was visited
// before: of a page that is watched, little changes are what is wanted.
func (c *Core) learn(h *host, o *octopus.Outcome) (near bool) {
	p := patternOf(o.Lease.Link.URL.Text)
	y := h.yields[p]
	if y == nil {
		if len(h.yields) >= maxPatterns {
			return false
		}
		if h.yields == nil {
			h.yields = map[uint64]*yield{}
		}
		y = new(yield)
		h.yields[p] = y
	}
	y.fetches++
	near = o.Lease.Visit == 1 && o.Record != nil && y.near(o.Record.Fingerprint)
	if o.Status != 304 && !near && (o.Record == nil || o.Record.DuplicateOf == "") {
		y.fresh++
	}
	if y.fetches%yieldStep == 0 {
		c.buf = c.buf[:0]
		c.buf.uint(uint64(y.fetches))
		c.buf.uint(uint64(y.fresh))
		c.out.Set(c.keys.yield(h.key, p), c.buf)
	}
	return near
}

// yieldStep is the number of fetches of a pattern after which its counts are
// written: a restart loses fewer.
const yieldStep = 8

// takeYields takes up what an earlier process had counted.
func (h *host) takeYields(list []keyValue) error {
	for _, f := range list {
		r := reader{rest: f.value}
		y := &yield{fetches: uint32(r.uint()), fresh: uint32(r.uint())}
		if r.err != nil {
			return fmt.Errorf("yield record of %s: %w", h.name, r.err)
		}
		p := binary.BigEndian.Uint64(f.key[len(f.key)-8:])
		if h.yields == nil {
			h.yields = map[uint64]*yield{}
		}
		if h.yields[p] == nil {
			h.yields[p] = y
		}
	}
	return nil
}

// poor says that the pattern of a URL brings nothing new; empty where it does.
func (c *Core) poor(h *host, e *entry) string {
	if len(h.yields) == 0 || e.visits > 0 || c.opt.Traps.MinYield < 0 {
		return ""
	}
	y := h.yields[patternOf(e.text)]
	if y == nil || int(y.fetches) < c.opt.Traps.MinYield || y.fresh*20 >= y.fetches {
		return ""
	}
	return fmt.Sprintf("its pattern brought new content %d times in %d fetches", y.fresh, y.fetches)
}
