package inflate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// ErrFormat is in the chain of errors about input that is no whole gzip member.
// Input that ends too early is io.ErrUnexpectedEOF beside.
var ErrFormat = errors.New("not a gzip member")

// ErrTooLarge is what Gzip returns for a member that has more than its limit.
var ErrTooLarge = errors.New("gzip member too large")

var errShort = fmt.Errorf("%w: %w", ErrFormat, io.ErrUnexpectedEOF)

// Gzip appends the content of the gzip member that src begins with to dst, at
// most limit bytes, and returns the length of the member in src. CRC and length
// are checked. It allocates at most about twice what the member holds. After an
// error dst comes back with its old length.
func (d *Decoder) Gzip(dst, src []byte, limit int) (out []byte, n int, err error) {
	from, err := skipHeader(src)
	if err != nil {
		return dst, 0, err
	}
	start := len(dst)
	out, end, err := d.inflate(dst, src, from, limit)
	if err != nil {
		return dst, 0, err
	}
	if end+8 > len(src) {
		return dst, 0, errShort
	}
	le := binary.LittleEndian
	if le.Uint32(src[end:]) != crc32.ChecksumIEEE(out[start:]) || le.Uint32(src[end+4:]) != uint32(len(out)-start) {
		return dst, 0, fmt.Errorf("%w: its checksum is wrong", ErrFormat)
	}
	return out, end + 8, nil
}

// Flags of a gzip header.
const (
	hasHeaderCRC = 1 << (iota + 1)
	hasExtra
	hasName
	hasComment
)

// skipHeader returns where the deflate stream of the member begins.
func skipHeader(src []byte) (int, error) {
	if len(src) < 10 {
		return 0, errShort
	}
	if src[0] != 0x1f || src[1] != 0x8b || src[2] != 8 {
		return 0, fmt.Errorf("%w: it begins with %x", ErrFormat, src[:3])
	}
	flags, at := src[3], 10
	if flags&hasExtra != 0 {
		if len(src) < at+2 {
			return 0, errShort
		}
		at += 2 + int(binary.LittleEndian.Uint16(src[at:]))
	}
	for _, text := range []byte{hasName, hasComment} {
		if flags&text == 0 {
			continue
		}
		if at > len(src) {
			return 0, errShort
		}
		i := bytes.IndexByte(src[at:], 0)
		if i < 0 {
			return 0, errShort
		}
		at += i + 1
	}
	if flags&hasHeaderCRC != 0 {
		if at+2 > len(src) {
			return 0, errShort
		}
		if binary.LittleEndian.Uint16(src[at:]) != uint16(crc32.ChecksumIEEE(src[:at])) {
			return 0, fmt.Errorf("%w: the checksum of its header is wrong", ErrFormat)
		}
		at += 2
	}
	if at > len(src) {
		return 0, errShort
	}
	return at, nil
}
