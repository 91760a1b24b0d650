package dateparser

import (
	"errors"
	"strings"
	"time"
	"unicode"
)

// ParserType is a way to read a date. It changes nothing here.
type ParserType uint8

// The parser types that go-htmldate names.
const (
	CustomFormat ParserType = iota
	AbsoluteTime
)

// PreferredDateSource says how to complete a date. Here only complete dates are
// dates, so it changes nothing.
type PreferredDateSource uint8

// Past is what go-htmldate asks for.
const Past PreferredDateSource = 1

// Configuration is what go-htmldate sets. Parse is always strict.
type Configuration struct {
	PreferredDateSource PreferredDateSource
	StrictParsing       bool
}

// Parser reads dates. It has no state.
type Parser struct{ ParserTypes []ParserType }

// Date is a day, at midnight UTC.
type Date struct{ Time time.Time }

// ErrNone says that a text has no complete date.
var ErrNone = errors.New("no date with day, month and year")

// Parse returns the first date in text: a month by name, with a day and a year
// of four digits next to it in any order; or year, month and day as Chinese,
// Japanese and Korean write them.
func (p *Parser) Parse(_ *Configuration, text string, _ ...string) (Date, error) {
	var last [3]token // a window over what may be part of a date
	for rest := text; rest != ""; {
		var t token
		if t, rest = next(rest); t.kind == nothing {
			continue
		}
		last[0], last[1], last[2] = last[1], last[2], t
		if d, ok := date(last); ok {
			return Date{d}, nil
		}
	}
	return Date{}, ErrNone
}

type kind uint8

const (
	nothing kind = iota // a space, a sign, a word that may stand inside a date
	number
	month // a month's name, or a number marked as month
	other // any other word: it ends what was before
)

// token is a piece of text. mark is the CJK sign behind a number, else 0.
type token struct {
	kind  kind
	value int
	mark  rune
}

// next cuts the first token off s.
func next(s string) (token, string) {
	end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) })
	if end < 0 {
		end = len(s)
	}
	if end > 0 {
		return numberToken(s, end)
	}
	end = strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	switch {
	case end == 0:
		for i := range s[1:] { // one sign, of any length in bytes
			return token{}, s[i+1:]
		}
		return token{}, ""
	case end < 0:
		end = len(s)
	}
	word := strings.ToLower(s[:end])
	if m := monthNamed(word); m > 0 {
		return token{kind: month, value: m}, s[end:]
	}
	if inside(word) {
		return token{}, s[end:]
	}
	return token{kind: other}, s[end:]
}

// numberToken reads the digits up to end, and what marks them: 年月日, 년월일,
// or an English ordinal's letters.
func numberToken(s string, end int) (token, string) {
	t := token{kind: number}
	for _, r := range s[:end] {
		if r < '0' || r > '9' || t.value > 9999 {
			return token{kind: other}, s[end:]
		}
		t.value = 10*t.value + int(r-'0')
	}
	rest := s[end:]
	for _, m := range [...]string{"年", "月", "日", "년", "월", "일"} {
		if strings.HasPrefix(rest, m) {
			t.mark = []rune(m)[0]
			return t, rest[len(m):]
		}
	}
	for _, o := range [...]string{"st", "nd", "rd", "th", "er", "º", "ª"} {
		if strings.HasPrefix(rest, o) {
			return t, rest[len(o):]
		}
	}
	return t, rest
}

// date reads three tokens as a date.
func date(t [3]token) (time.Time, bool) {
	y, m, d := t[0], t[1], t[2]
	switch {
	case y.mark != 0 && m.mark != 0 && d.mark != 0 && strings.ContainsRune("年년", y.mark):
	case t[0].kind == number && t[1].kind == month && t[2].kind == number && t[0].value > 31:
	case t[0].kind == number && t[1].kind == month && t[2].kind == number:
		y, d = d, y
	case t[0].kind == month && t[1].kind == number && t[2].kind == number:
		y, m, d = t[2], t[0], t[1]
	default:
		return time.Time{}, false
	}
	day := time.Date(y.value, time.Month(m.value), d.value, 0, 0, 0, 0, time.UTC)
	return day, y.value >= 1000 && y.value <= 9999 && day.Day() == d.value && int(day.Month()) == m.value
}
