package seen

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"octopus"
	"octopus/internal/durable"
	"octopus/kv"
)

// Sieve finds out which keys are fresh, late: it collects offers and compares
// them with a sorted file of everything met before, all at once. So it knows
// more keys than memory holds, at 8 bytes each on disk, exactly (64-bit
// fingerprints), and reads the disk only from front to back.
//
// It is for crawls of billions of URLs whose links may wait (the delayed
// duplicate detection of Mercator and IRLbot). The frontiers of octopus, which
// answer at once, do not use it.
//
// It is not a Set: Offer answers nothing. Offers wait in the user's store, under
// the prefix, until Flush has told what is fresh; numbers are big-endian:
//
//	+--------+---+------------+      +---------------------------------------------+
//	| prefix | o | number (8) |  ->  | key (16) | length (varint) | payload, repeated |
//	+--------+---+------------+      +---------------------------------------------+
type Sieve struct {
	place   Place
	o       SieveOptions
	next    atomic.Int64 // number of the next offer
	waiting atomic.Int64 // keys offered, committed and not flushed
}

// SieveOptions configures a Sieve.
type SieveOptions struct {
	// MemoryBytes bounds what one pass of Flush collects, payloads included. 0
	// means 64 MiB. Each pass reads and writes the whole file once, so it should
	// be 1 % of the file or more.
	MemoryBytes int
}

// Fresh is told of keys that were not met before, with the payload of their
// first offer, in batches. It must make them durable before it returns. After
// a crash it may be told of the same keys again.
type Fresh func(keys []octopus.Key, payloads [][]byte) error

// keyOffer is the kind of an offer's key.
const keyOffer = 'o'

// OpenSieve opens the sieve kept at p. It reads the offers that wait, but not
// the file.
func OpenSieve(p Place, o SieveOptions) (*Sieve, error) {
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = 64 << 20
	}
	s := &Sieve{place: p, o: o}
	err := s.offers(func(number int64, key octopus.Key, _ []byte) error {
		s.next.Store(number + 1)
		s.waiting.Add(1)
		return nil
	})
	return s, err
}

// Offer stages keys with what belongs to them into b: the answer comes from a
// Flush after b is committed. len(payloads) must be len(keys).
func (s *Sieve) Offer(b *kv.Batch, keys []octopus.Key, payloads [][]byte) error {
	if len(keys) != len(payloads) {
		return fmt.Errorf("seen: sieve: %d keys, but %d payloads", len(keys), len(payloads))
	}
	if len(keys) == 0 {
		return nil
	}
	var value []byte
	for i, k := range keys {
		value = append(value, k[:]...)
		value = binary.AppendUvarint(value, uint64(len(payloads[i])))
		value = append(value, payloads[i]...)
	}
	b.Set(binary.BigEndian.AppendUint64(s.prefix(), uint64(s.next.Add(1)-1)), value)
	b.OnCommit(func() { s.waiting.Add(int64(len(keys))) })
	return nil
}

// Waiting returns the number of offers that no Flush has answered.
func (s *Sieve) Waiting() int64 { return s.waiting.Load() }

// Flush answers all offers that were committed when it began. One Flush runs at
// a time.
func (s *Sieve) Flush(ctx context.Context, fresh Fresh) error {
	for ctx.Err() == nil {
		c, err := s.collect()
		if err != nil || len(c.entries) == 0 {
			return err
		}
		if err := s.pass(c, fresh); err != nil {
			return err
		}
		if !c.more {
			return nil
		}
	}
	return ctx.Err()
}

// collected is what one pass works on.
type collected struct {
	entries  []entry // ordered by fingerprint, then by at
	keys     []octopus.Key
	payloads [][]byte
	numbers  []int64 // of the records they came from
	more     bool    // other records wait
}

// entry is an offer's fingerprint, and its place in the order of offers.
type entry struct {
	fp uint64
	at uint32
}

// offerBytes is what an offer takes in memory while it is sorted and told,
// payload apart.
const offerBytes = 16 + 16 + 16 + 24 + 16

