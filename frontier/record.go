package frontier

import (
	"fmt"
	"time"

	"octopus"
)

// state of a URL, as its record keeps it. A lease is no state on disk: a URL
// stays queued until its outcome.
type state uint8

const (
	stateQueued state = iota + 1 // in the queue of its host
	stateLater                   // in the due table, for a retry or a refresh
	stateDone                    // visited, nothing due
	stateParked                  // kept aside with a reason
	stateFailed                  // no attempt left; in the bad table
)

var stateNames = [...]string{"unknown", "queued", "later", "done", "parked", "failed"}

func (s state) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// record is what the frontier knows of one URL. While a URL waits for its first
// visit the record holds its place only: the queue entry has the text.
type record struct {
	state  state
	pos    position // place in the queue; of other states the one it had
	hop    uint8
	number uint64 // order of first sight
	visits uint32 // visits accepted
	links  uint32 // links to it that were met until the last visit; for later ones see links.go
	tries  uint8  // failed attempts of the coming visit
	relink bool   // the coming visit only reads the links of the stored page
	due    time.Time

	reason string // of parked and failed
	detail string // the robots line, the error
	text   string // canonical URL; empty while queued for the first time
	via    string
	board  string
	kind   octopus.LinkKind

	last visit
}

// visit is what the last accepted outcome said.
type visit struct {
	at      time.Time // end of the response
	status  int
	digest  string
	etag    string
	lastMod string
	title   string
	size    int64
	print   octopus.Fingerprint
	class   string // why the page is of its lane; empty where its board does not tell
	rich    rich
	changed time.Time     // when the content was last seen to change
	period  time.Duration // present refresh period; 0 where none
}

// cost orders the ways a URL was met: by depth, then by redirects followed. A
// smaller one moves the URL up.
func (r *record) cost() cost { return costOf(r.pos.depth(), int(r.hop)) }

// cost is a depth (12 bits, deeper ones share the last value) and a hop (4 bits).
type cost uint16

func costOf(depth, hop int) cost {
	return cost(min(max(depth, 0), 0xfff)<<4 | min(max(hop, 0), 0xf))
}

// recordVersion is the upper half of a record's first byte.
const recordVersion = 1

// Flags of an encoded record: which optional fields follow.
const (
	recPlace = 1 << iota // precedence, generation, weight differ from zero
	recHop
	recVisits
	recNumber // differs from the sequence number in the position
	recDue
	recReason
	recText
	recLast
	recData   // lane
	recRelink // no field
	recTries
	recLinks
	recPrint
	recClass
	recRich
)

// encode returns the record's value.
//
//	| version<<4 + state | flags | depth | seq | [generation, precedence, weight]
//	| [hop] | [visits] | [tries] | [number] | [links] | [due] | [reason, detail]
//	| [kind, URL, via, board] | [last visit] | [fingerprint] | [class]
//	| [what the page said of itself] |
func (r *record) encode(w *writer) {
	flags := r.flags()
	w.byte(recordVersion<<4 | byte(r.state))
	w.uint(flags)
	w.uint(uint64(r.pos.depth()))
	w.uint(r.pos.seq())
	if flags&recPlace != 0 {
		w.uint(uint64(r.pos.generation()))
		w.byte(r.pos.precedence())
		w.uint(uint64(r.pos.weight()))
	}
	if flags&recHop != 0 {
		w.byte(r.hop)
	}
	if flags&recVisits != 0 {
		w.uint(uint64(r.visits))
	}
	if flags&recTries != 0 {
		w.byte(r.tries)
	}
	if flags&recNumber != 0 {
		w.uint(r.number)
	}
	if flags&recLinks != 0 {
		w.uint(uint64(r.links))
	}
	if flags&recDue != 0 {
		w.time(r.due)
	}
	if flags&recReason != 0 {
		w.string(r.reason)
		w.string(r.detail)
	}
	if flags&recText != 0 {
		w.byte(byte(r.kind))
		w.string(r.text)
		n := sharedPrefix(r.via, r.text)
		w.uint(uint64(n))
		w.string(r.via[n:])
		w.string(r.board)
	}
	if flags&recLast != 0 {
		r.last.encode(w)
	}
	if flags&recPrint != 0 {
		w.uint(r.last.print.Text)
		w.uint(r.last.print.Links)
	}
	if flags&recClass != 0 {
		w.string(r.last.class)
	}
	if flags&recRich != 0 {
		r.last.rich.encode(w)
	}
}

