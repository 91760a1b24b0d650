package pebblekv

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// recycling is the file system under Pebble. Pebble keeps a few logs that are no
// longer needed, to write over them: a file that has its blocks already is synced
// twice as fast. They stay as large as they were until the store is opened again;
// Compact empties them, and keeps their names for Pebble.
type recycling struct {
	vfs.FS
	mu sync.Mutex // held while a log is renamed, or emptied
}

// ReuseForWrite implements vfs.FS.
func (r *recycling) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.FS.ReuseForWrite(oldname, newname, c)
}

// logs returns the names of the logs in a directory.
func (r *recycling) logs(dir string) (logs []string, err error) {
	names, err := r.List(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		number, ok := strings.CutSuffix(name, ".log")
		if _, err := strconv.ParseUint(number, 10, 64); ok && err == nil {
			logs = append(logs, r.PathJoin(dir, name))
		}
	}
	return logs, nil
}

// empty has a file lose what is in it, if it is still there.
func (r *recycling) empty(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.Stat(name); err != nil {
		return nil // Pebble has used or deleted it meanwhile
	}
	if err := r.Remove(name); err != nil {
		return err
	}
	f, err := r.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return f.Close()
}

// dropLogs empties the logs that there are: Flush first writes all that they have
// into tables, and has Pebble begin another. That may be one of the old ones, so
// it is done twice.
func (s *Store) dropLogs() error {
	for range 2 {
		logs, err := s.fs.logs(s.log.dir)
		if err != nil {
			return fmt.Errorf("store %s: list logs: %w", s.log.dir, err)
		}
		if err := s.Flush(); err != nil {
			return err
		}
		for _, name := range logs {
			if err := s.fs.empty(name); err != nil {
				return fmt.Errorf("store %s: empty the log %s: %w", s.log.dir, name, err)
			}
		}
	}
	return nil
}
