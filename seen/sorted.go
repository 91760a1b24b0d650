package seen

import (
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

// sortedPiece is what is read, written and summed up at once: 8,192 fingerprints.
const sortedPiece = 64 << 10

// sortedWriter writes a sorted file.
type sortedWriter struct {
	w   io.Writer
	buf []byte
	sum hash.Hash32
}

func newSortedWriter(w io.Writer, count uint64) (*sortedWriter, error) {
	head := binary.LittleEndian.AppendUint64([]byte(sieveMagic), count)
	_, err := w.Write(durable.Seal(head))
	return &sortedWriter{w: w, buf: make([]byte, 0, sortedPiece), sum: newChecksum()}, err
}

func (o *sortedWriter) put(fp uint64) error {
	if o.buf = binary.LittleEndian.AppendUint64(o.buf, fp); len(o.buf) < sortedPiece {
		return nil
	}
	return o.flush()
}

func (o *sortedWriter) flush() error {
	o.sum.Write(o.buf)
	_, err := o.w.Write(o.buf)
	o.buf = o.buf[:0]
	return err
}

func (o *sortedWriter) finish() error {
	err := o.flush()
	_, errSum := o.w.Write(binary.LittleEndian.AppendUint32(nil, o.sum.Sum32()))
	return errors.Join(err, errSum)
}

// readSorted reads a sorted file. It visits fingerprints before their checksum
// was seen.
func readSorted(r io.Reader, visit func(fp uint64) error) (count uint64, err error) {
	head := make([]byte, len(sieveMagic)+12)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:len(sieveMagic)]) != sieveMagic || !durable.Sealed(head) {
		return 0, errors.Join(errors.New("not a sorted file of a sieve, or its header is damaged"), err)
	}
	count = binary.LittleEndian.Uint64(head[len(sieveMagic):])
	sum, buf := newChecksum(), make([]byte, sortedPiece)
	for left := count; left > 0; left -= uint64(len(buf) / 8) {
		buf = buf[:8*min(left, sortedPiece/8)]
		if _, err := io.ReadFull(r, buf); err != nil {
			return 0, fmt.Errorf("damaged: it ends early: %w", err)
		}
		sum.Write(buf)
		for at := 0; at < len(buf); at += 8 {
			if err := visit(binary.LittleEndian.Uint64(buf[at:])); err != nil {
				return 0, err
			}
		}
	}
	if _, err := io.ReadFull(r, buf[:4:4]); err != nil || binary.LittleEndian.Uint32(buf) != sum.Sum32() {
		return 0, errors.Join(errors.New("damaged: the checksum is wrong"), err)
	}
	return count, nil
}
