package durable

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// WriteFile replaces the file name by what write produces, or changes nothing:
// a temporary file beside it is written, synced and renamed, and the directory
// is synced. A temporary file left by a crash is overwritten next time.
func WriteFile(fsys FS, name string, write func(io.Writer) error) error {
	temp := name + ".tmp"
	f, err := Create(fsys, temp)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", temp, plain(err)), fsys.Remove(temp))
	}
	if err := fsys.Rename(temp, name); err != nil {
		return fmt.Errorf("rename %s: %w", temp, plain(err))
	}
	return SyncDir(fsys, fsys.PathDir(name))
}

// Truncate cuts the file name to size bytes, durably. On a file system without
// descriptors (memory) it writes the kept part into a new file of that name.
// No writer may have the file open.
func Truncate(fsys FS, name string, size int64) error {
	f, err := OpenWrite(fsys, name)
	if err != nil {
		return err
	}
	if fd := f.Fd(); fd != vfs.InvalidFd {
		err = errors.Join(syscall.Ftruncate(int(fd), size), f.Sync(), f.Close())
	} else {
		err = WriteFile(fsys, name, func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(f, 0, size))
			return err
		})
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("cut %s to %d bytes: %w", name, size, plain(err))
	}
	return nil
}
