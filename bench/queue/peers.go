package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"octopus/kv"
	"octopus/kv/pebblekv"
	"octopus/queue"
)

// fifo is what is measured. All calls are durable when they return.
type fifo interface {
	push(records [][]byte) error
	// pop reads n records, in order, and acknowledges them.
	pop(n int, visit func([]byte)) error
	// compact gives the disk of what is read back, as well as it can.
	compact() error
	close() error
}

// memTable is the size that `octopus crawl` gives its store.
const memTable = 8 << 20

// queueDB is octopus/queue on a store as a crawl has it.
type queueDB struct {
	store *pebblekv.Store
	queue *queue.Queue
}

func openQueueDB(dir string, capacity int64) (*queueDB, error) {
	s, err := pebblekv.Open(dir, pebblekv.Options{MemTableBytes: memTable})
	if err != nil {
		return nil, err
	}
	q, err := queue.Open(s, []byte("q/"), queue.Options{Capacity: capacity})
	return &queueDB{s, q}, err
}

func (q *queueDB) push(records [][]byte) error { return q.queue.Push(records...) }

func (q *queueDB) pop(n int, visit func([]byte)) error {
	for n > 0 {
		items, err := q.queue.Next(context.Background(), n)
		if err != nil {
			return err
		}
		for _, i := range items {
			visit(i.Data)
		}
		n -= len(items)
		if n == 0 {
			return q.queue.Ack(items[len(items)-1].Seq, kv.Sync)
		}
	}
	return nil
}

func (q *queueDB) compact() error { return q.store.Compact([]byte{0}, []byte{0xff}) }
func (q *queueDB) close() error   { return q.store.Close() }

// bolt keeps records under their numbers in a B-tree.
type bolt struct {
	db   *bbolt.DB
	path string
	next uint64
}

var boltName = []byte("queue")

func openBolt(dir string) (*bolt, error) {
	path := filepath.Join(dir, "queue.bolt")
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	return &bolt{db: db, path: path}, db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket(boltName); return err })
}

func (b *bolt) push(records [][]byte) error {
	return b.db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(boltName)
		bucket.FillPercent = 1 // keys only rise
		for _, r := range records {
			if err := bucket.Put(binary.BigEndian.AppendUint64(nil, b.next), r); err != nil {
				return err
			}
			b.next++
		}
		return nil
	})
}

func (b *bolt) pop(n int, visit func([]byte)) error {
	return b.db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(boltName)
		var keys [][]byte
		c := bucket.Cursor()
		for k, v := c.First(); k != nil && len(keys) < n; k, v = c.Next() {
			visit(v)
			keys = append(keys, k)
		}
		for _, k := range keys { // deleting under a cursor skips keys
			if err := bucket.Delete(k); err != nil {
				return err
			}
		}
		if len(keys) < n {
			return fmt.Errorf("%d records of %d", len(keys), n)
		}
		return nil
	})
}

// compact copies the database, as `bbolt compact` does.
func (b *bolt) compact() error {
	path := b.path + ".new"
	to, err := bbolt.Open(path, 0o644, nil)
	if err != nil {
		return err
	}
	if err := bbolt.Compact(to, b.db, 1<<20); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	return os.Rename(path, b.path)
}

func (b *bolt) close() error { return b.db.Close() }
