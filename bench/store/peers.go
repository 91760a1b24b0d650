package main

import (
	"bytes"
	"context"
	"crypto/sha1"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/gzip"
	bolt "go.etcd.io/bbolt"
	_ "modernc.org/sqlite" // the driver

	"octopus"
	"octopus/container"
	"octopus/warc"
)

// store is what is compared.
type store interface {
	// put stores pages; they survive a power cut when it returns (-sync always).
	put(pages []*octopus.Page) error
	// get returns the body of a page.
	get(u octopus.URL) ([]byte, error)
	// flush brings what was put to the operating system, where it outlives the process.
	flush() error
	Close() error
}

// names are the stores, in the order in which they run.
var names = []string{"octopus", "pebble", "badger", "bbolt", "sqlite", "files"}

func openStore(o *options) (store, error) {
	if o.stores == "octopus" {
		opt := container.Options{Dir: o.dir, IndexMemory: o.indexMB << 20}
		if o.zstd {
			opt.Compression = container.Zstd
		}
		if o.sync != "always" {
			opt.Sync = container.Never
		}
		c, err := container.Open(opt)
		return ours{c}, err
	}
	kv, err := openKV(o.stores, o.dir, o.sync == "always")
	return &peer{kv: kv, packed: o.packed, digests: o.digests}, err
}

type ours struct{ *container.Container }

func (o ours) put(pages []*octopus.Page) error {
	entries := make([]container.Entry, len(pages))
	for i, p := range pages {
		entries[i].Page = p
	}
	_, err := o.PutAll(context.Background(), entries)
	return err
}

func (ours) flush() error { return nil } // every put has written

// indexBytes is what the address index and the payload index take in memory.
func (o ours) indexBytes() (address, payloads float64) {
	st := o.Stat()
	return float64(st.IndexBytes), float64(st.DigestBytes)
}

func (o ours) get(u octopus.URL) ([]byte, error) {
	s, err := o.Get(context.Background(), u)
	if err != nil {
		return nil, err
	}
	return s.Body, nil
}

// keyValue is a peer: putAll is durable when it returns, where sync was asked for.
type keyValue interface {
	putAll(keys, values [][]byte) error
	get(key []byte) ([]byte, error)
	Close() error
}

// peer keeps pages in a key-value store, as a program with its own format would.
type peer struct {
	kv      keyValue
	packed  bool
	digests bool
	gz      sync.Pool
}

func (p *peer) Close() error { return p.kv.Close() }

// flush is for Pebble, the only one that keeps writes in memory of its own.
func (p *peer) flush() error {
	if db, ok := p.kv.(pebbleKV); ok {
		return db.LogData(nil, pebble.Sync)
	}
	return nil
}

func (p *peer) put(pages []*octopus.Page) error {
	var keys, values [][]byte
	for _, page := range pages {
		key := page.Lease.Link.URL.Key[:]
		if p.digests {
			sum := sha1.Sum(page.Body)
			if _, err := p.kv.get(sum[:]); err == nil {
				return fmt.Errorf("%s: its payload is stored already", page.Lease.Link.URL.Text) // none are alike
			}
			keys, values = append(keys, sum[:]), append(values, key)
		}
		keys, values = append(keys, key), append(values, p.value(page))
	}
	return p.kv.putAll(keys, values)
}

func (p *peer) value(page *octopus.Page) []byte {
	head := warc.HTTPBlock(page.Status, page.Header, int64(len(page.Body)))
	if p.packed {
		return append(head, page.Body...)
	}
	var b bytes.Buffer
	z, _ := p.gz.Get().(*gzip.Writer)
	if z == nil {
		z, _ = gzip.NewWriterLevel(&b, warc.DefaultLevel) // a level that exists
	}
	z.Reset(&b)
	z.Write(head) // a buffer takes everything
	z.Write(page.Body)
	z.Close()
	p.gz.Put(z)
	return b.Bytes()
}

func (p *peer) get(u octopus.URL) ([]byte, error) {
	v, err := p.kv.get(u.Key[:])
	if err != nil {
		return nil, err
	}
	if !p.packed {
		z, err := gzip.NewReader(bytes.NewReader(v))
		if err != nil {
			return nil, err
		}
		if v, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	}
	_, _, body, err := warc.ParseHTTP(v)
	return body, err
}

