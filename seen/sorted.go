package seen

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"octopus/internal/durable"
)

// The file of a sieve, "sieve.sorted", little endian, checksums CRC-32C:
//
//	 0  "octosiev"  count u64  checksum of the two u32
//	20  fingerprints u64, ascending, each once
//	end checksum of the fingerprints u32
const sieveMagic = "octosiev"

// sortedWriter writes a sorted file.
type sortedWriter struct {
	w   *bufio.Writer
	sum hash.Hash32
}

func newSortedWriter(w io.Writer, count uint64) *sortedWriter {
	out := &sortedWriter{w: bufio.NewWriterSize(w, 1<<20), sum: newChecksum()}
	head := binary.LittleEndian.AppendUint64([]byte(sieveMagic), count)
	out.w.Write(durable.Seal(head)) // a failure comes back from finish
	return out
}

func (o *sortedWriter) put(fp uint64) error {
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], fp)
	o.sum.Write(p[:])
	_, err := o.w.Write(p[:])
	return err
}

func (o *sortedWriter) finish() error {
	var p [4]byte
	binary.LittleEndian.PutUint32(p[:], o.sum.Sum32())
	_, err := o.w.Write(p[:])
	return errors.Join(err, o.w.Flush())
}

// readSorted reads a sorted file.
func readSorted(r io.Reader, visit func(fp uint64) error) (count uint64, err error) {
	in := bufio.NewReaderSize(r, 1<<20)
	head := make([]byte, len(sieveMagic)+12)
	if _, err := io.ReadFull(in, head); err != nil || string(head[:len(sieveMagic)]) != sieveMagic || !durable.Sealed(head) {
		return 0, errors.Join(errors.New("not a sorted file of a sieve, or its header is damaged"), err)
	}
	count = binary.LittleEndian.Uint64(head[len(sieveMagic):])
	sum := newChecksum()
	var p [8]byte
	for range count {
		if _, err := io.ReadFull(in, p[:]); err != nil {
			return 0, fmt.Errorf("damaged: it ends early: %w", err)
		}
		sum.Write(p[:])
		if err := visit(binary.LittleEndian.Uint64(p[:])); err != nil {
			return 0, err
		}
	}
	if _, err := io.ReadFull(in, p[:4]); err != nil || binary.LittleEndian.Uint32(p[:4]) != sum.Sum32() {
		return 0, errors.Join(errors.New("damaged: the checksum is wrong"), err)
	}
	return count, nil
}
