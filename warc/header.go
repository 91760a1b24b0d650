package warc

import (
	"fmt"
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
	dst = append(append(dst, name...), ": <"...)
	return append(appendLine(dst, uri), ">\r\n"...)
}

func appendDate(dst []byte, name string, t time.Time) []byte {
	if t.IsZero() {
		return dst
	}
	dst = append(append(dst, name...), ": "...)
	return append(t.UTC().AppendFormat(dst, dateLayout), "\r\n"...)
}

// dateLayout is that of a WARC-Date, for package time.
const dateLayout = "2006-01-02T15:04:05.999999999Z"

// FormatDate returns t as WARC-Date has it: UTC, with as many digits of the
// second as it takes.
func FormatDate(t time.Time) string { return t.UTC().Format(dateLayout) }

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

var errLongHeader = fmt.Errorf("%w: its header is longer than %d bytes", ErrFormat, maxHeader)

// headerParser takes the lines of a header, without their ends.
type headerParser struct {
	rec         *Record
	name, value string // the field at hand, which folded lines may follow
	length      string
}

func (h *headerParser) version(line string) error {
	version, ok := strings.CutPrefix(line, "WARC/")
	if !ok {
		return fmt.Errorf("%w: it begins with %.20q", ErrFormat, line)
	}
	h.rec.Version = version
	return nil
}

func (h *headerParser) line(line string) (err error) {
	if line[0] == ' ' || line[0] == '\t' { // a folded line (1.0)
		h.value += " " + strings.Trim(line, " \t")
		return nil
	}
	h.keep()
	var ok bool
	if h.name, h.value, ok = strings.Cut(line, ":"); !ok {
		return fmt.Errorf("%w: no colon in header line %.40q", ErrFormat, line)
	}
	h.value = strings.Trim(h.value, " \t")
	return nil
}

func (h *headerParser) keep() {
	if equalFold(h.name, "Content-Length") {
		h.length = h.value
	} else if h.name != "" {
		h.rec.set(h.name, h.value)
	}
	h.name = ""
}

// end checks what a header must have.
func (h *headerParser) end() (err error) {
	h.keep()
	h.rec.ContentLength, err = strconv.ParseInt(h.length, 10, 64)
	if err != nil || h.rec.ContentLength < 0 {
		return fmt.Errorf("%w: Content-Length %.20q", ErrFormat, h.length)
	}
	if h.rec.Type == "" || h.rec.ID == "" {
		return fmt.Errorf("%w: it has no type or no ID", ErrFormat)
	}
	return nil
}

// lower returns name in lower case, in buf. A longer name is none that has a
// meaning.
func lower(buf *[32]byte, name string) []byte {
	for i := range min(len(name), len(buf)) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return buf[:min(len(name), len(buf))]
}

// set stores a named field that was read. A field that is met again keeps its
// first value.
func (r *Record) set(name, value string) {
	text := func(p *string) {
		if *p == "" {
			*p = value
		}
	}
	var buf [32]byte
	switch string(lower(&buf, name)) {
	case "warc-type":
		if r.Type == "" {
			r.Type = Type(strings.ToLower(value)) // most often as it is, and not copied
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
		if !tokenChars[s[i]] {
			return false
		}
	}
	return s != ""
}

// tokenChars holds the characters of a token.
var tokenChars = func() (t [256]bool) {
	for c := '!'; c <= '~'; c++ {
		t[c] = !strings.ContainsRune(`()<>@,;:\"/[]?={}`, c)
	}
	return t
}()

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

func upper(s string) []byte { return []byte(strings.ToUpper(s)) }
