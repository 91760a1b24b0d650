package container

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"octopus/internal/durable"
)

// A checkpoint is a copy of the two tables in the file address.idx. It is made
// shard by shard while pages are stored, so that it is a mixture of moments;
// but it has everything before its position, and entering what came later again
// changes nothing. Without it, or with one that is damaged, the tables are built
// from all key files.
//
//	0       8         12    16       24        32       40        48     60    64
//	| magic | version | 0   | secret | segment | offset | entries | zero | CRC |
//	then for each of 4096 shards of the address index, and for each of the payload index:
//	| slots in use u32 | words u32 | CRC of the words u32 | words, 4 bytes each |
const (
	checkpointFile  = "address.idx"
	checkpointMagic = "OCTOADR1"
)

// checkpointEvery is the least number of entries between checkpoints. There are
// more when the tables are large, so that writing them stays a small part of
// the work; so many entries are read again when the container is opened.
const checkpointEvery = 400_000

// maybeCheckpoint starts a checkpoint in the background where one is due. c.mu
// is held.
func (c *Container) maybeCheckpoint(added int) {
	c.since += added
	if c.since < max(checkpointEvery, int(c.total/8)) || c.checkpointing {
		return
	}
	c.checkpointing = true
	c.background.Go(func() {
		err := c.checkpoint()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.checkpointing = false
		if err != nil { // the log is the truth: nothing is lost by this
			c.damage = append(c.damage, err)
		}
	})
}

// checkpoint writes the tables while others go on.
func (c *Container) checkpoint() error {
	c.mu.Lock()
	at, err := c.settle()
	c.mu.Unlock()
	if err != nil || at.segment == 0 {
		return err
	}
	if err = c.writeCheckpoint(at); err != nil {
		c.mu.Lock()
		c.changed = true
		c.mu.Unlock()
	}
	return err
}

// settle makes everything stored so far durable, key entries included, and
// returns the position behind it. c.mu is held.
func (c *Container) settle() (position, error) {
	if c.active == nil {
		return position{}, nil
	}
	if err := c.sync(); err != nil {
		return position{}, err
	}
	if err := c.active.key.Sync(); err != nil {
		return position{}, fmt.Errorf("sync %s%s: %w", c.active.path, keySuffix, err)
	}
	c.since, c.changed = 0, false
	return position{c.active.number, c.active.size, c.active.written}, nil
}

func (c *Container) writeCheckpoint(at position) error {
	name := c.opt.FS.PathJoin(c.opt.Dir, checkpointFile)
	return durable.WriteFile(c.opt.FS, name, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<20)
		h := make([]byte, 60)
		copy(h, checkpointMagic)
		le := binary.LittleEndian
		le.PutUint32(h[8:], 1)
		le.PutUint64(h[16:], c.secret)
		le.PutUint64(h[24:], uint64(at.segment))
		le.PutUint64(h[32:], uint64(at.offset))
		le.PutUint64(h[40:], uint64(at.entries))
		out.Write(durable.Seal(h)) // bufio keeps the first error for Flush
		c.urls.writeTo(out)
		c.payloads.writeTo(out)
		return out.Flush()
	})
}

func (t *table) writeTo(out io.Writer) {
	var buf []byte
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.RLock()
		buf = binary.LittleEndian.AppendUint32(buf[:0], uint32(s.used))
		buf = binary.LittleEndian.AppendUint32(buf, uint32(len(s.slots)))
		buf = append(buf, 0, 0, 0, 0)
		for _, w := range s.slots {
			buf = binary.LittleEndian.AppendUint32(buf, w)
		}
		s.mu.RUnlock()
		binary.LittleEndian.PutUint32(buf[8:], durable.CRC(buf[12:]))
		out.Write(buf)
	}
}

