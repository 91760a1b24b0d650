//go:build unix

package seen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"octopus/internal/durable"
)

// createMapped makes the file of a layer, whole or not at all, and maps it.
func (l *layer) createMapped(name string) error {
	temp := name + ".tmp"
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(l.header(true)); err != nil {
		return err
	}
	if err := f.Truncate(headerBytes + int64(l.lines)*lineBytes); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), os.Rename(temp, name), durable.SyncDir(durable.Disk(), filepath.Dir(name))); err != nil {
		return err
	}
	return l.mapWords(f)
}

// openMapped maps the file of a layer. One that was a snapshot becomes a
// mapped file first.
func openMapped(name string) (*layer, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := make([]byte, headerBytes)
	if _, err := f.ReadAt(h, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l, mapped, err := parseHeader(h)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file to go on without what it remembers", name, err)
	}
	if !mapped {
		if l, err = loadLayer(durable.Disk(), name); err != nil {
			return nil, err
		}
		if _, err := f.WriteAt(l.header(true), 0); err != nil {
			return nil, err
		}
		if err := errors.Join(f.Truncate(headerBytes+int64(l.lines)*lineBytes), f.Sync()); err != nil {
			return nil, err
		}
	}
	if info, err := f.Stat(); err != nil || info.Size() != headerBytes+int64(l.lines)*lineBytes {
		return nil, errors.Join(err, fmt.Errorf("%s: its length does not fit its header; remove the file to go on without what it remembers", name))
	}
	return l, l.mapWords(f)
}

// mapWords makes the lines of the file the layer's words. The mapping lives as
// long as the process.
func (l *layer) mapWords(f *os.File) error {
	data, err := unix.Mmap(int(f.Fd()), 0, headerBytes+int(l.lines)*lineBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", f.Name(), err)
	}
	body := data[headerBytes:]
	l.words = unsafe.Slice((*uint64)(unsafe.Pointer(&body[0])), l.lines*lineWords)
	l.flush = func() error {
		copy(data, l.header(true))
		if err := unix.Msync(data, unix.MS_SYNC); err != nil {
			return fmt.Errorf("write %s back: %w", f.Name(), err)
		}
		return nil
	}
	return nil
}
