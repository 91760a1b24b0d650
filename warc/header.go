package warc

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// appendHeader appends version line, named fields and the empty line. length is
// that of the block.
func (r *Record) appendHeader(dst []byte, length int64) []byte {
	dst = append(dst, "WARC/1.1\r\n"...)
	dst = appendField(dst, "WARC-Type", string(r.Type))
	dst = appendURI(dst, "WARC-Record-ID", r.ID)
	dst = appendDate(dst, "WARC-Date", r.Date)
	dst = appendField(dst, "WARC-Target-URI", strings.ReplaceAll(r.TargetURI, " ", "%20"))
	if r.IP.IsValid() {
		dst = appendField(dst, "WARC-IP-Address", r.IP.Unmap().WithZone("").String())
	}
	dst = appendField(dst, "WARC-Profile", r.Profile)
	dst = appendURI(dst, "WARC-Refers-To", r.RefersTo)
	dst = appendField(dst, "WARC-Refers-To-Target-URI", strings.ReplaceAll(r.RefersToURI, " ", "%20"))
	dst = appendDate(dst, "WARC-Refers-To-Date", r.RefersToDate)
	for _, id := range r.ConcurrentTo {
		dst = appendURI(dst, "WARC-Concurrent-To", id)
	}
	dst = appendURI(dst, "WARC-Warcinfo-ID", r.WarcinfoID)
	dst = appendField(dst, "WARC-Filename", r.Filename)
	dst = appendField(dst, "WARC-Truncated", r.Truncated)
	dst = appendField(dst, "WARC-Payload-Digest", r.PayloadDigest)
	dst = appendField(dst, "WARC-Block-Digest", r.BlockDigest)
	dst = appendField(dst, "WARC-Identified-Payload-Type", r.IdentifiedAs)
	for _, f := range r.Other {
		dst = appendField(dst, f.Name, f.Value)
	}
	dst = appendField(dst, "Content-Type", r.ContentType)
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, length, 10)
	return append(dst, "\r\n\r\n"...)
}

// appendField appends one line; an empty value or a name that is no token is
// left out.
func appendField(dst []byte, name, value string) []byte {
	if value == "" || !isToken(name) {
		return dst
	}
	dst = append(append(dst, name...), ": "...)
	dst = appendLine(dst, value)
	return append(dst, "\r\n"...)
}

func appendURI(dst []byte, name, uri string) []byte {
	if uri == "" {
		return dst
	}
	return appendField(dst, name, "<"+uri+">")
}

func appendDate(dst []byte, name string, t time.Time) []byte {
	if t.IsZero() {
		return dst
	}
	return appendField(dst, name, FormatDate(t))
}

// FormatDate returns t as WARC-Date has it: UTC, with as many digits of the
// second as it takes.
func FormatDate(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999999Z") }

// appendLine appends s with everything that could end a line or hide in it
// replaced by a space: a header value of a hostile server must not become a
// field of its own.
func appendLine(dst []byte, s string) []byte {
	start := len(dst)
	dst = append(dst, s...)
	for i, c := range dst[start:] {
		if c < ' ' && c != '\t' || c == 0x7f {
			dst[start+i] = ' '
		}
	}
	return dst
}

// set stores a named field that was read. A field that is met again keeps its
// first value.
func (r *Record) set(name, value string) {
	text := func(p *string) {
		if *p == "" {
			*p = value
		}
	}
	switch strings.ToLower(name) {
	case "warc-type":
		if r.Type == "" {
			r.Type = Type(strings.ToLower(value))
		}
	case "warc-record-id":
		value = bare(value)
		text(&r.ID)
	case "warc-date":
		setDate(&r.Date, value)
	case "warc-target-uri":
		value = bare(value)
		text(&r.TargetURI)
	case "warc-ip-address":
		if ip, err := netip.ParseAddr(value); err == nil && !r.IP.IsValid() {
			r.IP = ip
		}
	case "warc-profile":
		text(&r.Profile)
	case "warc-refers-to":
		value = bare(value)
		text(&r.RefersTo)
	case "warc-refers-to-target-uri":
		value = bare(value)
		text(&r.RefersToURI)
	case "warc-refers-to-date":
		setDate(&r.RefersToDate, value)
	case "warc-concurrent-to":
		r.ConcurrentTo = append(r.ConcurrentTo, bare(value))
	case "warc-warcinfo-id":
		value = bare(value)
		text(&r.WarcinfoID)
	case "warc-filename":
		text(&r.Filename)
	case "warc-truncated":
		text(&r.Truncated)
	case "warc-payload-digest":
		text(&r.PayloadDigest)
	case "warc-block-digest":
		text(&r.BlockDigest)
	case "warc-identified-payload-type":
		text(&r.IdentifiedAs)
	case "content-type":
		text(&r.ContentType)
	default:
		r.Other = append(r.Other, Field{name, value})
	}
}

// bare strips the angle brackets that URIs have in WARC-Record-ID, and that
// some tools write around target URIs too.
func bare(uri string) string {
	if len(uri) > 2 && uri[0] == '<' && uri[len(uri)-1] == '>' {
		return uri[1 : len(uri)-1]
	}
	return uri
}

func setDate(t *time.Time, value string) {
	if d, err := time.Parse(time.RFC3339Nano, value); err == nil && t.IsZero() {
		*t = d.UTC()
	}
}

func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

func upper(s string) []byte { return []byte(strings.ToUpper(s)) }