func openKV(name, dir string, sync bool) (keyValue, error) {
	switch name {
	case "pebble":
		opt := &pebble.Options{FormatMajorVersion: pebble.FormatNewest, MemTableSize: 64 << 20, Cache: pebble.NewCache(64 << 20), Logger: quiet{}}
		opt.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
			return pebble.ValueSeparationPolicy{Enabled: true, MinimumSize: 512, MaxBlobReferenceDepth: 10, TargetGarbageRatio: 0.5}
		}
		for i := range opt.Levels {
			opt.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
		}
		db, err := pebble.Open(dir, opt)
		return pebbleKV{db, &pebble.WriteOptions{Sync: sync}}, err
	case "badger":
		db, err := badger.Open(badger.DefaultOptions(dir).WithSyncWrites(sync).WithCompression(0).WithValueThreshold(512).WithLogger(nil))
		return badgerKV{db}, err
	case "bbolt":
		db, err := bolt.Open(filepath.Join(dir, "db"), 0o600, &bolt.Options{NoSync: !sync})
		if err == nil {
			err = db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucketIfNotExists(bucket); return err })
		}
		return boltKV{db}, err
	case "sqlite":
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "db")+"?_pragma=journal_mode(wal)&_pragma=synchronous("+map[bool]string{true: "full", false: "off"}[sync]+")&_pragma=busy_timeout(60000)&_txlock=immediate")
		if err == nil {
			_, err = db.Exec("create table if not exists pages (key blob primary key, value blob) without rowid")
		}
		return sqliteKV{db}, err
	case "files":
		return filesKV{dir, sync}, nil
	}
	return nil, fmt.Errorf("no store %q; there are %v", name, names)
}

// quiet drops Pebble's notes about its work.
type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(format string, a ...any) { fmt.Fprintf(os.Stderr, format+"\n", a...) }
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

type pebbleKV struct {
	*pebble.DB
	write *pebble.WriteOptions
}

func (p pebbleKV) putAll(keys, values [][]byte) error {
	b := p.NewBatch()
	for i := range keys {
		if err := b.Set(keys[i], values[i], nil); err != nil {
			return err
		}
	}
	return b.Commit(p.write)
}

func (p pebbleKV) get(key []byte) ([]byte, error) {
	v, closer, err := p.Get(key)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(v), closer.Close()
}

type badgerKV struct{ *badger.DB }

func (b badgerKV) putAll(keys, values [][]byte) error {
	return b.Update(func(tx *badger.Txn) error {
		for i := range keys {
			if err := tx.Set(keys[i], values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b badgerKV) get(key []byte) (v []byte, err error) {
	err = b.View(func(tx *badger.Txn) error {
		item, err := tx.Get(key)
		if err == nil {
			v, err = item.ValueCopy(nil)
		}
		return err
	})
	return v, err
}

var bucket = []byte("pages")

type boltKV struct{ *bolt.DB }

func (b boltKV) putAll(keys, values [][]byte) error {
	return b.Update(func(tx *bolt.Tx) error {
		for i := range keys {
			if err := tx.Bucket(bucket).Put(keys[i], values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b boltKV) get(key []byte) (v []byte, err error) {
	err = b.View(func(tx *bolt.Tx) error { v = bytes.Clone(tx.Bucket(bucket).Get(key)); return nil })
	return v, err
}

type sqliteKV struct{ *sql.DB }

func (s sqliteKV) putAll(keys, values [][]byte) error {
	tx, err := s.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // after Commit it does nothing
	put, err := tx.Prepare("insert or replace into pages values (?, ?)")
	if err != nil {
		return err
	}
	defer put.Close()
	for i := range keys {
		if _, err := put.Exec(keys[i], values[i]); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s sqliteKV) get(key []byte) (v []byte, err error) {
	err = s.QueryRow("select value from pages where key = ?", key).Scan(&v)
	return v, err
}

// filesKV keeps a value per file, in 256 directories. One syncfs makes a batch
// durable.
type filesKV struct {
	dir  string
	sync bool
}

func (f filesKV) path(key []byte) string {
	name := fmt.Sprintf("%x", key)
	return filepath.Join(f.dir, name[len(name)-2:], name)
}

func (f filesKV) putAll(keys, values [][]byte) error {
	for i := range keys {
		path := f.path(keys[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, values[i], 0o644); err != nil {
			return err
		}
	}
	if !f.sync {
		return nil
	}
	d, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if _, _, errno := syscall.Syscall(sysSyncfs, d.Fd(), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// sysSyncfs is the number of syncfs(2) on amd64, which package syscall lacks.
const sysSyncfs = 306

func (f filesKV) get(key []byte) ([]byte, error) { return os.ReadFile(f.path(key)) }

func (filesKV) Close() error { return nil }
