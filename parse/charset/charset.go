package charset

import (
	"bytes"
	"mime"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// Source tells what an answer of Detect rests on.
type Source string

const (
	Valid    Source = "valid-utf8" // the whole body is UTF-8 and not only ASCII
	BOM      Source = "bom"        // byte order mark
	Header   Source = "header"     // charset parameter of Content-Type
	Meta     Source = "meta"       // declaration in the page, or in its XML prolog
	Sniffed  Source = "sniffed"    // frequencies of bytes and letters
	Fallback Source = "default"    // nothing to go by: plain ASCII, undeclared
)

// fallback is what browsers take where nothing tells.
const fallback = "windows-1252"

// Detect names the character set of body. contentType is the header's value
// and may be empty.
func Detect(body []byte, contentType string) (string, Source) {
	return detect(body, contentType, firstHigh(body))
}

// detect is Detect with the index of the first byte over 0x7F, or -1.
func detect(body []byte, contentType string, high int) (string, Source) {
	if name := byBOM(body); name != "" {
		return name, BOM
	}
	if high >= 0 && validUTF8(body[high:]) {
		return "utf-8", Valid
	}
	if high < 0 && !seven(body) {
		return declaredOr(body, contentType, fallback, Fallback)
	}
	if name, src := declaredOr(body, contentType, "", ""); name != "" && !(name == "utf-8" && lies(body[max(high, 0):])) {
		return name, src
	}
	if name := utf16Look(body); name != "" {
		return name, Sniffed
	}
	if name := sniff(body); name != "" {
		return name, Sniffed
	}
	return fallback, Fallback
}

// declaredOr returns the declared character set, or the given answer.
func declaredOr(body []byte, contentType, name string, src Source) (string, Source) {
	if n := fromHeader(contentType); n != "" {
		return n, Header
	}
	if n := Prescan(body); n != "" {
		return n, Meta
	}
	return name, src
}

// ToUTF8 returns body in UTF-8, and the name of the character set it was in.
// The result is valid UTF-8: what cannot be decoded becomes U+FFFD. It shares
// memory with body where nothing had to be changed.
func ToUTF8(body []byte, contentType string) ([]byte, string) {
	high := firstHigh(body)
	name, src := detect(body, contentType, high)
	switch {
	case src == Valid:
		return trimTail(body), name
	case high < 0 && name != "iso-2022-jp" && !strings.HasPrefix(name, "utf-16"):
		return body, name // every other character set of the standard keeps ASCII
	case name == "utf-8":
		return bytes.ToValidUTF8(bytes.TrimPrefix(body, bomUTF8), replacement), name
	}
	return decode(body, name), name
}

var (
	bomUTF8     = []byte("\xEF\xBB\xBF")
	replacement = []byte("\uFFFD")
)

func decode(body []byte, name string) []byte {
	enc := byName(name)
	if enc == nil {
		return bytes.ToValidUTF8(body, replacement)
	}
	if strings.HasPrefix(name, "utf-16") && len(body) >= 2 && (body[0] == 0xFE || body[0] == 0xFF) {
		body = body[2:]
	}
	out, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		// The decoders of x/text replace what is wrong and return no error;
		// this is what is left if one of them should.
		return bytes.ToValidUTF8(body, replacement)
	}
	return out
}

// byName returns the decoder of a name that Detect returned.
func byName(name string) encoding.Encoding {
	if enc, ok := beyond[name]; ok {
		return enc
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return enc
}

// canonical returns the standard's name for a label, or "" for one that is
// unknown or that the standard refuses to decode.
func canonical(label string) string {
	label = strings.ToLower(strings.TrimSpace(label))
	if name, ok := aliases[label]; ok {
		return name
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(enc)
	if err != nil || name == "replacement" {
		return ""
	}
	return name
}

func fromHeader(contentType string) string {
	if !strings.Contains(contentType, "=") {
		return ""
	}
	if _, name, ok := strings.Cut(contentType, "; charset="); ok && isWord(name) {
		return canonical(name) // nearly all there are
	}
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		return canonical(params["charset"])
	}
	// Servers send parameters that no grammar allows; take what follows the word.
	_, rest, ok := strings.Cut(strings.ToLower(contentType), "charset=")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, ";")
	return canonical(strings.Trim(rest, " \t\"'"))
}

// isWord reports whether s is of letters, digits and dashes only.
func isWord(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '-'
	}) < 0
}

func byBOM(body []byte) string {
	switch {
	case bytes.HasPrefix(body, bomUTF8):
		return "utf-8"
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		return "utf-16be"
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		return "utf-16le"
	}
	return ""
}
