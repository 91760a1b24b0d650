package warc

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CDX is one line of a CDXJ index: where a capture lies in which file.
type CDX struct {
	SURT     string // sort-friendly URL, "com,example)/path"
	Time     time.Time
	URL      string
	MIME     string // "warc/revisit" for revisits, as replay tools expect it
	Status   int    // 0 is left out
	Digest   string // base-32 SHA-1 without "sha1:", as CDX files have it
	Filename string
	Offset   int64
	Length   int64
}

// cdxJSON has the numbers as texts: that is what the common tools write, and
// what the strict ones read.
type cdxJSON struct {
	URL      string `json:"url"`
	MIME     string `json:"mime"`
	Status   string `json:"status,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Length   string `json:"length"`
	Offset   string `json:"offset"`
	Filename string `json:"filename"`
}

// cdxTime is the layout of a CDX timestamp, 14 digits.
const cdxTime = "20060102150405"

// ParseStamp returns the first and the last moment of what a timestamp of 4, 6, 8,
// 10, 12 or 14 digits means: "2026" is a whole year, 14 digits are a second.
func ParseStamp(digits string) (first, last time.Time, err error) {
	n := len(digits)
	if n < 4 || n > len(cdxTime) || n%2 == 1 {
		return first, last, fmt.Errorf("timestamp %q: want YYYYMMDDhhmmss, or the first 4, 6, 8, 10 or 12 digits of it", digits)
	}
	if first, err = time.Parse(cdxTime[:n], digits); err != nil {
		return first, last, fmt.Errorf("timestamp %q: %w", digits, err)
	}
	switch n {
	case 4:
		last = first.AddDate(1, 0, 0)
	case 6:
		last = first.AddDate(0, 1, 0)
	case 8:
		last = first.AddDate(0, 0, 1)
	case 10:
		last = first.Add(time.Hour)
	case 12:
		last = first.Add(time.Minute)
	default:
		last = first.Add(time.Second)
	}
	return first, last.Add(-time.Nanosecond), nil
}

// Append appends the line, newline included. Lines that are sorted by their
// bytes make an index.
func (c *CDX) Append(dst []byte) []byte {
	j := cdxJSON{URL: c.URL, MIME: c.MIME, Digest: strings.TrimPrefix(c.Digest, "sha1:"), Filename: c.Filename,
		Offset: strconv.FormatInt(c.Offset, 10), Length: strconv.FormatInt(c.Length, 10)}
	if c.Status != 0 {
		j.Status = strconv.Itoa(c.Status)
	}
	dst = append(append(dst, strings.ReplaceAll(c.SURT, " ", "%20")...), ' ')
	dst = append(c.Time.UTC().AppendFormat(dst, cdxTime), ' ')
	b, _ := json.Marshal(j) // a struct of texts always has a form
	return append(append(dst, b...), '\n')
}

// ParseCDX reads a line that Append or another tool wrote: numbers may be
// texts or numbers, timestamps have 14 to 17 digits.
func ParseCDX(line string) (c CDX, err error) {
	surt, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	stamp, object, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || len(stamp) < 14 || len(stamp) > 17 {
		return c, fmt.Errorf("CDXJ line %.80q: want SURT, timestamp and JSON", line)
	}
	if c.Time, err = time.Parse(cdxTime, stamp[:14]); err != nil {
		return c, fmt.Errorf("CDXJ line %.80q: timestamp: %w", line, err)
	}
	var j struct {
		URL, MIME, Digest, Filename string
		Status, Offset, Length      number
	}
	if err := json.Unmarshal([]byte(object), &j); err != nil {
		return c, fmt.Errorf("CDXJ line %.80q: %w", line, err)
	}
	c.SURT, c.URL, c.MIME, c.Digest, c.Filename = surt, j.URL, j.MIME, j.Digest, j.Filename
	c.Status, c.Offset, c.Length = int(j.Status), int64(j.Offset), int64(j.Length)
	return c, nil
}

// number is a JSON number, or a text that is one.
type number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "" || s == "-" || s == "null" {
		return nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	*n = number(v)
	return err
}
