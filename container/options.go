package container

import (
	"fmt"
	"time"

	"octopus/internal/durable"
)

// Sync says when a page counts as stored.
type Sync uint8

const (
	// Always: Put returns once the page survives a power cut. Puts that run at
	// the same time share one fsync.
	Always Sync = iota
	// Interval: Put returns once the page survives a crash of the process; a
	// power cut loses what was stored in the last SyncInterval.
	Interval
	// Never: the operating system decides. For bulk loads that can be repeated.
	// A segment is synced when it is full, and on Close.
	Never
)

var syncNames = [...]string{"always", "interval", "never"}

// String returns the policy's name.
func (s Sync) String() string {
	if int(s) < len(syncNames) {
		return syncNames[s]
	}
	return fmt.Sprintf("Sync(%d)", uint8(s))
}

// Compression says how records are compressed.
type Compression uint8

const (
	// AsBefore: as in the newest segment; Gzip where there is none.
	AsBefore Compression = iota
	// Gzip: one gzip member a record (.warc.gz), which every tool reads.
	Gzip
	// Zstd: one zstd frame a record (.warc.zst), read three times as fast, but by
	// fewer tools, and not fit for WACZ.
	Zstd
)

// ParseCompression reads "gzip", "zstd", or "" for AsBefore.
func ParseCompression(s string) (Compression, error) {
	for i, name := range []string{"", "gzip", "zstd"} {
		if s == name {
			return Compression(i), nil
		}
	}
	return 0, fmt.Errorf("compression %q: want gzip or zstd", s)
}

// maxSegment is what the 30 bits of an offset in an address can reach.
const maxSegment = 1 << 30

// Options says where the pages lie and how. Only Dir is required.
type Options struct {
	// Dir is the directory of the container, made where it is missing.
	Dir string
	// FS is the file system; nil means the disk.
	FS durable.FS

	// SegmentBytes is the size at which a segment is closed and the next one
	// begun; the last page may reach beyond it. 0 means 1 GiB, which is the
	// most. Compaction rewrites whole segments.
	SegmentBytes int64
	// Sync says when a page counts as stored. The zero value is Always.
	Sync Sync
	// SyncInterval is the time between syncs of policy Interval. 0 means 1 s.
	SyncInterval time.Duration
	// Compression is that of new segments. A container may have segments of both
	// kinds.
	Compression Compression
	// Level is 1 (fast) to 9 (small) of gzip, 1 to 4 of zstd; 0 means
	// warc.DefaultLevel, or 2.
	Level int
	// IndexMemory bounds the memory of the index, in bytes, about, for containers
	// whose index is larger than memory: the rest is read from the checkpoint, one
	// more read for each look-up that the page cache does not have. Each time as
	// many pages are stored as half of it holds (40 bytes each), the checkpoint is
	// written anew, so do not make it small. 0: all of the index is in memory.
	IndexMemory int64
	// BlockDigest adds a WARC-Block-Digest to every record: 60 bytes and one
	// more SHA-1 a page. Payload digests are always there.
	BlockDigest bool

	// Software, Operator and UserAgent go into the warcinfo record that every
	// segment begins with; empty ones are left out. Software defaults to
	// "octopus".
	Software, Operator, UserAgent string

	// Now is the clock for names of segments, warcinfo and tombstones; nil
	// means time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		return o, fmt.Errorf("container: Options.Dir is empty")
	}
	if o.FS == nil {
		o.FS = durable.Disk()
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = maxSegment
	}
	if o.SegmentBytes < 0 || o.SegmentBytes > maxSegment {
		return o, fmt.Errorf("container: SegmentBytes is %d; want 1 to %d", o.SegmentBytes, maxSegment)
	}
	if o.SyncInterval <= 0 {
		o.SyncInterval = time.Second
	}
	if o.Software == "" {
		o.Software = "octopus"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}
