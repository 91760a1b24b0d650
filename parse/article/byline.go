package article

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// bylines are the words before the name of an author, lower case.
var bylines = [...]string{"written by", "posted by", "published by", "by", "von", "par", "por", "door", "autor", "autorin", "author", "text",
	"作者", "文", "记者", "記者"}

// byline looks for the author in the short lines around the heading: "By Ann
// Author", "作者：张三".
func (h *head) byline() string {
	from := max(0, h.title-3)
	for i := from; i < min(len(h.page.blocks), h.title+12); i++ {
		b := &h.page.blocks[i]
		if len(b.words) > 14 || b.ctx.within&(inNav|inFooter) != 0 {
			continue
		}
		if name := nameAfter(b.text); name != "" {
			return name
		}
	}
	return ""
}

func nameAfter(line string) string {
	lower := strings.ToLower(line)
	for _, word := range bylines {
		if len(lower) != len(line) || !strings.HasPrefix(lower, word) {
			continue
		}
		rest := line[len(word):]
		trimmed := strings.TrimLeft(rest, " :：/\u00a0")
		if trimmed == rest {
			continue // part of a longer word
		}
		return leadingName(trimmed)
	}
	return ""
}

// leadingName returns the capitalized words at the beginning of s, at least two
// and at most four, or two to four Chinese characters.
func leadingName(s string) string {
	if isCJK(firstRune(s)) {
		n := strings.IndexFunc(s, func(r rune) bool { return !isCJK(r) })
		if n < 0 {
			n = len(s)
		}
		if c := utf8.RuneCountInString(s[:n]); c >= 2 && c <= 4 {
			return s[:n]
		}
		return ""
	}
	var name []string
	for _, w := range strings.Fields(s) {
		bare := strings.TrimRight(w, ",.;|·")
		if len(name) == 4 || bare == "" || !unicode.IsUpper(firstRune(bare)) {
			break
		}
		name = append(name, bare)
		if bare != w && !strings.HasSuffix(w, ".") {
			break
		}
	}
	if len(name) < 2 {
		return ""
	}
	return strings.Join(name, " ")
}

// timeElement returns the day of the first time element behind the heading, or
// else the first one of all.
func timeElement(doc *html.Node) string {
	first, seen := "", false
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "h1":
			seen = true
		case "time":
			d := day(attr(n, "datetime"))
			if d != "" && seen {
				return d
			}
			if first == "" {
				first = d
			}
		}
	}
	return first
}
