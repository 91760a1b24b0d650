package sink

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is what an appended file needs of an open file; an *os.File has it.
type File interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
	Stat() (os.FileInfo, error)
}

// appended is a file that is written behind the length that counts, which its
// owner remembers, and cut to it after a crash. Content that was there before
// stays in front. A path that is no regular file (a pipe, /dev/stdout) is
// written at least once: nothing can be cut there.
type appended struct {
	path   string
	f      File
	plain  bool  // a regular file: it has a length
	length int64 // bytes that count: existing content and delivered records
	dirty  bool  // bytes beyond length may be in the file
	open   bool
}

// fileState is what an appended file remembers.
type fileState struct {
	Length int64 `json:"length"`
	Open   bool  `json:"open"` // not closed since: bytes beyond Length are a torn write
}

// resume opens the file, makes it where there is none, and cuts it where the
// last run crashed.
func (s *appended) resume(state json.RawMessage) error {
	f, err := openFile(s.path)
	if err != nil {
		return err
	}
	if err := s.resumeFile(f, state); err != nil {
		s.open = false
		f.Close()
		return err
	}
	return nil
}

func (s *appended) resumeFile(f File, state json.RawMessage) error {
	var was fileState
	if state != nil {
		if err := json.Unmarshal(state, &was); err != nil {
			return fmt.Errorf("what is remembered of %s is damaged: %w", s.path, err)
		}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	s.f, s.open, s.plain, s.length = f, true, info.Mode().IsRegular(), info.Size()
	if !s.plain {
		return nil
	}
	if was.Open && info.Size() > was.Length {
		// The tail is a torn write of ours. A file that is shorter, or that was
		// closed in order, was changed by its owner, who is right.
		s.length = was.Length
		return s.cut()
	}
	return s.endLine()
}

// cut removes what lies beyond the length.
func (s *appended) cut() error {
	if err := s.f.Truncate(s.length); err != nil {
		return err
	}
	s.dirty = false
	return s.f.Sync()
}

// endLine ends a last line of existing content that has no newline.
func (s *appended) endLine() error {
	if s.length == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := s.f.ReadAt(last, s.length-1); err != nil {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	if _, err := s.f.WriteAt([]byte("\n"), s.length); err != nil {
		return err
	}
	s.length++
	return s.f.Sync()
}

// state returns what to remember.
func (s *appended) state() json.RawMessage {
	state, err := json.Marshal(fileState{Length: s.length, Open: s.open && s.plain})
	if err != nil {
		panic(err) // a number and a boolean
	}
	return state
}

// write appends p durably, as a whole.
func (s *appended) write(p []byte) error {
	if !s.plain {
		_, err := s.f.Write(p)
		return err
	}
	// After a failed write or fsync nothing is known of the tail: it is written
	// anew from the last length that counts.
	if s.dirty {
		if err := s.cut(); err != nil {
			return err
		}
	}
	s.dirty = true
	if _, err := s.f.WriteAt(p, s.length); err != nil {
		return err
	}
	if err := s.f.Sync(); err != nil {
		return err
	}
	s.length += int64(len(p))
	s.dirty = false
	return nil
}

// Close implements Sink.
func (s *appended) Close() error {
	if !s.open {
		return nil
	}
	if s.dirty && s.plain {
		if err := s.cut(); err != nil {
			s.f.Close()
			return err
		}
	}
	s.open = false
	return s.f.Close()
}

// openFile opens path for writing; the directory entry of a new file is synced.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if !os.IsNotExist(err) {
		if os.IsPermission(err) { // a pipe or device may be writable only
			return os.OpenFile(path, os.O_WRONLY, 0)
		}
		return f, err
	}
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