// collect reads offers until the memory is used.
func (s *Sieve) collect() (*collected, error) {
	c, used := &collected{}, 0
	err := s.offers(func(number int64, key octopus.Key, payload []byte) error {
		if used >= s.o.MemoryBytes && number != c.numbers[len(c.numbers)-1] {
			c.more = true
			return kv.ErrStop
		}
		if len(c.numbers) == 0 || c.numbers[len(c.numbers)-1] != number {
			c.numbers = append(c.numbers, number)
		}
		c.entries = append(c.entries, entry{fingerprint(key), uint32(len(c.keys))})
		c.keys = append(c.keys, key)
		c.payloads = append(c.payloads, slices.Clone(payload))
		used += offerBytes + len(payload)
		return nil
	})
	c.entries = sortEntries(c.entries)
	return c, err
}

// pass merges what was collected with the file. The fresh keys are told before
// the new file takes the place of the old one, and the offers are dropped after
// that: a crash in between repeats, and loses nothing.
func (s *Sieve) pass(c *collected, fresh Fresh) error {
	m := merger{c: c, fresh: fresh}
	if err := s.rewrite(&m); err != nil {
		return err
	}
	var b kv.Batch
	dropRuns(&b, s.prefix(), c.numbers)
	if err := s.place.Store.Apply(&b, kv.NoSync); err != nil {
		return fmt.Errorf("seen: sieve: %w", err)
	}
	s.waiting.Add(-int64(len(c.keys)))
	return nil
}

// file returns the name of the sorted file.
func (s *Sieve) file() string { return filepath.Join(s.place.Dir, "sieve.sorted") }

// rewrite reads the sorted file and writes its successor. Its length is known
// only at the end, so two passes over what was collected are made: one that
// finds out what is fresh, one that writes.
func (s *Sieve) rewrite(m *merger) error {
	count, err := s.read(m.compare)
	if err != nil {
		return err
	}
	if err := m.tell(); err != nil {
		return err
	}
	if len(m.new) == 0 {
		return nil
	}
	return durable.WriteFile(s.place.fs(), s.file(), func(w io.Writer) error {
		out, err := newSortedWriter(w, count+uint64(len(m.new)))
		if err != nil {
			return err
		}
		left := m.new
		_, err = s.read(func(fp uint64) error {
			for len(left) > 0 && left[0] < fp {
				if err := out.put(left[0]); err != nil {
					return err
				}
				left = left[1:]
			}
			return out.put(fp)
		})
		for _, fp := range left {
			err = errors.Join(err, out.put(fp))
		}
		return errors.Join(err, out.finish())
	})
}

// read visits the fingerprints of the file in order, and returns their number.
func (s *Sieve) read(visit func(fp uint64) error) (count uint64, err error) {
	if _, err := s.place.fs().Stat(s.file()); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	f, err := durable.Open(s.place.fs(), s.file())
	if err != nil {
		return 0, err
	}
	defer f.Close()
	count, err = readSorted(f, visit)
	if err != nil {
		return 0, fmt.Errorf("seen: sieve: %s: %w", s.file(), err)
	}
	return count, nil
}

// offers visits the stored offers in order; payload is valid during the call.
func (s *Sieve) offers(visit func(number int64, key octopus.Key, payload []byte) error) error {
	lo := s.prefix()
	return s.place.Store.Scan(lo, kv.PrefixEnd(lo), func(k, value []byte) error {
		if len(k) != len(lo)+8 {
			return fmt.Errorf("seen: sieve: damaged: key %x", k)
		}
		number := int64(binary.BigEndian.Uint64(k[len(lo):]))
		for len(value) > 0 {
			if len(value) < 17 {
				return fmt.Errorf("seen: sieve: damaged: offer %d ends early", number)
			}
			size, n := binary.Uvarint(value[16:])
			if n <= 0 || size > uint64(len(value)-16-n) {
				return fmt.Errorf("seen: sieve: damaged: offer %d ends early", number)
			}
			payload := value[16+n:][:size]
			if err := visit(number, octopus.Key(value[:16]), payload); err != nil {
				return err
			}
			value = value[16+n+int(size):]
		}
		return nil
	})
}

func (s *Sieve) prefix() []byte { return append(slices.Clone(s.place.Prefix), keyOffer) }
