package inflate

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Decoder holds the tables of the block at hand, 7 KB. It is not safe for
// concurrent use. The zero value is ready.
type Decoder struct {
	own  tables
	with *tables // of the block at hand

	// Own is made from the first described bits of told, the beginning of some
	// stream; 0 where it is of a later block. Streams of one encoder often begin
	// with the same tables.
	told      []byte
	described int

	src, dst []byte
	state
}

// state is what changes from symbol to symbol. symbols keeps it in registers.
type state struct {
	bits uint64 // the next ones; above left there may be more, which come again
	left uint   // of them count
	pos  int    // of the next byte of the input that is not in bits
	out  int    // bytes of the output that are filled
}

// tables are those of a block.
type tables struct {
	literals  [literalSize]uint32
	distances [distanceSize]uint32
}

// Slack is the room that decoding one symbol may need: the longest match, and
// what copying by 8 bytes writes beyond. A dst with so much more room than the
// content takes need not grow.
const Slack = 258 + 16

var errCode = fmt.Errorf("%w: a code that its table lacks", ErrFormat)

// inflate decodes the deflate stream at src[from:] and returns where it ends.
func (d *Decoder) inflate(dst, src []byte, from, limit int) ([]byte, int, error) {
	d.src, d.dst, d.state = src, dst[:cap(dst)], state{pos: from, out: len(dst)}
	start := d.out
	defer func() { d.src, d.dst = nil, nil }()
	for first, last := true, false; !last; first = false {
		d.refill()
		head := d.take(3)
		last = head&1 != 0
		var err error
		switch head >> 1 {
		case 0:
			err = d.stored(start, limit)
		case 1:
			d.with = &fixed // many encoders end with an empty block of this type
			err = d.blocks(start, limit)
		case 2:
			if err = d.findTables(from, first); err == nil {
				err = d.blocks(start, limit)
			}
		default:
			err = fmt.Errorf("%w: a block of type 3", ErrFormat)
		}
		if err == nil && d.at() > len(src) {
			err = errShort
		}
		if err != nil {
			return nil, 0, err
		}
	}
	if d.out-start > limit {
		return nil, 0, ErrTooLarge
	}
	return d.dst[:d.out], d.at(), nil
}

// at returns the offset of the first byte of which no bit was taken.
func (d *Decoder) at() int { return d.pos - int(d.left>>3) }

func (d *Decoder) refill() { d.state = d.state.refill(d.src) }

// take returns the next n bits, which are ready.
func (d *Decoder) take(n uint) uint {
	v := uint(d.bits) & (1<<n - 1)
	d.bits >>= n
	d.left -= n
	return v
}

// grow makes room for n more bytes.
func (d *Decoder) grow(n int) {
	bigger := make([]byte, max(2*len(d.dst), d.out+n, 4*len(d.src)))
	copy(bigger, d.dst[:d.out])
	d.dst = bigger
}

// stored copies a block that is not compressed.
func (d *Decoder) stored(start, limit int) error {
	at := d.at()
	if at+4 > len(d.src) {
		return errShort
	}
	n := int(binary.LittleEndian.Uint16(d.src[at:]))
	if n != int(^binary.LittleEndian.Uint16(d.src[at+2:])) {
		return fmt.Errorf("%w: the length of a stored block is wrong", ErrFormat)
	}
	at += 4
	if at+n > len(d.src) {
		return errShort
	}
	if d.out-start+n > limit {
		return ErrTooLarge
	}
	if d.out+n > len(d.dst) {
		d.grow(n)
	}
	d.out += copy(d.dst[d.out:], d.src[at:at+n])
	d.pos, d.bits, d.left = at+n, 0, 0
	return nil
}

// fixed are the tables of a block of type 1.
var fixed = func() (t tables) {
	var lengths [288 + 32]uint8
	for i := range lengths {
		switch {
		case i < 144 || i >= 280 && i < 288:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 5
		}
	}
	t.set(lengths[:288], lengths[288:])
	return t
}()

