package frontier

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"time"

	"octopus"
	"octopus/robots"
)

// sampleRecord has every field set.
func sampleRecord() *record {
	at := time.UnixMilli(1_900_000_000_000)
	link := octopus.Link{Depth: 300, Lane: octopus.Data, Precedence: 3, Weight: 500}
	return &record{
		state: stateParked, pos: newPosition(&link, 7, 1<<40), hop: 4, number: 99, visits: 12, links: 300, tries: 2, relink: true,
		due: at.Add(time.Hour), reason: "robots", detail: "line 3", text: "https://a.com/x", via: "https://a.com/", board: "news",
		kind: octopus.Anchor,
		last: visit{at: at, status: 200, digest: "sha1:X", etag: "e", lastMod: "l", title: "t", size: 5, changed: at, period: time.Hour},
	}
}

func sampleEntry() *entry {
	r := sampleRecord()
	return &entry{
		pos: r.pos, tail: [8]byte{1, 2, 3}, kind: octopus.Redirect, hop: 1, number: 99, relink: true, visits: 12, tries: 2,
		text: "https://a.com:8443/x?y", via: "https://a.com/", board: "news", method: "POST", body: []byte("q"), etag: "e", lastMod: "l",
	}
}

// TestRoundTrip: what is written is read back, with every optional field and
// with none.
func TestRoundTrip(t *testing.T) {
	for _, r := range []*record{sampleRecord(), {state: stateQueued, pos: newPosition(&octopus.Link{}, 0, 5), number: 5}} {
		var w writer
		r.encode(&w)
		if got, err := decodeRecord(w); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("record\n%+v\n%+v, %v", r, got, err)
		}
	}
	plain := &entry{pos: newPosition(&octopus.Link{}, 0, 5), number: 5, kind: octopus.Entry, text: "http://a.com/"}
	for _, e := range []*entry{sampleEntry(), plain} {
		var w writer
		e.encode(&w, "a.com")
		if got, err := decodeEntry(e.pos, "a.com", w); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("entry\n%+v\n%+v, %v", e, got, err)
		}
	}
	p := robots.Policy{Mode: robots.Rules, Text: []byte("x"), Fetched: time.UnixMilli(5), Next: time.UnixMilli(9), Failures: 2}
	if got, err := decodePolicy(encodePolicy(&p)); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("policy %+v, %v", got, err)
	}
}

// TestPositionOrder: the order of the bytes is the order of dispatch.
func TestPositionOrder(t *testing.T) {
	at := func(prec uint8, depth int, weight uint16, seq uint64) position {
		return newPosition(&octopus.Link{Precedence: prec, Depth: depth, Weight: weight}, 0, seq)
	}
	order := []position{at(0, 9, 0, 9), at(1, 0, 7, 9), at(1, 0, 6, 1), at(1, 0, 6, 256), at(1, 1, 9, 0), at(1, 300, 9, 0), at(1, 70000, 9, 0)}
	for i := 1; i < len(order); i++ {
		if order[i-1].compare(order[i]) >= 0 {
			t.Errorf("position %d does not stand before %d", i-1, i)
		}
	}
	if p := order[3]; p.seq() != 256 || p.weight() != 6 || p.precedence() != 1 || order[6].depth() != 65535 {
		t.Errorf("fields of %x", p)
	}
}

// FuzzDecode: damaged values give an error or a value, and no panic; what was
// read is written as something that reads the same.
func FuzzDecode(f *testing.F) {
	var w writer
	sampleRecord().encode(&w)
	f.Add([]byte(w))
	w = nil
	sampleEntry().encode(&w, "a.com")
	f.Add([]byte(w))
	h := host{name: "www.a.com", site: &group{name: "a.com"}}
	w = nil
	h.encode(&w)
	f.Add([]byte(w))
	f.Fuzz(func(t *testing.T, value []byte) {
		if r, err := decodeRecord(value); err == nil {
			var first, second writer
			r.encode(&first)
			again, err := decodeRecord(first)
			if err != nil {
				t.Fatalf("record %+v cannot be read back: %v", r, err)
			}
			if again.encode(&second); !bytes.Equal(first, second) {
				t.Errorf("record %+v reads as %+v", r, again)
			}
		}
		if e, err := decodeEntry(position{}, "a.com", value); err == nil {
			var first, second writer
			e.encode(&first, "a.com")
			again, err := decodeEntry(position{}, "a.com", first)
			if err != nil {
				t.Fatalf("entry %+v cannot be read back: %v", e, err)
			}
			if again.encode(&second, "a.com"); !bytes.Equal(first, second) {
				t.Errorf("entry %+v reads as %+v", e, again)
			}
		}
		decodeHost(octopus.HostKey{}, value)
		decodePolicy(value)
		if list, err := decodeTallies(value); err == nil {
			var first writer
			encodeTallies(&first, list)
			if again, err := decodeTallies(first); err != nil || !slices.Equal(list, again) {
				t.Errorf("links %v read as %v, %v", list, again, err)
			}
		}
		decodeDue("a.com", value)
		new(totals).decode(value)
	})
}
