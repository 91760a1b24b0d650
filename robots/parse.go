package robots

import (
	"bytes"
	"strings"
	"time"
)

// Limits of what is read of a robots.txt.
const (
	// MaxSize is how many bytes of a file count; RFC 9309 asks for 500 KiB at
	// least. A longer file is cut after its last whole line.
	MaxSize = 512 << 10
	// MaxLine is how many bytes of a line count: eight times the longest URL
	// that browsers used to take, as Google's parser has it.
	MaxLine = 2083*8 - 1
)

// File is a parsed robots.txt.
type File struct {
	blocks   []block
	sitemaps []string
}

// block is a run of user-agent lines with the rules below them. Other
// directives do not end it.
type block struct {
	agents []string // product tokens in lower case; "*" for all
	rules  []rule
	delays []delay
}

// rule is one Allow or Disallow line.
type rule struct {
	pattern string // escaped
	allow   bool
	line    int
}

// delay is one Crawl-delay or Request-rate line. It holds for the agents named
// so far, not for those that a later user-agent line adds to the block.
type delay struct {
	agents int
	gap    time.Duration
	rate   bool
	line   int
}

// Parse reads a robots.txt; any bytes will do, garbage gives a file without
// rules. Memory is a small multiple of the text, at most MaxSize of it.
func Parse(text []byte) *File {
	p := parser{file: &File{}}
	p.run(clip(text))
	return p.file
}

// Sitemaps returns the Sitemap values of the whole file, as given, in order,
// each once.
func (f *File) Sitemaps() []string { return f.sitemaps }

// clip cuts a text that is too long after its last whole line.
func clip(text []byte) []byte {
	if len(text) <= MaxSize {
		return text
	}
	text = text[:MaxSize]
	return text[:bytes.LastIndexAny(text, "\r\n")+1]
}

// parser holds the state between lines.
type parser struct {
	file  *File
	open  bool // the last block still takes user-agent lines
	seen  map[string]bool
	lines int
}

func (p *parser) run(text []byte) {
	text = skipBOM(text)
	for len(text) > 0 {
		line := text
		if i := bytes.IndexAny(text, "\r\n"); i < 0 {
			text = nil
		} else {
			line = text[:i]
			if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			text = text[i+1:]
		}
		p.lines++
		p.line(line)
	}
}

// skipBOM drops a UTF-8 byte order mark, a torn one too.
func skipBOM(text []byte) []byte {
	for i, b := range []byte{0xEF, 0xBB, 0xBF} {
		if i >= len(text) || text[i] != b {
			return text[i:]
		}
	}
	return text[3:]
}

// line takes one line apart and applies it.
func (p *parser) line(raw []byte) {
	raw = raw[:min(len(raw), MaxLine)]
	if i := bytes.IndexAny(raw, "#\x00"); i >= 0 {
		raw = raw[:i]
	}
	key, value, ok := split(string(trim(raw)))
	if !ok {
		return
	}
	switch directive(key) {
	case userAgent:
		p.agent(value)
	case allow, disallow:
		p.rule(value, directive(key) == allow)
	case sitemap:
		p.sitemap(value)
	case crawlDelay:
		if d, ok := parseDelay(value); ok {
			p.delay(delay{gap: d})
		}
	case requestRate:
		if d, ok := parseRate(value); ok {
			p.delay(delay{gap: d, rate: true})
		}
	}
}

// split cuts a line at its first colon. Where there is none, white space will
// do if it leaves exactly two words: people forget the colon.
func split(line string) (key, value string, ok bool) {
	if key, value, ok = strings.Cut(line, ":"); !ok {
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return "", "", false
		}
		key, value = line[:i], strings.TrimLeft(line[i:], " \t")
		if strings.ContainsAny(value, " \t") {
			return "", "", false
		}
	}
	key, value = string(trim([]byte(key))), string(trim([]byte(value)))
	return key, value, key != ""
}

// trim removes ASCII white space from both ends.
func trim(b []byte) []byte { return bytes.Trim(b, " \t\n\v\f\r") }

func (p *parser) agent(value string) {
	if !p.open {
		p.file.blocks = append(p.file.blocks, block{})
		p.open = true
	}
	b := &p.file.blocks[len(p.file.blocks)-1]
	if value != "" && value[0] == '*' && (len(value) == 1 || strings.IndexByte(" \t\v\f", value[1]) >= 0) {
		b.agents = append(b.agents, "*")
		return
	}
	b.agents = append(b.agents, strings.ToLower(Token(value)))
}

func (p *parser) rule(value string, allows bool) {
	if len(p.file.blocks) == 0 {
		return // a rule before any user-agent line is for nobody
	}
	p.open = false
	if value == "" {
		return // an empty pattern matches nothing that counts
	}
	b := &p.file.blocks[len(p.file.blocks)-1]
	b.rules = append(b.rules, rule{pattern: escape(value), allow: allows, line: p.lines})
}

func (p *parser) delay(d delay) {
	if len(p.file.blocks) == 0 {
		return
	}
	b := &p.file.blocks[len(p.file.blocks)-1]
	d.agents, d.line = len(b.agents), p.lines
	b.delays = append(b.delays, d)
}

func (p *parser) sitemap(value string) {
	if value == "" || p.seen[value] {
		return
	}
	if p.seen == nil {
		p.seen = make(map[string]bool)
	}
	p.seen[value] = true
	p.file.sitemaps = append(p.file.sitemaps, value)
}
