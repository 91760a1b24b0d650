package frontier

import (
	"bytes"
	"encoding/binary"
	"time"

	"octopus"
)

// The tables of a job, one byte after its number. They are no printable
// letters, so that names of other packages in the same store cannot fall among
// them.
const (
	tableURL    = 0x01 // key -> record
	tableQueue  = 0x02 // host, position -> entry
	tableHost   = 0x03 // host -> hostRecord
	tableDue    = 0x04 // time, key -> position and entry
	tableParked = 0x05 // key -> reason and entry
	tableBad    = 0x06 // key -> reason, attempts, time
	tableStats  = 0x07 // name -> totals
	tableRobots = 0x08 // host, scheme, port -> robotsRecord
	tableSite   = 0x09 // site -> siteRecord
	tableYield  = 0x0a // host, pattern -> fetches, fresh
	tableLinks  = 0x0b // shard of the index -> links to its URLs that no record has
	tableAlias  = 0x0c // host -> name of the host that stands for it
)

// position orders the queue of one host. As bytes:
//
//	0      1            3            4       6          8        14
//	| lane | generation | precedence | depth | ^weight  | seq    |
//
// big endian, so that the order of the bytes is the order of dispatch: smaller
// precedence, then smaller depth, then larger weight, then first come.
type position [14]byte

func newPosition(l *octopus.Link, generation uint16, seq uint64) position {
	var p position
	p[0] = byte(l.Lane)
	binary.BigEndian.PutUint16(p[1:], generation)
	p[3] = l.Precedence
	binary.BigEndian.PutUint16(p[4:], clampDepth(l.Depth))
	binary.BigEndian.PutUint16(p[6:], ^l.Weight)
	return p.withSeq(seq)
}

// clampDepth maps a depth to 16 bits; deeper URLs share the last place.
func clampDepth(depth int) uint16 { return uint16(min(max(depth, 0), 0xffff)) }

func (p position) lane() octopus.Lane     { return octopus.Lane(p[0]) }
func (p position) generation() uint16     { return binary.BigEndian.Uint16(p[1:]) }
func (p position) precedence() uint8      { return p[3] }
func (p position) depth() int             { return int(binary.BigEndian.Uint16(p[4:])) }
func (p position) weight() uint16         { return ^binary.BigEndian.Uint16(p[6:]) }
func (p position) compare(q position) int { return bytes.Compare(p[:], q[:]) }
func (p position) withDepth(d int) position {
	binary.BigEndian.PutUint16(p[4:], clampDepth(d))
	return p
}

func (p position) withWeight(w uint16) position {
	binary.BigEndian.PutUint16(p[6:], ^w)
	return p
}

func (p position) withSeq(seq uint64) position {
	for i := range 6 {
		p[8+i] = byte(seq >> (8 * (5 - i)))
	}
	return p
}

func (p position) withGeneration(g uint16) position {
	binary.BigEndian.PutUint16(p[1:], g)
	return p
}

func (p position) seq() uint64 {
	var s uint64
	for _, b := range p[8:] {
		s = s<<8 | uint64(b)
	}
	return s
}

// keyspace builds the keys of one job. With a scratch buffer each key is valid
// until the next one is built; without, it is the caller's.
type keyspace struct {
	job     [4]byte
	scratch []byte
}

func newKeyspace(job uint32) keyspace {
	var k keyspace
	binary.BigEndian.PutUint32(k.job[:], job)
	return k
}

func (k keyspace) table(t byte, parts ...[]byte) []byte {
	b := k.scratch[:0]
	if b == nil {
		b = make([]byte, 0, 32)
	}
	b = append(append(b, k.job[:]...), t)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func (k keyspace) url(key octopus.Key) []byte     { return k.table(tableURL, key[:]) }
func (k keyspace) host(h octopus.HostKey) []byte  { return k.table(tableHost, h[:]) }
func (k keyspace) parked(key octopus.Key) []byte  { return k.table(tableParked, key[:]) }
func (k keyspace) bad(key octopus.Key) []byte     { return k.table(tableBad, key[:]) }
func (k keyspace) alias(h octopus.HostKey) []byte { return k.table(tableAlias, h[:]) }
func (k keyspace) site(s [4]byte) []byte          { return k.table(tableSite, s[:]) }
func (k keyspace) stats(name string) []byte       { return k.table(tableStats, []byte(name)) }
func (k keyspace) yield(h octopus.HostKey, pattern uint64) []byte {
	return k.table(tableYield, h[:], binary.BigEndian.AppendUint64(nil, pattern))
}

func (k keyspace) robots(h octopus.HostKey, a authority) []byte {
	return k.table(tableRobots, h[:], a.bytes())
}

func (k keyspace) queue(h octopus.HostKey, p position) []byte {
	return k.table(tableQueue, h[:], p[:])
}

// queuePosition returns the position of a key of the queue table.
func queuePosition(key []byte) position { return position(key[len(key)-len(position{}):]) }

func (k keyspace) due(at time.Time, key octopus.Key) []byte {
	var t [8]byte
	binary.BigEndian.PutUint64(t[:], uint64(at.UnixMilli()))
	return k.table(tableDue, t[:], key[:])
}

// dueTime returns the time and the URL of a key of the due table.
func dueTime(key []byte) (time.Time, octopus.Key) {
	key = key[5:]
	return time.UnixMilli(int64(binary.BigEndian.Uint64(key))), octopus.Key(key[8:])
}

// after returns the smallest key greater than every key with the prefix.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
