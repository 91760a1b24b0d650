package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// segmentBytes is the size at which the log begins a new segment.
const segmentBytes = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seglog is the least durable queue there can be: records with length and CRC,
// one after the other, in segments that are removed once they are read; and a
// file of two slots, written in turn, that says how far that is.
type seglog struct {
	dir   string
	out   *os.File
	buf   []byte
	wrote int64 // bytes of the segment that is written
	last  int   // its number
	in    *os.File
	rd    *bufio.Reader
	first int   // number of the segment that is read
	read  int64 // bytes of it
	head  *os.File
	slot  int64
}

func openSeglog(dir string) (*seglog, error) {
	s := &seglog{dir: dir, rd: bufio.NewReaderSize(nil, 1<<20)}
	var err error
	if s.head, err = os.Create(filepath.Join(dir, "head")); err != nil {
		return nil, err
	}
	if s.out, err = os.Create(s.name(0)); err != nil {
		return nil, err
	}
	s.in, err = os.Open(s.name(0))
	s.rd.Reset(s.in)
	return s, err
}

func (s *seglog) name(n int) string { return filepath.Join(s.dir, fmt.Sprintf("%06d.log", n)) }

func (s *seglog) push(records [][]byte) error {
	s.buf = s.buf[:0]
	for _, r := range records {
		s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(len(r)))
		s.buf = binary.LittleEndian.AppendUint32(s.buf, crc32.Checksum(r, castagnoli))
		s.buf = append(s.buf, r...)
	}
	if _, err := s.out.Write(s.buf); err != nil {
		return err
	}
	if err := s.out.Sync(); err != nil {
		return err
	}
	if s.wrote += int64(len(s.buf)); s.wrote < segmentBytes {
		return nil
	}
	if err := s.out.Close(); err != nil {
		return err
	}
	s.last++
	s.wrote = 0
	var err error
	s.out, err = os.Create(s.name(s.last))
	return err
}

func (s *seglog) pop(n int, visit func([]byte)) error {
	var frame [8]byte
	var record []byte
	for range n {
		if _, err := io.ReadFull(s.rd, frame[:]); err == io.EOF && s.first < s.last {
			if err := s.nextSegment(); err != nil {
				return err
			}
			if _, err := io.ReadFull(s.rd, frame[:]); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		size := int(binary.LittleEndian.Uint32(frame[:]))
		record = append(record[:0], make([]byte, size)...)
		if _, err := io.ReadFull(s.rd, record); err != nil {
			return err
		}
		if crc32.Checksum(record, castagnoli) != binary.LittleEndian.Uint32(frame[4:]) {
			return fmt.Errorf("segment %d is damaged at %d", s.first, s.read)
		}
		s.read += int64(len(frame) + size)
		visit(record)
	}
	return s.acknowledge()
}

func (s *seglog) nextSegment() error {
	s.in.Close()
	if err := os.Remove(s.name(s.first)); err != nil {
		return err
	}
	s.first++
	s.read = 0
	var err error
	s.in, err = os.Open(s.name(s.first))
	s.rd.Reset(s.in)
	return err
}

// acknowledge writes how far the log is read into the slot that is older.
func (s *seglog) acknowledge() error {
	var b [20]byte
	binary.LittleEndian.PutUint64(b[:], uint64(s.first))
	binary.LittleEndian.PutUint64(b[8:], uint64(s.read))
	binary.LittleEndian.PutUint32(b[16:], crc32.Checksum(b[:16], castagnoli))
	s.slot ^= 1
	if _, err := s.head.WriteAt(b[:], s.slot*512); err != nil {
		return err
	}
	return s.head.Sync()
}

func (s *seglog) compact() error { return s.out.Truncate(0) } // all of it is read

func (s *seglog) close() error {
	s.in.Close()
	s.head.Close()
	return s.out.Close()
}
