package warc

import (
	"io"
	"net/netip"
	"time"
)

// Type is the value of WARC-Type.
type Type string

// The types of WARC 1.1.
const (
	Warcinfo     Type = "warcinfo"     // about the file: software, operator
	Response     Type = "response"     // what a server answered
	Revisit      Type = "revisit"      // as Response, but the payload is in an earlier record
	Request      Type = "request"      // what was asked
	Metadata     Type = "metadata"     // about another record
	Resource     Type = "resource"     // a file without protocol around it
	Conversion   Type = "conversion"   // another form of a record, such as its text
	Continuation Type = "continuation" // a further segment of a record; read, never written
)

// Profiles of revisit records.
const (
	// SamePayload: the payload is byte for byte that of the record referred to.
	SamePayload = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	// NotModified: the server answered 304 to a conditional request.
	NotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// Content types of blocks.
const (
	HTTPResponse = "application/http;msgtype=response"
	HTTPRequest  = "application/http;msgtype=request"
	WARCFields   = "application/warc-fields"
)

// Record is the header of a WARC record. Zero fields are left out when it is
// written, and are zero when they were absent where it was read. Texts may hold
// anything: what would break the line structure is replaced by spaces.
type Record struct {
	Type        Type
	ID          string    // URI without angle brackets; see NewID
	Date        time.Time // the instant the capture began
	TargetURI   string
	ContentType string // of the block
	IP          netip.Addr

	PayloadDigest string // "sha1:" and 32 base-32 digits, see Digest
	BlockDigest   string
	Truncated     string // length, time, disconnect or unspecified

	Profile       string // of a revisit
	RefersTo      string // record ID
	RefersToURI   string
	RefersToDate  time.Time
	ConcurrentTo  []string // record IDs
	WarcinfoID    string
	Filename      string  // of a warcinfo
	IdentifiedAs  string  // WARC-Identified-Payload-Type
	Other         []Field // all other named fields, in their order
	ContentLength int64   // bytes of the block; the writer counts for itself

	// What the Reader adds.
	Version string // "1.0" or "1.1"
	Offset  int64  // of the record, or of its gzip member, in the file
	Block   io.Reader
}

// Field is a named field.
type Field struct{ Name, Value string }

// Get returns the value of the first of the Other fields with that name,
// compared without case.
func (r *Record) Get(name string) string {
	for _, f := range r.Other {
		if equalFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}
