package board

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"octopus"
	"octopus/kv"
)

// Classes remembers what the pages of a board turned out to be, by the shape of
// their URLs: most sites write the URLs of their articles alike. All methods may
// be called by many goroutines at once. It holds at most maxShapes shapes, about
// 150 bytes each; past that one of the others is forgotten for each new one.
//
// In a store it keeps what it learned, a shape each time its count has doubled;
// a crash costs what came since.
//
//	+--------+-------+------+-------+
//	| prefix | board | 0x00 | shape |  ->  | nav uvarint | data uvarint |
//	+--------+-------+------+-------+
type Classes struct {
	store  kv.Store
	prefix string

	mu     sync.Mutex
	shapes map[string]met // guarded by mu; by board, zero byte, shape
}

// met counts the pages of a shape by what they turned out to be.
type met [2]uint32

const (
	maxShapes  = 20_000
	leastSeen  = 8    // pages of a shape from which on it says anything
	manySeen   = 1000 // pages at which the counts are halved, so that a site may change
	oddOnesOut = 10   // one page in so many may be of the other class
)

// LoadClasses reads what an earlier Classes kept in the store under keys that
// begin with prefix.
func LoadClasses(store kv.Store, prefix string) (*Classes, error) {
	c := &Classes{store: store, prefix: prefix, shapes: map[string]met{}}
	lo := []byte(prefix)
	hi := append([]byte(prefix), 0xff)
	err := store.Scan(lo, hi, func(key, value []byte) error {
		nav, n := binary.Uvarint(value)
		if n <= 0 {
			return fmt.Errorf("class of %q: value is damaged", key)
		}
		data, m := binary.Uvarint(value[n:])
		if m <= 0 {
			return fmt.Errorf("class of %q: value is damaged", key)
		}
		if len(c.shapes) == maxShapes {
			return kv.ErrStop
		}
		c.shapes[string(key[len(lo):])] = met{uint32(nav), uint32(data)}
		return nil
	})
	return c, err
}

// Learn notes that a page of a board turned out to be of a lane.
func (c *Classes) Learn(board string, u octopus.URL, lane octopus.Lane) error {
	key := board + "\x00" + Shape(u)
	c.mu.Lock()
	s, known := c.shapes[key]
	if !known && len(c.shapes) >= maxShapes {
		for other := range c.shapes {
			delete(c.shapes, other)
			break
		}
	}
	s[lane]++
	total := s[0] + s[1]
	if total >= manySeen {
		s[0], s[1] = s[0]/2, s[1]/2
	}
	c.shapes[key] = s
	c.mu.Unlock()
	if total&(total-1) != 0 && total < manySeen {
		return nil
	}
	var b kv.Batch
	b.Set([]byte(c.prefix+key), binary.AppendUvarint(binary.AppendUvarint(nil, uint64(s[0])), uint64(s[1])))
	return c.store.Apply(&b, kv.NoSync)
}

// Lane tells what a page of a board will turn out to be, and why; ok is false
// where too little was seen, or both.
func (c *Classes) Lane(board string, u octopus.URL) (lane octopus.Lane, why string, ok bool) {
	c.mu.Lock()
	empty := len(c.shapes) == 0 // as in a crawl without boards
	c.mu.Unlock()
	if empty {
		return lane, "", false
	}
	shape := Shape(u)
	c.mu.Lock()
	s := c.shapes[board+"\x00"+shape]
	c.mu.Unlock()
	if s[octopus.Data] > s[octopus.Nav] {
		lane = octopus.Data
	}
	total := s[0] + s[1]
	if total < leastSeen || (total-s[lane])*oddOnesOut > total {
		return lane, "", false
	}
	return lane, fmt.Sprintf("learned: %d of %d pages like %s were %s", s[lane], total, shape, lane), true
}

// Shape returns a URL with everything that tells one page from its like taken
// out: example.com/2024/05/06/of-this.html becomes example.com/#/#/#/*.html.
// Segments without digits or dashes stay, and of a query the names. Nothing of
// the host but its name stays.
func Shape(u octopus.URL) string {
	text := schemeless(u.Text)
	text, query, _ := strings.Cut(text, "?")
	_, path, _ := strings.Cut(text, "/")
	var b strings.Builder
	b.WriteString(u.Host)
	for segment := range strings.SplitSeq(path, "/") {
		b.WriteByte('/')
		b.WriteString(shapeOf(segment))
	}
	for i, pair := range strings.Split(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name == "" {
			continue
		}
		sign := byte('&')
		if i == 0 {
			sign = '?'
		}
		b.WriteByte(sign)
		b.WriteString(name)
	}
	return b.String()
}

// shapeOf returns the shape of one segment: "#" for a number, "*" for what has
// digits, dashes or bytes that are no ASCII letters, or is long; its ending
// stays.
func shapeOf(segment string) string {
	ending := ""
	if i := strings.LastIndexByte(segment, '.'); i > 0 && len(segment)-i <= 6 && plain(segment[i+1:]) {
		segment, ending = segment[:i], segment[i:]
	}
	switch {
	case segment == "" || plain(segment) && len(segment) <= 20:
		return segment + ending
	case strings.Trim(segment, "0123456789") == "":
		return "#" + ending
	}
	return "*" + ending
}

// plain reports whether s consists of ASCII letters.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}
