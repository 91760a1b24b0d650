package container

import (
	"net/http"
	"net/netip"
	"time"

	"octopus"
	"octopus/warc"
)

// Kind tells what a version is.
type Kind uint8

const (
	// Full: the record holds the whole answer (WARC response).
	Full Kind = iota + 1
	// Same: the payload is that of an earlier record (WARC revisit,
	// identical-payload-digest). Status and headers are this visit's own.
	Same
	// NotModified: the server answered 304 (WARC revisit, server-not-modified).
	// Status, headers and payload are those of the version it refers to.
	NotModified
	// Tombstone: the URL was deleted (WARC metadata).
	Tombstone
)

var kindNames = [...]string{"", "full", "same", "not-modified", "tombstone"}

// String returns the kind as a lower-case word.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Entry is a page to store, and what else should be kept with it.
type Entry struct {
	Page *octopus.Page
	// Digest is that of Page.Body as warc.Digest makes it, where the caller
	// has it already; empty means that Put computes it. Of an answer 304 it is that
	// of the payload that has not changed, where the caller knows it.
	Digest string
	// Meta becomes a WARC metadata record beside the page, if it is not empty:
	// via, hopsFromSeed, outlink lines or whatever the caller wants to keep.
	Meta []warc.Field
}

// Ref is where a version lies.
type Ref struct {
	Segment int   // number of the segment, from 1
	Offset  int64 // of the record's gzip member in it
	Length  int64 // in bytes, metadata record included
}

// Result tells what Put did.
type Result struct {
	Ref  Ref
	Kind Kind
	// DuplicateOf is the URL under which the same payload was stored first;
	// empty where the payload was new or known under the same URL only.
	DuplicateOf string
	// Known tells that this very visit (URL, time and payload) was stored
	// before, and nothing was written.
	Known bool
}

// Stored is a version read back.
type Stored struct {
	URL    string
	Time   time.Time // when the capture began
	Kind   Kind
	Status int
	Header http.Header
	Body   []byte
	Digest string // of Body
	IP     netip.Addr
	// Truncated says why Body is not whole, as octopus.Page has it.
	Truncated string
	Meta      []warc.Field
	Ref       Ref
	// RefersTo is the URL and time of the record that holds the payload; zero
	// for Full.
	RefersTo     string
	RefersToTime time.Time

	record int64 // length of the page's own record in the unit
}