// set makes the tables of two codes, and reports whether both are codes.
func (t *tables) set(literals, distances []uint8) bool {
	return build(t.literals[:], literalBits, literals, literalSymbols[:]) &&
		build(t.distances[:], distanceBits, distances, distanceSymbols[:])
}

// lengthOrder is the order in which the lengths of the code of lengths come.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

var plainSymbols = func() (s [19]uint32) {
	for i := range s {
		s[i] = uint32(i) << 16
	}
	return s
}()

// findTables makes the tables of a block of type 2 ready. In the first block of a
// stream that begins like the one before they are.
func (d *Decoder) findTables(from int, first bool) error {
	if first && d.sameTables(from) {
		return nil
	}
	d.described = 0
	err := d.readTables()
	if n := 8*(d.pos-from) - int(d.left); err == nil && first && n/8 < len(d.src)-from {
		d.told, d.described = append(d.told[:0], d.src[from:from+n/8+1]...), n
	}
	return err
}

// sameTables reports whether the stream at from begins with the description of the
// tables that are there, and then passes it.
func (d *Decoder) sameTables(from int) bool {
	whole, part := d.described/8, uint(d.described%8)
	p := d.src[from:]
	if d.described == 0 || len(p) <= whole || !bytes.Equal(p[:whole], d.told[:whole]) || (p[whole]^d.told[whole])&(1<<part-1) != 0 {
		return false
	}
	d.bits, d.left, d.pos, d.with = 0, 0, from+whole, &d.own
	d.refill()
	d.take(part)
	return true
}

// readTables reads the tables of a block of type 2.
func (d *Decoder) readTables() error {
	nl, nd, nc := int(d.take(5))+257, int(d.take(5))+1, int(d.take(4))+4
	var order [19]uint8
	for i := range nc {
		d.refill()
		order[lengthOrder[i]] = uint8(d.take(3))
	}
	var table [1 << 7]uint32
	if !build(table[:], 7, order[:], plainSymbols[:]) {
		return fmt.Errorf("%w: a code of lengths that is not complete", ErrFormat)
	}
	var lengths [288 + 32 + 138]uint8
	for i := 0; i < nl+nd; {
		d.refill()
		e := table[d.bits&(1<<7-1)]
		if e&other != 0 {
			return errCode
		}
		d.take(uint(e & 15))
		var repeat int
		var value uint8
		switch symbol := uint8(e >> 16); symbol {
		default:
			lengths[i] = symbol
			i++
			continue
		case 16:
			if i == 0 {
				return fmt.Errorf("%w: nothing to repeat", ErrFormat)
			}
			repeat, value = 3+int(d.take(2)), lengths[i-1]
		case 17:
			repeat = 3 + int(d.take(3))
		case 18:
			repeat = 11 + int(d.take(7))
		}
		if i+repeat > nl+nd {
			return fmt.Errorf("%w: too many lengths of codes", ErrFormat)
		}
		for range repeat {
			lengths[i] = value
			i++
		}
	}
	if nl > 286 || d.at() > len(d.src) {
		return errShort
	}
	if d.with = &d.own; !d.own.set(lengths[:nl], lengths[nl:nl+nd]) {
		return fmt.Errorf("%w: a code that is not complete", ErrFormat)
	}
	return nil
}

// blocks decodes a compressed block, making room where it is needed.
func (d *Decoder) blocks(start, limit int) error {
	for {
		if d.out+Slack > len(d.dst) {
			d.grow(Slack)
		}
		done, err := d.block(start)
		switch {
		case err != nil || done && d.out-start <= limit:
			return err
		case d.out-start > limit:
			return ErrTooLarge
		case d.at() > len(d.src):
			return errShort
		}
	}
}

// block decodes until the block ends (done), or room or input may run out.
func (d *Decoder) block(start int) (done bool, err error) {
	var e uint32
	d.state, e = d.symbols(d.state, start)
	switch {
	case e == 0:
		return false, nil
	case e&endBlock == endBlock:
		return true, nil
	case e&other != 0:
		return false, errCode
	}
	return false, fmt.Errorf("%w: a match before the beginning", ErrFormat)
}