func (r *record) flags() (flags uint64) {
	for _, f := range []struct {
		bit uint64
		set bool
	}{
		{recPlace, r.pos.generation() != 0 || r.pos.precedence() != 0 || r.pos.weight() != 0},
		{recHop, r.hop != 0}, {recVisits, r.visits != 0}, {recNumber, r.number != r.pos.seq()},
		{recDue, !r.due.IsZero()}, {recReason, r.reason != ""}, {recText, r.text != ""},
		{recLast, !r.last.at.IsZero()}, {recData, r.pos.lane() == octopus.Data},
		{recRelink, r.relink}, {recTries, r.tries != 0}, {recLinks, r.links != 0}, {recPrint, r.last.print != octopus.Fingerprint{}},
		{recClass, r.last.class != ""},
		{recRich, r.last.rich != rich{}},
	} {
		if f.set {
			flags |= f.bit
		}
	}
	return flags
}

func (v *visit) encode(w *writer) {
	w.time(v.at)
	w.uint(uint64(v.status))
	w.string(v.digest)
	w.string(v.etag)
	w.string(v.lastMod)
	w.string(v.title)
	w.count(v.size)
	w.time(v.changed)
	w.uint(uint64(v.period / time.Second))
}

func (v *visit) decode(r *reader) {
	v.at = r.time()
	v.status = int(r.uint())
	v.digest, v.etag, v.lastMod, v.title = r.string(), r.string(), r.string(), r.string()
	v.size = r.count()
	v.changed = r.time()
	v.period = time.Duration(r.uint()) * time.Second
}

// decodeRecord reads what encode wrote.
func decodeRecord(value []byte) (*record, error) {
	in := reader{rest: value}
	head := in.byte()
	if in.err == nil && head>>4 != recordVersion {
		return nil, fmt.Errorf("URL record of version %d: this program reads version %d; use the program that wrote it, or start afresh", head>>4, recordVersion)
	}
	r := &record{state: state(head & 0xf)}
	flags := in.uint()
	link := octopus.Link{Depth: int(in.uint())}
	seq := in.uint()
	if flags&recData != 0 {
		link.Lane = octopus.Data
	}
	var generation uint16
	if flags&recPlace != 0 {
		generation = uint16(in.uint())
		link.Precedence = in.byte()
		link.Weight = uint16(in.uint())
	}
	r.pos = newPosition(&link, generation, seq)
	r.number = seq
	if flags&recHop != 0 {
		r.hop = in.byte()
	}
	if flags&recVisits != 0 {
		r.visits = uint32(in.uint())
	}
	if flags&recTries != 0 {
		r.tries = in.byte()
	}
	r.relink = flags&recRelink != 0
	if flags&recNumber != 0 {
		r.number = in.uint()
	}
	if flags&recLinks != 0 {
		r.links = uint32(in.uint())
	}
	if flags&recDue != 0 {
		r.due = in.time()
	}
	if flags&recReason != 0 {
		r.reason, r.detail = in.string(), in.string()
	}
	if flags&recText != 0 {
		r.decodeText(&in)
	}
	if flags&recLast != 0 {
		r.last.decode(&in)
	}
	if flags&recPrint != 0 {
		r.last.print = octopus.Fingerprint{Text: in.uint(), Links: in.uint()}
	}
	if flags&recClass != 0 {
		r.last.class = in.string()
	}
	if flags&recRich != 0 {
		r.last.rich.decode(&in)
	}
	if in.err != nil {
		return nil, fmt.Errorf("URL record: %w", in.err)
	}
	return r, nil
}

func (r *record) decodeText(in *reader) {
	r.kind = octopus.LinkKind(in.byte())
	r.text = in.string()
	n := in.uint()
	if n > uint64(len(r.text)) {
		in.err = errTruncated
		return
	}
	r.via = r.text[:n] + in.string()
	r.board = in.string()
}
