package container

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"octopus/internal/durable"
	"octopus/warc"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrNotFound: the URL is not in the container, or was deleted.
	ErrNotFound = errors.New("not in the container")
	// ErrCorrupt: what lies on disk is not what was stored. The message names
	// file and offset.
	ErrCorrupt = errors.New("corrupt")
	// ErrGone: the segment of an address is not there. Where a rewrite removed it
	// meanwhile, the index has a new address by now.
	ErrGone = fmt.Errorf("its segment is missing: %w", ErrCorrupt)
	// ErrLocked: another process has the directory open.
	ErrLocked = durable.ErrLocked
	// ErrClosed: the container was closed.
	ErrClosed = errors.New("container is closed")
)

// Container is an open container. All methods may be called by many goroutines
// at once, except Close.
type Container struct {
	opt    Options
	enc    encoder
	lock   io.Closer
	secret uint64 // see mix

	urls     *table // request -> newest version
	payloads *table // digest -> the record that holds the payload

	readers   sync.Pool // of *warc.Reader, about 100 KB each
	unpackers sync.Pool // of *unpacker, 7 KB and the largest page that one met, up to 3 MB
	members   sync.Pool // of *[]byte: gzip members on their way to disk

	segMu    sync.RWMutex // guards segments
	segments map[int]*segment

	queueMu sync.Mutex // guards the group commit: queue and leading
	queue   []*batch
	leading bool

	// structure is held for reading by Put from the look-up of a payload until
	// the commit, for writing by a rewrite that makes payloads unknown.
	structure sync.RWMutex
	rewriting sync.Mutex     // one rewrite at a time
	sweeping  sync.Mutex     // one checkpoint at a time; before mu
	indexes   []durable.File // what an index on disk is read from: one, or more where a checkpoint failed; guarded by sweeping

	// dying are payloads whose records a rewrite removes, and where they lie.
	dyingMu sync.RWMutex // guards dying
	dying   map[[20]byte]address

	// moves counts what a rewrite moves, by the hash of the request, up before and
	// after: it is odd meanwhile.
	moves [256]atomic.Uint32

	// mu is held by who writes: appends, syncs, changes segments and the index.
	mu         sync.Mutex
	active     *segment
	lastNumber int    // the highest number of a segment so far
	failed     error  // a sync failed: nothing is written any more
	dirty      bool   // the active segment has records that were not synced
	joined     []byte // the members of a group, kept for reuse up to maxJoined
	timer      *time.Timer
	damage     []error
	closing    bool

	total         int64 // URLs in the index, about
	since         int   // entries since the last checkpoint
	changed       bool  // the tables are not those of the checkpoint
	hasCheckpoint bool  // there is one to go on from
	rewritten     bool  // a rewrite is under way
	checkpointing bool
	background    sync.WaitGroup // the checkpoint under way; Close waits for it
}

// Open opens the container in opt.Dir, made where it is missing. It cuts what
// a crash left half written, and heals key files from their segments. Damage
// that it cannot heal does not stop it: see Damage.
func Open(opt Options) (*Container, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := durable.MkdirAll(opt.FS, opt.Dir); err != nil {
		return nil, fmt.Errorf("container: %w", err)
	}
	lock, err := durable.Lock(opt.FS, opt.FS.PathJoin(opt.Dir, "LOCK"))
	if err != nil {
		return nil, fmt.Errorf("container: %w", err)
	}
	c := &Container{opt: opt, lock: lock, secret: newSecret(), segments: map[int]*segment{}}
	err = c.load(context.Background(), nil, nil)
	if errors.Is(err, errAhead) {
		if err = c.forgetCheckpoint(); err == nil {
			c.damage, c.since = nil, 0
			err = c.load(context.Background(), nil, nil)
		}
	}
	if err == nil {
		asZstd := opt.Compression == Zstd || opt.Compression == AsBefore && c.active != nil && c.active.suffix == zstdSuffix
		c.enc, err = newEncoder(opt.Level, asZstd)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("container: %w", err), c.closeFiles())
	}
	return c, nil
}

