package warc

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
)

// A record whose body is compressed already has a few hundred bytes left that are
// worth compressing: the heads of WARC and HTTP. What a general compressor spends
// on so little is mostly the making of a Huffman code. So it is made once here,
// from a head as they all look, and every record begins with the same description
// of it. Format: RFC 1951.

// sampleHead is what the codes are made from. Other printable bytes get long
// ones, and what is not ASCII none: such a head is left to the compressor.
const sampleHead = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0f1e2d3c-4b5a-4697-8879-a0b1c2d3e4f5>\r\n" +
	"WARC-Date: 2026-11-20T22:25:58.123Z\r\nWARC-Target-URI: https://www.example.com/images/some-path/page-1234567890.html\r\n" +
	"WARC-IP-Address: 192.0.2.34\r\nWARC-Payload-Digest: sha1:ABCDEFGHIJKLMNOPQRSTUVWXYZ234567\r\n" +
	"Content-Type: application/http;msgtype=response\r\nContent-Length: 2700\r\n\r\n" +
	"HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Type: image/jpeg\r\nDate: Wed, 01 Jul 2026 12:00:00 GMT\r\n" +
	"Etag: \"5f8d0e1a-9c3b7\"\r\nLast-Modified: Tue, 30 Jun 2026 08:15:47 GMT\r\nServer: nginx\r\nContent-Length: 2500\r\n\r\n"

// maxHead bounds what headCode compresses: it looks for matches everywhere before.
const maxHead = 8 << 10

// Symbols of deflate.
const (
	endOfBlock = 256
	lengths    = 286 // symbols of the first code: literals, end of block, lengths of matches
	distances  = 30
)

// headCode is a pair of Huffman codes and a description of them.
type headCode struct {
	literal  [lengths]symbol
	distance [distances]symbol
	begin    bitWriter // type of the block and both codes
}

// symbol is what stands for one: so many bits, the first lowest.
type symbol struct{ bits, n uint16 }

// theHeadCode makes the codes at their first use.
var theHeadCode = sync.OnceValue(func() *headCode {
	literals, matched := make([]int, lengths), make([]int, distances)
	for i := range literals {
		if i >= ' ' && i < 0x7f || i >= endOfBlock || i == '\t' {
			literals[i] = 1
		}
	}
	for i := range matched {
		matched[i] = 1
	}
	rest := sampleHead
	for _, m := range matches(nil, []byte(sampleHead)) {
		for _, b := range []byte(rest[:m.literals]) {
			literals[b] += 4
		}
		rest = rest[m.literals+m.length:]
		s, _, _ := m.size()
		d, _, _ := m.away()
		literals[s] += 4
		matched[d] += 4
	}
	for _, b := range []byte(rest) {
		literals[b] += 4
	}
	a, b := codeLengths(literals), codeLengths(matched)
	c := &headCode{}
	copy(c.literal[:], symbols(a))
	copy(c.distance[:], symbols(b))
	c.begin.describe(a, b)
	return c
})

// match is so many bytes from a distance before, after so many literals.
type match struct{ literals, length, distance uint16 }

// size returns the symbol of the first code for the length, and bits to follow it.
func (m match) size() (s, extra int, n uint) {
	l := int(m.length) - 3
	if l < 8 {
		return 257 + l, 0, 0
	}
	n = uint(bits.Len(uint(l))) - 3
	return 257 + 4*int(n) + l>>n, l & (1<<n - 1), n
}

// away returns the symbol of the second code, and bits to follow it.
func (m match) away() (s, extra int, n uint) {
	d := int(m.distance) - 1
	if d < 4 {
		return d, 0, 0
	}
	n = uint(bits.Len(uint(d))) - 2
	return 2*int(n) + d>>n, d & (1<<n - 1), n
}

// matches appends those of head to dst; what follows the last is literals.
func matches(dst []match, head []byte) []match {
	const hashBits, least, most = 10, 4, 256
	var last [1 << hashBits]uint16 // by hash of 4 bytes: where they came last, plus 1
	begin := 0
	for at := 0; at+least <= len(head); {
		next := binary.LittleEndian.Uint32(head[at:])
		h := next * 0x9e3779b1 >> (32 - hashBits)
		from := int(last[h]) - 1
		last[h] = uint16(at + 1)
		if from < 0 || binary.LittleEndian.Uint32(head[from:]) != next {
			at++
			continue
		}
		n := least
		for n < most && at+n < len(head) && head[from+n] == head[at+n] {
			n++
		}
		dst = append(dst, match{uint16(at - begin), uint16(n), uint16(at - from)})
		at += n
		begin = at
	}
	return dst
}

