package pebblekv

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options sizes a store. The zero value suits a laptop: about 60 MB of memory
// under load.
type Options struct {
	// FS is the file system; nil means the disk. Tests pass a crashable one.
	FS vfs.FS

	// CacheBytes bounds the cache of uncompressed table blocks. 0 means 8 MiB.
	// More helps random reads of a store that is larger than memory.
	CacheBytes int64

	// MemTableBytes is the size of one memtable. 0 means 16 MiB. At most four
	// exist at once; larger ones mean fewer, larger tables and slower look-ups
	// of recent keys.
	MemTableBytes int64

	// Compactions bounds how many compactions run at once. 0 means 2.
	Compactions int

	// MaxOpenFiles bounds open table files. 0 means 500.
	MaxOpenFiles int
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 8 << 20
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = 16 << 20
	}
	if o.Compactions == 0 {
		o.Compactions = 2
	}
	if o.MaxOpenFiles == 0 {
		o.MaxOpenFiles = 500
	}
	return o
}

// pebble translates the options; log hears what Pebble has to say.
func (o Options) pebble(lock *pebble.Lock, log *watcher) *pebble.Options {
	p := &pebble.Options{
		FS:                          o.FS,
		Lock:                        lock,
		CacheSize:                   o.CacheBytes,
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: 4,
		MaxOpenFiles:                o.MaxOpenFiles,
		CompactionConcurrencyRange:  func() (int, int) { return 1, o.Compactions },
		FormatMajorVersion:          pebble.FormatValueSeparation,
		FlushDelayDeleteRange:       deleteRangeFlush,
		Logger:                      log,
		EventListener: &pebble.EventListener{
			BackgroundError: log.backgroundError,
			FlushEnd:        log.flushEnd,
			// The read that met the damage returns it as its error; Pebble's
			// default would end the process.
			DataCorruption: func(pebble.DataCorruptionInfo) {},
		},
	}
	p.Levels[0].FilterPolicy = bloom.FilterPolicy(10) // the other levels inherit it
	p.Levels[6].FilterPolicy = pebble.NoFilterPolicy  // but the last: Get never asks for its filters
	return p
}
