package container

import (
	"encoding/binary"
	"time"

	"octopus"
	"octopus/internal/durable"
)

// Sizes of a key file's parts in bytes.
const (
	keyHeaderSize = 64
	keyEntrySize  = 72
	keyMagic      = "OCTOKEY1"
)

// keyEntry is what a key file holds of a unit:
//
//	0     16       36     44       52       56       60     66     67      68    72
//	| key | digest | prev | target | offset | length | time | kind | flags | CRC |
//
// Numbers are little endian. prev is the address of the version of the same
// request that was stored before, target that of the record that holds the
// payload (revisits only); 0 means none. time is in milliseconds since 1970.
type keyEntry struct {
	key    octopus.Key
	digest [20]byte // SHA-1 of the payload; zero where there is none
	prev   address
	target address
	offset int64
	length int64
	time   int64
	kind   Kind
	flags  uint8
}

// Flags of a keyEntry.
const (
	flagLate     = 1 << iota // a version with a later time was stored before
	flagUnsynced             // written before its record was synced
	flagMeta                 // a metadata record follows the page's
)

func (e *keyEntry) end() int64 { return e.offset + e.length }

// hasPayload tells that the payload index knows the unit.
func (e *keyEntry) hasPayload() bool { return e.kind == Full && e.digest != [20]byte{} }

// hash is what the address index finds the entry by.
func (e *keyEntry) hash(secret uint64) uint64 { return keyHash(e.key, secret) }

// keyHash uses the half of the key that is of the whole request. The other half
// depends on the list of public suffixes, which changes.
func keyHash(k octopus.Key, secret uint64) uint64 {
	return mix(binary.LittleEndian.Uint64(k[8:]), secret)
}

func digestHash(sum [20]byte, secret uint64) uint64 {
	return mix(binary.LittleEndian.Uint64(sum[:]), secret)
}

// address returns where the unit lies, given its segment.
func (e *keyEntry) address(segment int) address {
	a := makeAddress(segment, e.offset, e.length)
	if e.flags&flagLate != 0 {
		a |= lateBit
	}
	return a
}

func (e *keyEntry) when() time.Time { return time.UnixMilli(e.time).UTC() }

func (e *keyEntry) append(dst []byte) []byte {
	at := len(dst)
	dst = append(append(dst, e.key[:]...), e.digest[:]...)
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, uint64(e.prev))
	dst = le.AppendUint64(dst, uint64(e.target))
	dst = le.AppendUint32(dst, uint32(e.offset))
	dst = le.AppendUint32(dst, uint32(e.length))
	dst = le.AppendUint32(dst, uint32(e.time))
	dst = le.AppendUint16(dst, uint16(e.time>>32))
	dst = append(dst, byte(e.kind), e.flags)
	return le.AppendUint32(dst, durable.CRC(dst[at:]))
}

// parseKeyEntry reads what append wrote, and reports false for anything else.
func parseKeyEntry(p []byte) (e keyEntry, ok bool) {
	if len(p) < keyEntrySize || !durable.Sealed(p[:keyEntrySize]) {
		return e, false
	}
	le := binary.LittleEndian
	copy(e.key[:], p)
	copy(e.digest[:], p[16:])
	e.prev, e.target = address(le.Uint64(p[36:])), address(le.Uint64(p[44:]))
	e.offset, e.length = int64(le.Uint32(p[52:])), int64(le.Uint32(p[56:]))
	e.time = int64(le.Uint32(p[60:])) | int64(int16(le.Uint16(p[64:])))<<32
	e.kind, e.flags = Kind(p[66]), p[67]
	return e, e.kind >= Full && e.kind <= Tombstone
}

// keyHeader begins a key file:
//
//	0       8         12        16      24     28                    60    64
//	| magic | version | segment | first | info | zero                | CRC |
//
// first is the offset of the first unit: the end of the warcinfo record. info
// is the CRC of that record, whose ID is unique: it ties the two files together.
type keyHeader struct {
	first int64
	info  uint32
}

func (h keyHeader) append(dst []byte, segment int) []byte {
	b := make([]byte, keyHeaderSize-4)
	copy(b, keyMagic)
	le := binary.LittleEndian
	le.PutUint32(b[8:], 1)
	le.PutUint32(b[12:], uint32(segment))
	le.PutUint64(b[16:], uint64(h.first))
	le.PutUint32(b[24:], h.info)
	return append(dst, durable.Seal(b)...)
}

// parseKeyHeader reads what append wrote for a segment, and reports false for
// anything else.
func parseKeyHeader(p []byte, segment int) (h keyHeader, ok bool) {
	le := binary.LittleEndian
	if len(p) < keyHeaderSize || string(p[:8]) != keyMagic || !durable.Sealed(p[:keyHeaderSize]) ||
		le.Uint32(p[8:]) != 1 || int(le.Uint32(p[12:])) != segment {
		return h, false
	}
	h = keyHeader{int64(le.Uint64(p[16:])), le.Uint32(p[24:])}
	return h, h.first >= 0 && h.first <= maxInfo
}

// maxInfo bounds a warcinfo record of ours, in bytes.
const maxInfo = 1 << 20