// symbols decodes until it meets an entry that is no literal and no match, or a
// match with a distance that reaches too far, and returns that; or 0 where room
// or input may run out.
func (d *Decoder) symbols(s state, start int) (state, uint32) {
	src, dst, t := d.src, d.dst, d.with
	for s.out+Slack <= len(dst) {
		if s.pos+8 <= len(src) {
			s.bits |= binary.LittleEndian.Uint64(src[s.pos:]) << (s.left & 63)
			s.pos += int((63 - s.left) >> 3)
			s.left |= 56
		} else {
			if s.pos-int(s.left>>3) > len(src) {
				return s, 0
			}
			s = s.refill(src)
		}
		e := t.literals[s.bits&(1<<literalBits-1)]
		if e&literal != 0 { // most often several in a row, of 10 bits at most
			s.bits >>= e & 63
			s.left -= uint(e & 0xff)
			dst[s.out] = byte(e >> 16)
			s.out++
			if e = t.literals[s.bits&(1<<literalBits-1)]; e&literal != 0 {
				s.bits >>= e & 63
				s.left -= uint(e & 0xff)
				dst[s.out] = byte(e >> 16)
				s.out++
				if e = t.literals[s.bits&(1<<literalBits-1)]; e&literal != 0 {
					s.bits >>= e & 63
					s.left -= uint(e & 0xff)
					dst[s.out] = byte(e >> 16)
					s.out++
					continue
				}
			}
			if s.left < 48 {
				continue // the same entry again, with more bits
			}
		}
		if e&other != 0 {
			if e&subtable == subtable {
				s.bits >>= literalBits
				s.left -= literalBits
				e = t.literals[int(e>>16)+int(s.bits&(1<<(e>>8&15)-1))]
			}
			if e&(literal|other) != 0 {
				s.bits >>= e & 63
				s.left -= uint(e & 0xff)
				if e&literal == 0 {
					return s, e
				}
				dst[s.out] = byte(e >> 16)
				s.out++
				continue
			}
		}
		length := int(e>>16) + int(s.bits&(1<<(e&63)-1)>>(e>>8&15))
		s.bits >>= e & 63
		s.left -= uint(e & 0xff)
		e = t.distances[s.bits&(1<<distanceBits-1)]
		if e&subtable == subtable {
			s.bits >>= distanceBits
			s.left -= distanceBits
			e = t.distances[int(e>>16)+int(s.bits&(1<<(e>>8&15)-1))]
		}
		distance := int(e>>16) + int(s.bits&(1<<(e&63)-1)>>(e>>8&15))
		if e&other != 0 || distance > s.out-start {
			return s, e
		}
		s.bits >>= e & 63
		s.left -= uint(e & 0xff)
		repeat(dst, s.out, distance, length)
		s.out += length
	}
	return s, 0
}

// refill makes at least 56 bits ready. Beyond the input there are zeros.
func (s state) refill(src []byte) state {
	if s.pos+8 <= len(src) {
		s.bits |= binary.LittleEndian.Uint64(src[s.pos:]) << (s.left & 63)
		s.pos += int((63 - s.left) >> 3)
		s.left |= 56
		return s
	}
	for ; s.left < 56; s.left += 8 {
		if s.pos < len(src) {
			s.bits |= uint64(src[s.pos]) << s.left
		}
		s.pos++
	}
	return s
}

// repeat copies length bytes from distance before at. Up to 16 bytes behind may
// be written too.
func repeat(dst []byte, at, distance, length int) {
	from, end := at-distance, at+length
	if distance < 8 {
		for ; at < end; at, from = at+1, from+1 {
			dst[at] = dst[from]
		}
		return
	}
	le := binary.LittleEndian
	le.PutUint64(dst[at:], le.Uint64(dst[from:]))
	le.PutUint64(dst[at+8:], le.Uint64(dst[from+8:])) // most matches end here
	for at, from = at+16, from+16; at < end; at, from = at+8, from+8 {
		le.PutUint64(dst[at:], le.Uint64(dst[from:]))
	}
}
