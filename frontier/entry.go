package frontier

import (
	"fmt"
	"strings"

	"octopus"
)

// entry is one URL that waits: its place in the queue of its host and what a
// lease needs, so that a refill is one scan and no look-up.
type entry struct {
	pos     position
	tail    [8]byte // the part of the key after the host's
	kind    octopus.LinkKind
	hop     uint8
	relink  bool   // its next lease only reads the links of the stored page
	number  uint64 // order of first sight
	visits  uint32 // visits accepted so far
	tries   uint8  // failed attempts of the coming visit
	text    string // canonical URL
	via     string
	board   string
	method  string
	body    []byte
	etag    string
	lastMod string
}

// Flags of an encoded entry: which optional fields follow.
const (
	hasTLS = 1 << iota // the URL begins with https://
	hasWholeText
	hasVia
	hasBoard
	hasVisits
	hasTries
	hasRequest
	hasValidators
	hasRelink // no field
	hasNumber // differs from the sequence number in the position
)

// encode returns the value of the entry; its position is the key.
//
//	| flags | tail 8 | kind | hop | URL after scheme://host, or all of it |
//	| [via: bytes shared with the URL, rest] | [board] | [visits] | [tries] | [number]
//	| [method, body] | [ETag, Last-Modified] |
//
// Numbers are varints, strings carry their length.
func (e *entry) encode(w *writer, host string) {
	flags, rest := e.flags(host)
	w.uint(flags)
	w.bytes(e.tail[:])
	w.byte(byte(e.kind))
	w.byte(e.hop)
	w.string(rest)
	if flags&hasVia != 0 {
		n := sharedPrefix(e.via, e.text)
		w.uint(uint64(n))
		w.string(e.via[n:])
	}
	if flags&hasBoard != 0 {
		w.string(e.board)
	}
	if flags&hasVisits != 0 {
		w.uint(uint64(e.visits))
	}
	if flags&hasTries != 0 {
		w.byte(e.tries)
	}
	if flags&hasNumber != 0 {
		w.uint(e.number)
	}
	if flags&hasRequest != 0 {
		w.string(e.method)
		w.string(string(e.body))
	}
	if flags&hasValidators != 0 {
		w.string(e.etag)
		w.string(e.lastMod)
	}
}

// flags returns what encode must write, and the URL text it writes.
func (e *entry) flags(host string) (flags uint64, rest string) {
	rest = e.text
	if r, ok := strings.CutPrefix(rest, "http://"+host); ok {
		rest = r
	} else if r, ok := strings.CutPrefix(rest, "https://"+host); ok {
		rest, flags = r, hasTLS
	} else {
		flags = hasWholeText
	}
	for _, f := range []struct {
		bit uint64
		set bool
	}{
		{hasVia, e.via != ""}, {hasBoard, e.board != ""}, {hasVisits, e.visits != 0},
		{hasTries, e.tries != 0}, {hasRequest, e.method != "" || len(e.body) > 0},
		{hasValidators, e.etag != "" || e.lastMod != ""}, {hasRelink, e.relink}, {hasNumber, e.number != e.pos.seq()},
	} {
		if f.set {
			flags |= f.bit
		}
	}
	return flags, rest
}

// decodeEntry reads what encode wrote for a URL of host.
func decodeEntry(pos position, host string, value []byte) (*entry, error) {
	r := reader{rest: value}
	e := &entry{pos: pos}
	flags := r.uint()
	copy(e.tail[:], r.bytes(8))
	e.kind, e.hop = octopus.LinkKind(r.byte()), r.byte()
	e.text = r.string()
	if flags&hasTLS != 0 {
		e.text = "https://" + host + e.text
	} else if flags&hasWholeText == 0 {
		e.text = "http://" + host + e.text
	}
	if flags&hasVia != 0 {
		n := r.uint()
		if n > uint64(len(e.text)) {
			return nil, fmt.Errorf("queue entry of %s: %w", host, errTruncated)
		}
		e.via = e.text[:n] + r.string()
	}
	if flags&hasBoard != 0 {
		e.board = r.string()
	}
	if flags&hasVisits != 0 {
		e.visits = uint32(r.uint())
	}
	if flags&hasTries != 0 {
		e.tries = r.byte()
	}
	e.number = pos.seq()
	if flags&hasNumber != 0 {
		e.number = r.uint()
	}
	if flags&hasRequest != 0 {
		e.method = r.string()
		e.body = []byte(r.string())
	}
	if flags&hasValidators != 0 {
		e.etag, e.lastMod = r.string(), r.string()
	}
	e.relink = flags&hasRelink != 0
	if r.err != nil {
		return nil, fmt.Errorf("queue entry of %s: %w", host, r.err)
	}
	return e, nil
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
