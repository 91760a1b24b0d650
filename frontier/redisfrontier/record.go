package redisfrontier

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"octopus"
)

// States of a URL.
const (
	stateQueued = 'q'
	stateLeased = 'L'
	stateLater  = 'l'
	stateDone   = 'd'
	stateAgain  = 'r' // visited, and due again at a time
	stateParked = 'p'
	stateFailed = 'f'
)

var stateNames = map[byte]string{
	stateQueued: "queued", stateLeased: "leased", stateLater: "queued",
	stateDone: "done", stateAgain: "queued", stateParked: "parked", stateFailed: "failed",
}

// Flags of a record; the scripts know them too.
const (
	flagRelink = 1 << iota // the coming visit only reads the links of the stored page
	flagFreed              // leased, but its request ended
	flagLinks              // the last visit brought something that links
)

// record is what is known of one URL.
type record struct {
	state  byte
	flags  byte
	tries  uint8
	hop    uint8
	visits uint32
	lease  octopus.LeaseID // the last one
	pos    position
	link   linkPart

	reason, detail string // of parked and failed
	last           visit
}

// position orders the queue of a host: data before navigation, then precedence,
// depth, weight (larger first), sequence number.
//
//	0      1            2       4         6     14
//	| lane | precedence | depth | ^weight | seq |
type position [14]byte

func newPosition(l *octopus.Link) (p position) {
	if l.Lane == octopus.Nav {
		p[0] = 1
	}
	p[1] = l.Precedence
	binary.BigEndian.PutUint16(p[2:], clampDepth(l.Depth))
	binary.BigEndian.PutUint16(p[4:], ^l.Weight)
	return p
}

func clampDepth(d int) uint16 { return uint16(min(max(d, 0), 0xffff)) }

func (p *position) lane() octopus.Lane {
	if p[0] == 0 {
		return octopus.Data
	}
	return octopus.Nav
}

func (p *position) setLane(l octopus.Lane) { p[0] = byte(1 - l) }
func (p *position) depth() int             { return int(binary.BigEndian.Uint16(p[2:])) }
func (p *position) weight() uint16         { return ^binary.BigEndian.Uint16(p[4:]) }

// linkPart is what a record keeps of the link the URL was met by.
type linkPart struct {
	text, via, board, method string
	kind                     octopus.LinkKind
	body                     []byte
}

func partOf(l *octopus.Link) linkPart {
	return linkPart{text: l.URL.Text, via: l.Via, board: l.Board, method: l.Method, kind: l.Kind, body: l.Body}
}

// encode returns | length of authority | authority | kind | URL | shared, via |
// board | method | body |. Scripts read the authority.
func (l *linkPart) encode() []byte {
	var w writer
	auth := authorityOf(l.text)
	w.byte(byte(len(auth)))
	w = append(w, auth...)
	w.byte(byte(l.kind))
	w.string(l.text)
	n := sharedPrefix(l.via, l.text)
	w.uint(uint64(n))
	w.string(l.via[n:])
	w.string(l.board)
	w.string(l.method)
	w.string(string(l.body))
	return w
}

func (l *linkPart) decode(text string) error {
	r := reader{rest: text}
	r.take(uint64(r.byte()))
	l.kind = octopus.LinkKind(r.byte())
	l.text = r.string()
	n := r.uint()
	if n > uint64(len(l.text)) {
		return errDamaged
	}
	l.via = l.text[:n] + r.string()
	l.board, l.method = r.string(), r.string()
	if body := r.string(); body != "" {
		l.body = []byte(body)
	}
	return r.err
}

func sharedPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// authorityOf returns what a robots.txt speaks for, within a host: 'h' or 's'
// for the scheme, then the port where the URL has one.
func authorityOf(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	auth := "h"
	if scheme == "https" {
		auth = "s"
	}
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
		auth += rest[i+1:]
	}
	return auth[:min(len(auth), 6)] // a port has five digits
}

// visit is what the last accepted outcome said.
type visit struct {
	at            time.Time // end of the response
	status        int
	digest        string
	etag, lastMod string
	period        time.Duration // whole seconds until the next one; 0 for none
}

// tail encodes what follows the link.
func (r *record) tail() []byte {
	var w writer
	w.string(r.reason)
	w.string(r.detail)
	w.time(r.last.at)
	w.uint(uint64(r.last.status))
	w.string(r.last.digest)
	w.string(r.last.etag)
	w.string(r.last.lastMod)
	w.uint(uint64(r.last.period / time.Second))
	return w
}

const headerLen = 30

func (r *record) encode() []byte {
	b := []byte{r.state, r.flags, r.tries, r.hop}
	b = binary.BigEndian.AppendUint32(b, r.visits)
	b = binary.BigEndian.AppendUint64(b, uint64(r.lease))
	b = append(b, r.pos[:]...)
	link := r.link.encode()
	b = binary.BigEndian.AppendUint16(b, uint16(len(link)))
	return append(append(b, link...), r.tail()...)
}

func decodeRecord(text string) (*record, error) {
	r := &record{}
	in := reader{rest: text}
	head := in.take(headerLen + 2)
	if in.err != nil {
		return nil, fmt.Errorf("URL record: %w", in.err)
	}
	r.state, r.flags, r.tries, r.hop = head[0], head[1], head[2], head[3]
	r.visits = binary.BigEndian.Uint32([]byte(head[4:8]))
	r.lease = octopus.LeaseID(binary.BigEndian.Uint64([]byte(head[8:16])))
	copy(r.pos[:], head[16:30])
	link := in.take(uint64(binary.BigEndian.Uint16([]byte(head[30:32]))))
	r.reason, r.detail = in.string(), in.string()
	r.last.at = in.time()
	r.last.status = int(in.uint())
	r.last.digest, r.last.etag, r.last.lastMod = in.string(), in.string(), in.string()
	r.last.period = time.Duration(min(in.uint(), math.MaxInt32)) * time.Second
	if in.err == nil {
		in.err = r.link.decode(link)
	}
	if in.err != nil {
		return nil, fmt.Errorf("URL record: %w", in.err)
	}
	return r, nil
}

// asLink returns the link the URL was met by.
func (r *record) asLink(u octopus.URL) octopus.Link {
	return octopus.Link{
		URL: u, Via: r.link.via, Kind: r.link.kind, Depth: r.pos.depth(), Hop: int(r.hop),
		Lane: r.pos.lane(), Precedence: r.pos[1], Weight: r.pos.weight(),
		Method: r.link.method, Body: r.link.body, Board: r.link.board,
	}
}

// cost orders the ways a URL was met: by depth, then by redirects followed.
func cost(depth, hop int) int { return min(max(depth, 0), 4095)*16 + min(max(hop, 0), 15) }
