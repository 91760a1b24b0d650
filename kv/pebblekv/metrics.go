package pebblekv

import "context"

// Metrics is a snapshot of a store's size and work.
type Metrics struct {
	DiskBytes      int64 // tables and logs, those not yet deleted included
	TableDiskBytes int64 // live tables alone
	MemTableBytes  int64 // allocated memtables
	CacheBytes     int64 // blocks in the cache
	CacheHits      int64 // since Open
	CacheMisses    int64 // since Open
	Tables         int64 // live table files
	ReadAmp        int   // tables a look-up may have to ask
	CompactionDebt int64 // bytes that compactions still have to move, estimated
	LogBytes       int64 // written to the write-ahead log since Open
	TableBytes     int64 // written to tables since Open, by flushes and compactions
}

// Metrics returns the figures of now.
func (s *Store) Metrics() Metrics {
	m := s.db.Metrics()
	total := m.Total()
	return Metrics{
		DiskBytes:      int64(m.DiskSpaceUsage()),
		TableDiskBytes: total.TablesSize,
		MemTableBytes:  int64(m.MemTable.Size),
		CacheBytes:     m.BlockCache.Size,
		CacheHits:      m.BlockCache.Hits,
		CacheMisses:    m.BlockCache.Misses,
		Tables:         total.TablesCount,
		ReadAmp:        m.ReadAmp(),
		CompactionDebt: int64(m.Compact.EstimatedDebt),
		LogBytes:       int64(m.WAL.BytesWritten),
		TableBytes:     int64(total.TableBytesFlushed + total.TableBytesCompacted),
	}
}

// DiskUsage returns the bytes the store takes on disk.
func (s *Store) DiskUsage() int64 { return s.Metrics().DiskBytes }

// Flush writes the memtables into tables and returns when they are on disk.
func (s *Store) Flush() error {
	if err := s.db.Flush(); err != nil {
		return s.wrap("flush", err)
	}
	return nil
}

// Compact rewrites the tables of [lo, hi) until what was deleted there is gone
// from the disk, and empties the logs that Pebble keeps to write over. It takes as
// long as reading and writing the range does.
func (s *Store) Compact(lo, hi []byte) error {
	if err := s.db.Compact(context.Background(), lo, hi, true); err != nil {
		return s.wrap("compact", err)
	}
	return s.dropLogs()
}