// append appends head as a block of a deflate stream to dst. The writer holds what
// is left of its last byte. A head that is longer than maxHead or has other bytes
// than the code is refused.
func (c *headCode) append(dst, head []byte) (w bitWriter, ok bool) {
	if len(head) > maxHead {
		return w, false
	}
	for _, b := range head {
		if c.literal[b].n == 0 {
			return w, false
		}
	}
	w = bitWriter{append(dst, c.begin.b...), c.begin.acc, c.begin.n}
	var room [256]match
	for _, m := range matches(room[:0], head) {
		c.literals(&w, head[:m.literals])
		head = head[m.literals+m.length:]
		s, extra, n := m.size()
		w.symbol(c.literal[s])
		w.put(uint64(extra), n)
		s, extra, n = m.away()
		w.symbol(c.distance[s])
		w.put(uint64(extra), n)
	}
	c.literals(&w, head)
	w.symbol(c.literal[endOfBlock])
	return w, true
}

func (c *headCode) literals(w *bitWriter, p []byte) {
	for ; len(p) >= 2; p = p[2:] {
		a, b := c.literal[p[0]], c.literal[p[1]]
		w.put(uint64(a.bits)|uint64(b.bits)<<a.n, uint(a.n+b.n))
	}
	if len(p) > 0 {
		w.symbol(c.literal[p[0]])
	}
}

// bitWriter writes bits, the first lowest. acc has n that are not in b yet.
type bitWriter struct {
	b   []byte
	acc uint64
	n   uint
}

// put writes n bits, at most 32.
func (w *bitWriter) put(v uint64, n uint) {
	w.acc |= v << w.n
	if w.n += n; w.n >= 32 {
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(w.acc))
		w.acc, w.n = w.acc>>32, w.n-32
	}
}

func (w *bitWriter) symbol(s symbol) { w.put(uint64(s.bits), uint(s.n)) }

// align writes zeros up to a whole byte and returns everything written.
func (w *bitWriter) align() []byte {
	for ; w.n > 0; w.n -= min(w.n, 8) {
		w.b = append(w.b, byte(w.acc))
		w.acc >>= 8
	}
	return w.b
}

// lengthOrder is the order in which the lengths of the code of lengths come.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// describe begins a block that is not the last one, with codes of such lengths.
func (w *bitWriter) describe(literals, distances []uint8) {
	w.put(2<<1, 3)
	w.put(uint64(len(literals)-257), 5)
	w.put(uint64(len(distances)-1), 5)
	w.put(uint64(len(lengthOrder)-4), 4)
	weights := make([]int, len(lengthOrder))
	all := runs(append(slices.Clone(literals), distances...))
	for _, r := range all {
		weights[r.s]++
	}
	inner := codeLengths(weights)
	for _, s := range lengthOrder {
		w.put(uint64(inner[s]), 3)
	}
	code := symbols(inner)
	for _, r := range all {
		w.symbol(code[r.s])
		w.put(uint64(r.extra), r.n)
	}
}

// run is a symbol of the code of lengths: a length, 16 (the one before comes 3 +
// extra times more), or 18 (11 + extra zeros).
type run struct {
	s     uint8
	extra int
	n     uint
}

func runs(lengths []uint8) (all []run) {
	for i := 0; i < len(lengths); {
		same := 1
		for i+same < len(lengths) && lengths[i+same] == lengths[i] {
			same++
		}
		switch zero := lengths[i] == 0; {
		case zero && same >= 11:
			same = min(same, 138)
			all = append(all, run{18, same - 11, 7})
		case !zero && same >= 4:
			same = min(same, 7)
			all = append(all, run{s: lengths[i]}, run{16, same - 4, 2})
		default:
			same = 1
			all = append(all, run{s: lengths[i]})
		}
		i += same
	}
	return all
}

// codeLengths returns the lengths of a Huffman code, 0 for symbols of weight 0.
func codeLengths(weights []int) []uint8 {
	type node struct {
		weight  int
		symbols []int
	}
	var nodes []node // in the order of their weights
	insert := func(n node) {
		i, _ := slices.BinarySearchFunc(nodes, n.weight+1, func(m node, w int) int { return m.weight - w })
		nodes = slices.Insert(nodes, i, n)
	}
	for s, w := range weights {
		if w > 0 {
			insert(node{w, []int{s}})
		}
	}
	lengths := make([]uint8, len(weights))
	for len(nodes) > 1 {
		n := node{nodes[0].weight + nodes[1].weight, slices.Concat(nodes[0].symbols, nodes[1].symbols)}
		for _, s := range n.symbols {
			lengths[s]++
		}
		nodes = nodes[2:]
		insert(n)
	}
	return lengths
}

// symbols returns the canonical code of such lengths.
func symbols(lengths []uint8) []symbol {
	all := make([]symbol, len(lengths))
	next := uint16(0)
	for n := uint8(1); n <= 15; n++ {
		next <<= 1
		for s, l := range lengths {
			if l == n {
				all[s] = symbol{bits.Reverse16(next) >> (16 - n), uint16(n)}
				next++
			}
		}
	}
	return all
}
