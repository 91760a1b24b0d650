package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is a file system; File an open file of it. A file opened for writing is
// written with WriteAt: there is no append mode, the owner knows its length.
type (
	FS   = vfs.FS
	File = vfs.File
)

// ErrLocked is what Lock returns for a directory that another process, or
// another store of this one, has open.
var ErrLocked = errors.New("in use by another process")

// category names our writes in Pebble's own statistics, which are not used.
const category = vfs.WriteCategoryUnspecified

// Disk returns the file system of the machine.
func Disk() FS { return vfs.Default }

// Create makes the file name for reading and writing; one that exists is
// replaced.
func Create(fsys FS, name string) (File, error) {
	f, err := fsys.Create(name, category)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, plain(err))
	}
	return f, nil
}

// OpenWrite opens the existing file name for reading and writing.
func OpenWrite(fsys FS, name string) (File, error) {
	if _, err := fsys.Stat(name); err != nil { // OpenReadWrite would create it
		return nil, fmt.Errorf("open %s: %w", name, plain(err))
	}
	f, err := fsys.OpenReadWrite(name, category)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, plain(err))
	}
	return f, nil
}

// Open opens the file name for reading.
func Open(fsys FS, name string) (File, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, plain(err))
	}
	return f, nil
}

// Size returns the length of an open file in bytes.
func Size(f File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, plain(err)
	}
	return info.Size(), nil
}

// SyncDir makes the names in dir durable: files created, renamed or removed.
func SyncDir(fsys FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("open directory %s: %w", dir, plain(err))
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, plain(err))
	}
	return nil
}

// Lock takes the lock file name, made where it is missing. It is held until
// the returned closer is closed or the process ends. The error of a lock that
// is taken is ErrLocked.
func Lock(fsys FS, name string) (io.Closer, error) {
	l, err := fsys.Lock(name)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES) && !errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("lock %s: %w", name, ErrLocked)
	}
	if _, stat := fsys.Stat(name); stat == nil && !errors.Is(err, fs.ErrPermission) {
		// In memory, and within one process, the error is only a text.
		return nil, fmt.Errorf("lock %s: %w", name, ErrLocked)
	}
	return nil, fmt.Errorf("lock %s: %w", name, plain(err))
}

// plain strips the stack trace that Pebble's errors carry, so that messages
// stay one line, and keeps the cause for errors.Is.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// MkdirAll makes dir and what is missing above it, durably.
func MkdirAll(fsys FS, dir string) error {
	var missing []string
	for d := dir; ; d = fsys.PathDir(d) {
		if _, err := fsys.Stat(d); err == nil || d == fsys.PathDir(d) {
			break
		}
		missing = append(missing, d)
	}
	if err := fsys.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make directory %s: %w", dir, plain(err))
	}
	for _, d := range missing {
		if err := SyncDir(fsys, fsys.PathDir(d)); err != nil {
			return err
		}
	}
	return nil
}
