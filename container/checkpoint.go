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
//	| slots in use u32 | words u32 | CRC of the slots u32 | slots, in words of 4 bytes |
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
	if c.since += added; c.since < c.due() || c.checkpointing {
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

// spill empties the memory of an index on disk while the container is loaded.
func (c *Container) spill(at position) error {
	if c.opt.IndexMemory == 0 || c.since < c.due() {
		return nil
	}
	c.since, c.hasCheckpoint = 0, at.segment != 0
	return c.writeCheckpoint(at)
}

// due is the number of entries after which a checkpoint is made. Of an index on
// disk, half of its memory: the other half is for what comes meanwhile.
func (c *Container) due() int {
	if c.opt.IndexMemory > 0 {
		return max(1, int(c.opt.IndexMemory/2/entryMemory))
	}
	return max(checkpointEvery, int(c.total/16))
}

// entryMemory is what an entry may take in both tables, in bytes.
const entryMemory = (16 + 12) * 125 / 88

// checkpoint writes the tables while others go on.
func (c *Container) checkpoint() error {
	c.sweeping.Lock()
	defer c.sweeping.Unlock()
	c.mu.Lock()
	at, err := c.settle()
	if c.rewritten { // what leads to removed units is not in the log, so this is no place to go on from
		at = position{}
	}
	c.mu.Unlock()
	if err != nil || at.segment == 0 && c.opt.IndexMemory == 0 {
		return err
	}
	err = c.writeCheckpoint(at)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hasCheckpoint = err == nil && at.segment != 0; err != nil {
		c.changed = true
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
	var urls, payloads []diskShard
	err := durable.WriteFile(c.opt.FS, name, func(w io.Writer) error {
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
		var err error
		if urls, err = c.urls.writeTo(out, headerSize); err != nil {
			return err
		}
		last := urls[shardCount-1]
		if payloads, err = c.payloads.writeTo(out, last.at+int64(c.urls.slot*last.capacity)); err != nil {
			return err
		}
		return out.Flush()
	})
	if err != nil || c.opt.IndexMemory == 0 {
		return err
	}
	return c.stand(name, urls, payloads)
}

// stand lets the tables stand on the checkpoint that was just written.
func (c *Container) stand(name string, urls, payloads []diskShard) error {
	file, err := durable.Open(c.opt.FS, name)
	if err != nil {
		return err
	}
	c.indexes = append(c.indexes, file)
	err = errors.Join(c.urls.stand(urls, file), c.payloads.stand(payloads, file))
	for err == nil && len(c.indexes) > 1 { // after an error some shards read the one file, some the other
		err, c.indexes = c.indexes[0].Close(), c.indexes[1:]
	}
	return err
}

// shardHead is the number of bytes before the words of a shard, headerSize those
// before the first shard.
const (
	shardHead  = 12
	headerSize = 64
)

// writeTo writes the table, whose place in the file is at, and returns where its
// shards lie.
func (t *table) writeTo(out io.Writer, at int64) ([]diskShard, error) {
	var buf []byte
	shards := make([]diskShard, shardCount)
	for i := range t.shards {
		s := &t.shards[i]
		d := &shards[i]
		s.mu.RLock()
		slots, used, err := s.slots, s.used+s.disk.more(), error(nil)
		if t.disk {
			slots, err = t.merged(s, i)
		}
		buf = append(append(buf[:0], make([]byte, shardHead)...), slots...)
		s.mu.RUnlock()
		if err != nil {
			return nil, err
		}
		*d = diskShard{at: at + shardHead, capacity: len(slots) / t.slot, used: used, crc: durable.CRC(buf[shardHead:])}
		binary.LittleEndian.PutUint32(buf, uint32(used))
		binary.LittleEndian.PutUint32(buf[4:], uint32(len(slots)/4))
		binary.LittleEndian.PutUint32(buf[8:], d.crc)
		out.Write(buf)
		at += int64(len(buf))
	}
	return shards, nil
}

// readCheckpoint fills the tables from the checkpoint and returns its position.
// Where there is none that fits what is on disk, the position is zero.
func (c *Container) readCheckpoint() (at position) {
	name := c.opt.FS.PathJoin(c.opt.Dir, checkpointFile)
	f, err := durable.Open(c.opt.FS, name)
	if err != nil {
		return position{}
	}
	defer func() {
		if at.segment != 0 && c.opt.IndexMemory > 0 {
			c.indexes = append(c.indexes, f)
			return
		}
		f.Close()
	}()
	size, err := durable.Size(f)
	if err != nil {
		return position{}
	}
	h := make([]byte, headerSize)
	if _, err := f.ReadAt(h, 0); err != nil || !durable.Sealed(h) || string(h[:8]) != checkpointMagic || h[8] != 1 {
		return position{}
	}
	le := binary.LittleEndian
	at = position{int(le.Uint64(h[24:])), int64(le.Uint64(h[32:])), int(le.Uint64(h[40:]))}
	if !c.fits(at) {
		return position{}
	}
	urls, payloads := c.newTables()
	if readTables(f, size, urls, payloads) != nil {
		return position{}
	}
	c.secret, c.urls, c.payloads = le.Uint64(h[16:]), urls, payloads
	c.total, _ = urls.size()
	c.hasCheckpoint = true
	return at
}

// forgetCheckpoint removes the checkpoint, before something is changed that it
// relies on.
func (c *Container) forgetCheckpoint() error {
	c.changed, c.hasCheckpoint = true, false
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

// readTables reads what writeTo wrote of tables, one after the other. Size bounds
// what a shard may claim. This goroutine finds the shards; as many as there are
// processors read and check them. Those of an index on disk stay there.
func readTables(f durable.File, size int64, tables ...*table) error {
	type shardOf struct {
		table *table
		index int
		disk  diskShard
	}
	workers := runtime.GOMAXPROCS(0)
	found := make(chan shardOf, workers)
	errs := make([]error, workers+1)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var buf []byte
			for s := range found {
				slots, err := s.table.slotsOf(&s.disk, buf)
				if err != nil {
					errs[w] = err
				} else if s.table.disk {
					s.table.shards[s.index].disk, buf = s.disk, slots
				} else {
					s.table.shards[s.index].slots, s.table.shards[s.index].used = slots, s.disk.used
				}
			}
		})
	}
	at := int64(headerSize)
	for i := 0; i < len(tables)*shardCount && errs[workers] == nil; i++ {
		s := shardOf{table: tables[i/shardCount], index: i % shardCount}
		if s.disk, errs[workers] = s.table.findShard(f, at, size); errs[workers] == nil {
			at = s.disk.at + int64(s.table.slot*s.disk.capacity)
			found <- s
		}
	}
	close(found)
	wg.Wait()
	return errors.Join(errs...)
}

// findShard reads the head of a shard, which begins at an offset.
func (t *table) findShard(f durable.File, at, limit int64) (diskShard, error) {
	var h [shardHead]byte
	if _, err := f.ReadAt(h[:], at); err != nil {
		return diskShard{}, err
	}
	le := binary.LittleEndian
	used, bytes, slot := int64(le.Uint32(h[:])), int64(le.Uint32(h[4:]))*4, int64(t.slot)
	if bytes > limit || bytes%slot != 0 || used*slot > bytes*9/10 {
		return diskShard{}, fmt.Errorf("%s at offset %d: %d of %d slots: %w", checkpointFile, at, used, bytes/slot, ErrCorrupt)
	}
	return diskShard{file: f, at: at + shardHead, capacity: int(bytes / slot), used: int(used), crc: le.Uint32(h[8:])}, nil
}
