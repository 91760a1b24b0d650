package frontier

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"octopus"
	"octopus/kv"
)

// The links to a URL are counted beside its slot in the index, and go into its
// record with its next visit. What is left in the index when the frontier is
// closed is added to table 0b, one value for each shard: after a crash what was
// met since Open is missing there, and nothing else. Nobody reads the table on
// the way: it is there for Explain.

// tally is how many links were met to a URL, which is known by 32 bits of its
// fingerprint: within a shard that is nearly always right, and a count is no
// more than that.
type tally struct {
	tag   uint32
	links uint64
}

// tallyTag returns the shard and the tag of a key.
func tallyTag(k octopus.Key) (shard int, tag uint32) {
	f := fingerprint(k)
	return int(f >> (64 - indexShardBits)), uint32(f << indexShardBits >> 32)
}

// saveLinks adds what the index counted to the table, shard by shard.
func (f *Frontier) saveLinks() error {
	var batch kv.Batch
	next := 0
	save := func(old []tally) error {
		list := f.index.Load().tallies(next)
		if len(list) > 0 {
			var w writer
			encodeTallies(&w, mergeTallies(old, list))
			batch.Set(f.keys.links(next), w)
		}
		next++
		if batch.Size() <= spareBytes/4 {
			return nil
		}
		defer batch.Reset()
		return f.opt.Store.Apply(&batch, kv.NoSync)
	}
	lo := f.keys.table(tableLinks)
	err := f.opt.Store.Scan(lo, after(lo), func(key, value []byte) error {
		shard := int(binary.BigEndian.Uint16(key[len(lo):]))
		if shard < next || shard >= 1<<indexShardBits {
			return fmt.Errorf("a value for shard %d of %d", shard, 1<<indexShardBits)
		}
		for next < shard {
			if err := save(nil); err != nil {
				return err
			}
		}
		old, err := decodeTallies(value)
		if err != nil {
			return err
		}
		return save(old)
	})
	for err == nil && next < 1<<indexShardBits {
		err = save(nil)
	}
	if err == nil && batch.Len() > 0 {
		err = f.apply(&batch)
	}
	if err != nil {
		return fmt.Errorf("frontier: keep counts of links: %w", err)
	}
	return nil
}

// tallies reads what the table has of a shard.
func (f *Frontier) tallies(shard int) ([]tally, error) {
	value, err := f.get(f.keys.links(shard))
	if err != nil {
		return nil, err
	}
	return decodeTallies(value)
}

// linksTo returns how many links to a key were met that its record does not have.
func (f *Frontier) linksTo(key octopus.Key) (uint64, error) {
	shard, tag := tallyTag(key)
	list, err := f.tallies(shard)
	if err != nil {
		return 0, err
	}
	n := uint64(f.index.Load().linksTo(key))
	if i, found := slices.BinarySearchFunc(list, tag, compareTag); found {
		n += list[i].links
	}
	return n, nil
}

func compareTag(t tally, tag uint32) int {
	switch {
	case t.tag < tag:
		return -1
	case t.tag > tag:
		return 1
	}
	return 0
}

// mergeTallies returns the sums of two lists, in order of tags.
func mergeTallies(a, b []tally) []tally {
	list := append(a, b...)
	slices.SortFunc(list, func(a, b tally) int { return compareTag(a, b.tag) })
	n := 0
	for _, t := range list {
		if n > 0 && list[n-1].tag == t.tag {
			list[n-1].links += t.links
			continue
		}
		list[n] = t
		n++
	}
	return list[:n]
}

// encodeTallies writes a list, in order of tags, as pairs of varints: the
// distance from the tag before, and the links.
func encodeTallies(w *writer, list []tally) {
	before := uint32(0)
	for _, t := range list {
		w.uint(uint64(t.tag - before))
		w.uint(t.links)
		before = t.tag
	}
}

// decodeTallies reads what encodeTallies wrote.
func decodeTallies(value []byte) (list []tally, err error) {
	r := reader{rest: value}
	tag := uint64(0)
	for len(r.rest) > 0 && r.err == nil {
		step := r.uint()
		if step > math.MaxUint32-tag {
			r.err = errTruncated
			break
		}
		tag += step
		list = append(list, tally{uint32(tag), r.uint()})
	}
	if r.err != nil {
		return nil, fmt.Errorf("frontier: counts of links: %w", r.err)
	}
	return list, nil
}

func (k keyspace) links(shard int) []byte {
	return k.table(tableLinks, binary.BigEndian.AppendUint16(nil, uint16(shard)))
}
