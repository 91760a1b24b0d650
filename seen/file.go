package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"sync/atomic"

	"octopus/internal/durable"
)

// A layer on disk, little endian:
//
//	   0  "octoseen"  version u32  layout u32
//	  16  lines u64   capacity u64   error rate f64   keys u64
//	  48  mapped u32 (1: no checksum at the end)   checksum of bytes 0 to 51 u32
//	4096  lines of 64 bytes
//	 end  checksum of the lines u32 (CRC-32C), not in a mapped file
//
// A snapshot is written whole and renamed. A mapped file is changed in place:
// bits are only ever set, so whatever part of the changes a power cut keeps is
// sound, and the journal has what came since the last time it was flushed.
const (
	fileMagic   = "octoseen"
	fileVersion = 2
	headerBytes = 4096
	headerUsed  = 56
)

func newChecksum() hash.Hash32 { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

// header returns the header of a layer's file.
func (l *layer) header(mapped bool) []byte {
	h := append(make([]byte, 0, headerBytes), fileMagic...)
	h = binary.LittleEndian.AppendUint32(h, fileVersion)
	h = binary.LittleEndian.AppendUint32(h, uint32(l.layout))
	h = binary.LittleEndian.AppendUint64(h, l.lines)
	h = binary.LittleEndian.AppendUint64(h, uint64(l.capacity))
	h = binary.LittleEndian.AppendUint64(h, math.Float64bits(l.err))
	h = binary.LittleEndian.AppendUint64(h, uint64(l.count.Load()))
	flag := uint32(0)
	if mapped {
		flag = 1
	}
	h = binary.LittleEndian.AppendUint32(h, flag)
	return durable.Seal(h)[:headerBytes]
}

// parseHeader reads a header; the layer has no words yet.
func parseHeader(h []byte) (l *layer, mapped bool, err error) {
	if len(h) < headerBytes || string(h[:8]) != fileMagic || !durable.Sealed(h[:headerUsed]) {
		return nil, false, errors.New("not a filter, or its header is damaged")
	}
	if v := binary.LittleEndian.Uint32(h[8:]); v != fileVersion {
		return nil, false, fmt.Errorf("version %d of the format; this program knows %d", v, fileVersion)
	}
	l = &layer{
		filter:   &filter{layout: layout(h[12]), lines: binary.LittleEndian.Uint64(h[16:])},
		capacity: int64(binary.LittleEndian.Uint64(h[24:])),
		err:      math.Float64frombits(binary.LittleEndian.Uint64(h[32:])),
	}
	l.count.Store(int64(binary.LittleEndian.Uint64(h[40:])))
	if l.layout != split8 && l.layout != twoLine16 || l.lines == 0 || l.capacity <= 0 || !(l.err > 0 && l.err < 1) {
		return nil, false, errors.New("its header makes no sense")
	}
	return l, h[48] == 1, nil
}

// save writes a snapshot of the layer. Bits that are set meanwhile may be in it
// or not. It calls settle before the snapshot counts: what the bits stand for
// must be as durable as they will be.
func (l *layer) save(fs durable.FS, name string, settle func() error) error {
	return durable.WriteFile(fs, name, func(w io.Writer) error {
		if _, err := w.Write(l.header(false)); err != nil {
			return err
		}
		sum := newChecksum()
		buf := make([]byte, 0, 1<<20)
		for at := range l.words {
			buf = binary.LittleEndian.AppendUint64(buf, atomic.LoadUint64(&l.words[at]))
			if len(buf) == cap(buf) || at == len(l.words)-1 {
				sum.Write(buf)
				if _, err := w.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
		if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
			return err
		}
		return settle()
	})
}

// loadLayer reads what save wrote, or the file of a mapped layer, into memory.
func loadLayer(fs durable.FS, name string) (*layer, error) {
	f, err := durable.Open(fs, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := readLayer(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file to go on without what it remembers", name, err)
	}
	return l, nil
}

func readLayer(f durable.File) (*layer, error) {
	size, err := durable.Size(f)
	if err != nil {
		return nil, err
	}
	h := make([]byte, headerBytes)
	if _, err := io.ReadFull(f, h); err != nil {
		return nil, err
	}
	l, mapped, err := parseHeader(h)
	if err != nil {
		return nil, err
	}
	want := int64(headerBytes + 4)
	if mapped {
		want = headerBytes
	}
	if body := size - want; body < 0 || body%lineBytes != 0 || uint64(body/lineBytes) != l.lines {
		return nil, fmt.Errorf("%d bytes long, which %d lines are not", size, l.lines)
	}
	sum, err := l.readWords(f)
	if err != nil || mapped {
		return l, err
	}
	tail := make([]byte, 4)
	if _, err := io.ReadFull(f, tail); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(tail) != sum {
		return nil, errors.New("damaged: the checksum is wrong")
	}
	return l, nil
}

func (l *layer) readWords(r io.Reader) (checksum uint32, err error) {
	l.words = newWords(l.lines)[:0]
	sum := newChecksum()
	buf := make([]byte, 1<<20)
	for want := cap(l.words) * 8; want > 0; {
		part := buf[:min(want, len(buf))]
		if _, err := io.ReadFull(r, part); err != nil {
			return 0, err
		}
		sum.Write(part)
		for at := 0; at < len(part); at += 8 {
			l.words = append(l.words, binary.LittleEndian.Uint64(part[at:]))
		}
		want -= len(part)
	}
	return sum.Sum32(), nil
}