// readCheckpoint fills the tables from the checkpoint and returns its position.
// Where there is none that fits what is on disk, the position is zero.
func (c *Container) readCheckpoint() position {
	name := c.opt.FS.PathJoin(c.opt.Dir, checkpointFile)
	f, err := durable.Open(c.opt.FS, name)
	if err != nil {
		return position{}
	}
	defer f.Close()
	size, err := durable.Size(f)
	if err != nil {
		return position{}
	}
	in := bufio.NewReaderSize(f, 1<<20)
	h := make([]byte, 64)
	if _, err := io.ReadFull(in, h); err != nil || !durable.Sealed(h) || string(h[:8]) != checkpointMagic || h[8] != 1 {
		return position{}
	}
	le := binary.LittleEndian
	at := position{int(le.Uint64(h[24:])), int64(le.Uint64(h[32:])), int(le.Uint64(h[40:]))}
	if !c.fits(at) {
		return position{}
	}
	urls, payloads := newTable(4), newTable(3)
	if readTables(in, size, urls, payloads) != nil {
		return position{}
	}
	c.secret, c.urls, c.payloads = le.Uint64(h[16:]), urls, payloads
	c.total, _ = urls.size()
	return at
}

// forgetCheckpoint removes the checkpoint, before something is changed that it
// relies on.
func (c *Container) forgetCheckpoint() error {
	c.changed = true
	return c.removeFile(c.opt.FS.PathJoin(c.opt.Dir, checkpointFile))
}

// fits reports whether the position of a checkpoint is one of the log: an
// entry ends there, and every segment before seems to have its key file, which
// reads will need.
func (c *Container) fits(at position) bool {
	s := c.segments[at.segment]
	if s == nil || s.size < at.offset || s.written < at.entries {
		return false
	}
	end := s.first
	if at.entries > 0 {
		e, err := s.entry(at.entries - 1)
		if err != nil {
			return false
		}
		end = e.end()
	}
	for _, s := range c.list() {
		if s.number < at.segment && s.size > s.first && s.written == 0 {
			return false
		}
	}
	return end == at.offset
}

// shardText is a shard as it lies in a checkpoint.
type shardText struct {
	table *table
	index int
	used  int
	crc   uint32
	words []byte
}

// readTables reads what writeTo wrote of tables, one after the other. Limit bounds
// what a shard may claim. This goroutine reads; as many as there are processors
// check and unpack.
func readTables(in io.Reader, limit int64, tables ...*table) error {
	workers := runtime.GOMAXPROCS(0)
	texts, free := make(chan shardText, workers), make(chan []byte, 2*workers)
	for range cap(free) {
		free <- nil
	}
	errs := make([]error, workers, workers+1)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for s := range texts {
				if err := s.unpack(); err != nil {
					errs[w] = err
				}
				free <- s.words
			}
		})
	}
	for _, t := range tables {
		for i := range t.shards {
			s, err := readShard(in, limit, t.words, <-free)
			if err != nil {
				errs = append(errs, fmt.Errorf("shard %d: %w", i, err))
				break
			}
			s.table, s.index = t, i
			texts <- s
		}
		if len(errs) > workers {
			break
		}
	}
	close(texts)
	wg.Wait()
	return errors.Join(errs...)
}

// readShard reads the next shard, into buf if that is large enough.
func readShard(in io.Reader, limit int64, slot int, buf []byte) (s shardText, err error) {
	var h [12]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return s, err
	}
	le := binary.LittleEndian
	used, words := int(le.Uint32(h[:])), int(le.Uint32(h[4:]))
	if int64(words)*4 > limit || words%slot != 0 || used*slot > words*9/10 {
		return s, fmt.Errorf("%d of %d slots: %w", used, words/slot, ErrCorrupt)
	}
	if cap(buf) < words*4 {
		buf = make([]byte, words*4)
	}
	s = shardText{used: used, crc: le.Uint32(h[8:]), words: buf[:words*4]}
	_, err = io.ReadFull(in, s.words)
	return s, err
}

// unpack checks a shard and puts it into its table.
func (s *shardText) unpack() error {
	to := &s.table.shards[s.index]
	to.slots, to.used = make([]uint32, len(s.words)/4), 0
	for j := range to.slots {
		to.slots[j] = binary.LittleEndian.Uint32(s.words[4*j:])
	}
	for j := 0; j < len(to.slots); j += s.table.words {
		if to.slots[j]|to.slots[j+1] != 0 {
			to.used++
		}
	}
	if durable.CRC(s.words) != s.crc || to.used != s.used {
		return fmt.Errorf("shard %d: %w", s.index, ErrCorrupt)
	}
	return nil
}
