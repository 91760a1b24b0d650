package warc

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// HTTPBlock returns the head of an HTTP message as a response record stores
// it; the body follows it. Names are in alphabetical order. Fields about the
// transfer (Content-Encoding, Transfer-Encoding) are left out, because bodies
// are stored decoded, and Content-Length is that of the stored body. A negative
// length stands for a message that has no body by its nature (304):
// Content-Length stays as received.
func HTTPBlock(status int, h http.Header, length int64) []byte {
	b := make([]byte, 0, 512)
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\n"...)
	names := make([]string, 0, len(h))
	for name := range h {
		if isToken(name) && (!transfer(name) || length < 0 && name == "Content-Length") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range h[name] {
			b = append(append(b, name...), ": "...)
			b = append(appendLine(b, v), "\r\n"...)
		}
	}
	if length >= 0 {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, length, 10)
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...)
}

// transfer reports whether a field speaks of how the body travelled.
func transfer(name string) bool {
	for _, field := range [...]string{"Content-Encoding", "Transfer-Encoding", "Content-Length", "Trailer"} {
		if equalFold(name, field) {
			return true
		}
	}
	return false
}

// ErrHTTP is in the chain of errors of ParseHTTP.
var ErrHTTP = errors.New("not an HTTP response")

// ParseHTTP splits the block of a response or revisit record. It is lenient, as
// servers are: lines may end with LF alone, and a line that is no field is
// skipped. Body is the rest of block, not copied, and still encoded if the
// writer stored it so.
func ParseHTTP(block []byte) (status int, h http.Header, body []byte, err error) {
	line, rest := cutLine(block)
	version, after, _ := strings.Cut(string(line[:min(len(line), 256)]), " ")
	code, _, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
	status, err = strconv.Atoi(code)
	if !strings.HasPrefix(version, "HTTP/") || err != nil || status < 100 || status > 999 {
		return 0, nil, nil, fmt.Errorf("%w: first line %.60q", ErrHTTP, line)
	}
	head, fields := rest, 0 // the lines up to the empty one: one string for all of them
	for len(rest) > 0 {
		if line, rest = cutLine(rest); len(line) == 0 {
			break
		}
		fields++
	}
	text := string(head[:len(head)-len(rest)])
	h, values := make(http.Header, fields), make([]string, 0, fields)
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r"), ":"); ok && isToken(name) {
			name, values = http.CanonicalHeaderKey(name), append(values, strings.Trim(value, " \t"))
			if old := h[name]; old != nil {
				h[name] = append(old, values[len(values)-1])
			} else {
				h[name] = values[len(values)-1 : len(values) : len(values)]
			}
		}
	}
	return status, h, rest, nil
}

// cutLine returns the first line of b without its end, and what follows.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}