// Damage lists what Open found broken and could not heal, in words that name
// file and offset. All other pages are readable.
func (c *Container) Damage() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]error(nil), c.damage...)
}

// Close makes everything durable and releases the directory. No other call may
// be running.
func (c *Container) Close() error {
	c.background.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil
	}
	c.closing = true
	if !c.changed { // nothing to write, and a full disk is no matter
		return c.closeFiles()
	}
	err := c.sealActive()
	late := c.opt.IndexMemory == 0 || !c.hasCheckpoint || c.since >= c.due() // a sweep over an index on disk takes long
	if at, serr := c.settle(); err == nil && serr == nil && at.segment != 0 && late {
		c.writeCheckpoint(at) // without it the next Open reads key files: nothing is lost
	}
	return errors.Join(err, c.closeFiles())
}

// Sync makes everything stored so far durable, whatever the policy.
func (c *Container) Sync() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return ErrClosed
	}
	return c.sync()
}

// sync makes the active segment durable and then writes its key entries, which
// vouch for the records. c.mu is held.
func (c *Container) sync() error {
	if c.failed != nil || c.active == nil {
		return c.failed
	}
	if c.dirty {
		if err := c.active.warc.SyncData(); err != nil {
			// What the kernel kept is unknown now, so nothing may follow.
			c.failed = fmt.Errorf("sync %s%s: %w; the container takes no more pages until it is opened again", c.active.path, c.active.suffix, err)
			return c.failed
		}
		c.dirty = false
	}
	return c.active.writeKeys()
}

// sealActive makes the active segment and its key file durable.
func (c *Container) sealActive() error {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	if c.active == nil {
		return nil
	}
	if err := c.sync(); err != nil {
		return err
	}
	if err := c.cutExcess(); err != nil {
		return err
	}
	if err := c.active.key.Sync(); err != nil {
		return fmt.Errorf("sync %s%s: %w", c.active.path, keySuffix, err)
	}
	return nil
}

// cutExcess removes what a failed write left behind the last whole record.
func (c *Container) cutExcess() error {
	size, err := durable.Size(c.active.warc)
	if err != nil || size <= c.active.size {
		return err
	}
	return durable.Truncate(c.opt.FS, c.active.path+c.active.suffix, c.active.size)
}

func (c *Container) closeFiles() error {
	var errs []error
	for _, f := range c.indexes {
		errs = append(errs, f.Close())
	}
	for _, s := range c.segments {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, c.lock.Close())...)
}

// encoder makes the records of new segments.
type encoder struct {
	*warc.Encoder
	suffix string // of their names
}

func newEncoder(level int, asZstd bool) (e encoder, err error) {
	if e.suffix = gzipSuffix; asZstd {
		e.suffix = zstdSuffix
		e.Encoder, err = warc.NewZstdEncoder(level)
		return e, err
	}
	e.Encoder, err = warc.NewEncoder(level)
	return e, err
}

// acquire returns an open segment, whose files stay open until release.
func (c *Container) acquire(number int) (s *segment, err error) {
	c.segMu.RLock()
	defer c.segMu.RUnlock()
	if s = c.segments[number]; s == nil {
		return nil, fmt.Errorf("segment %d: %w", number, ErrGone)
	}
	s.life.RLock()
	return s, nil
}

func (s *segment) release() { s.life.RUnlock() }

func (c *Container) movesOf(hash uint64) *atomic.Uint32 { return &c.moves[hash%uint64(len(c.moves))] }

// again calls f until it did not meet a segment that was just removed.
func again[T any](f func() (T, error)) (result T, err error) {
	for range 8 {
		if result, err = f(); !errors.Is(err, ErrGone) {
			break
		}
	}
	return result, err
}

// newSecret returns a number that nobody can guess.
func newSecret() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails (since Go 1.24)
	return binary.LittleEndian.Uint64(b[:])
}
