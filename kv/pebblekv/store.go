package pebblekv

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"octopus/kv"
)

// Errors of Open and Apply, found by errors.Is.
var (
	// ErrLocked: another process, or this one, has the directory open.
	ErrLocked = errors.New("in use by another process")
	// ErrCorrupt: the files contradict themselves.
	ErrCorrupt = errors.New("damaged")
	// ErrFull: there is no space left; the batch was refused and nothing of it
	// is stored. It may be applied again later.
	ErrFull = errors.New("no space left on the device")
)

// deleteRangeFlush is how long the space of a deleted range may wait for a
// flush. Without it a drained queue would keep its space until other writes
// fill the memtable.
const deleteRangeFlush = 10 * time.Second

// Store is a kv.Store in a directory.
type Store struct {
	db   *pebble.DB
	fs   *recycling
	lock *pebble.Lock
	log  *watcher
}

var _ kv.Store = (*Store)(nil)

// Open opens the store in dir, and makes it where there is none. The errors
// name dir; ErrLocked and ErrCorrupt tell their cause.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.FS.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("store %s: cannot make the directory: %w", dir, err)
	}
	lock, err := pebble.LockDirectory(dir, o.FS)
	if err != nil {
		if held(err) {
			return nil, fmt.Errorf("store %s: %w; stop it, or use another directory", dir, ErrLocked)
		}
		return nil, fmt.Errorf("store %s: cannot lock the directory: %w", dir, err)
	}
	if err := room(dir, o.FS); err != nil {
		lock.Close()
		return nil, err
	}
	log := &watcher{dir: dir}
	fs := &recycling{FS: o.FS}
	o.FS = fs
	db, err := open(dir, o.pebble(lock, log))
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &Store{db: db, fs: fs, lock: lock, log: log}, nil
}

// room fails where the disk cannot take what the logs in dir replay to: Pebble
// would try to write its tables for ever.
func room(dir string, fs vfs.FS) error {
	names, err := fs.List(dir)
	if err != nil {
		return fmt.Errorf("store %s: %w", dir, err)
	}
	need := uint64(1 << 20)
	for _, name := range names {
		if info, err := fs.Stat(fs.PathJoin(dir, name)); err == nil && strings.HasSuffix(name, ".log") {
			need += uint64(info.Size())
		}
	}
	disk, err := fs.GetDiskUsage(dir)
	if err != nil || disk.AvailBytes >= need {
		return nil // a file system that does not tell is taken as it is
	}
	return fmt.Errorf("store %s: %w: %d bytes are free, opening it needs %d", dir, ErrFull, disk.AvailBytes, need)
}

// open calls Pebble and makes its failures errors that name dir.
func open(dir string, o *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		if f, ok := recover().(fatal); ok {
			db, err = nil, f.error
		}
	}()
	db, err = pebble.Open(dir, o)
	switch {
	case err == nil:
		return db, nil
	case pebble.IsCorruptionError(err):
		return nil, fmt.Errorf("store %s: %w: %w", dir, ErrCorrupt, err)
	default:
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
}

// held tells a lock that somebody has from one that could not be tried.
func held(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process")
}

// Get implements kv.Store.
func (s *Store) Get(key []byte) ([]byte, error) {
	v, closer, err := s.db.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			return nil, kv.ErrNotFound
		}
		return nil, s.wrap("read", err)
	}
	v = append([]byte{}, v...)
	return v, closer.Close()
}

// Scan implements kv.Store.
func (s *Store) Scan(lo, hi []byte, visit func(key, value []byte) error) (err error) {
	var o pebble.IterOptions // an empty bound must be nil there
	if len(lo) > 0 {
		o.LowerBound = lo
	}
	if len(hi) > 0 {
		o.UpperBound = hi
	}
	it, err := s.db.NewIter(&o)
	if err != nil {
		return s.wrap("scan", err)
	}
	defer func() {
		if cerr := it.Close(); err == nil && cerr != nil {
			err = s.wrap("scan", cerr)
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return s.wrap("scan", err)
		}
		if err := visit(it.Key(), v); err != nil {
			if err == kv.ErrStop {
				return nil
			}
			return err
		}
	}
	return nil
}

// Apply implements kv.Store. Pebble shares one fsync among the batches that
// arrive while another fsync runs.
func (s *Store) Apply(b *kv.Batch, d kv.Durability) error {
	if err := s.log.err(); err != nil {
		return err
	}
	if err := s.commit(b, d); err != nil {
		return err
	}
	b.Committed()
	return nil
}

func (s *Store) commit(b *kv.Batch, d kv.Durability) (err error) {
	if b.Len() == 0 && d == kv.NoSync {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = s.failure(r)
		}
	}()
	pb := s.db.NewBatchWithSize(batchHeader + b.Size() + opOverhead*b.Len())
	defer pb.Close()
	for _, op := range b.Ops() {
		if err := add(pb, op); err != nil {
			return s.wrap("write", err)
		}
	}
	if b.Len() == 0 { // a bare fsync: an empty batch would not reach the log
		if err := pb.LogData(nil, nil); err != nil {
			return s.wrap("write", err)
		}
	}
	opt := pebble.NoSync
	if d == kv.Sync {
		opt = pebble.Sync
	}
	if err := pb.Commit(opt); err != nil {
		return s.wrap("write", err)
	}
	return nil
}

// Bytes that Pebble adds to a batch, and to each change of it at most.
const (
	batchHeader = 12
	opOverhead  = 11
)

func add(pb *pebble.Batch, op kv.Op) error {
	switch op.Kind {
	case kv.OpSet:
		return pb.Set(op.Key, op.Value, nil)
	case kv.OpDelete:
		return pb.Delete(op.Key, nil)
	default:
		return pb.DeleteRange(op.Key, op.Value, nil)
	}
}

// failure makes the panic of a commit the store's error: Pebble panics where
// its log cannot be written.
func (s *Store) failure(r any) error {
	switch r := r.(type) {
	case fatal:
		return r.error
	case error:
		return s.log.fail(fmt.Errorf("store %s: writing failed for good, open it again: %w", s.log.dir, r))
	default:
		panic(r)
	}
}

// Close implements kv.Store. What was applied with NoSync is synced first.
func (s *Store) Close() error {
	err := s.log.err()
	if s.log.failed.Load() == nil {
		err = s.db.Close()
	}
	return errors.Join(err, s.lock.Close())
}

func (s *Store) wrap(what string, err error) error {
	if pebble.IsCorruptionError(err) {
		return fmt.Errorf("store %s: %s: %w: %w", s.log.dir, what, ErrCorrupt, err)
	}
	return fmt.Errorf("store %s: %s: %w", s.log.dir, what, err)
}
