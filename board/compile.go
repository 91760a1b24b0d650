package board

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"octopus"
	"octopus/canon"
)

// Rules is a compiled board. All methods may be called by many goroutines at
// once.
type Rules struct {
	board   octopus.Board
	article []pattern
	accept  []pattern
	reject  []pattern
	noMatch string // what Decision.Rule says where no accept pattern matches
	tooDeep string // … and where the depth does it

	mu    sync.Mutex // serializes extend
	scope atomic.Pointer[scope]
}

// pattern is a compiled regular expression with the words for its decisions.
type pattern struct {
	re   *regexp.Regexp
	rule string
}

// Compile checks a board and makes its rules. An empty scope means host. The
// error names the field, its value and what is wrong with it.
func Compile(b octopus.Board) (*Rules, error) {
	if strings.ContainsRune(b.Name, 0) {
		return nil, fmt.Errorf("board %q: the name must not hold a zero byte", b.Name)
	}
	if b.Scope == "" {
		b.Scope = octopus.ScopeHost
	}
	r := &Rules{board: b, noMatch: "no accept pattern matches", tooDeep: fmt.Sprintf("deeper than %d", b.Depth)}
	for _, f := range []struct {
		name  string
		texts []string
		into  *[]pattern
	}{{"accept", b.Accept, &r.accept}, {"reject", b.Reject, &r.reject}, {"article", b.Article, &r.article}} {
		var err error
		if *f.into, err = compilePatterns(f.name, f.texts); err != nil {
			return nil, fmt.Errorf("board %q: %w", b.Name, err)
		}
	}
	s, err := newScope(b)
	if err != nil {
		return nil, fmt.Errorf("board %q: %w", b.Name, err)
	}
	r.scope.Store(s)
	return r, nil
}

// Board returns the board as it was compiled.
func (r *Rules) Board() octopus.Board { return r.board }

// Entries returns the board's entries in canonical form.
func (r *Rules) Entries() []octopus.URL {
	urls := make([]octopus.URL, 0, len(r.board.Entry))
	for _, e := range r.board.Entry {
		if u, err := canon.Parse(e); err == nil { // Compile has parsed it before
			urls = append(urls, u)
		}
	}
	return urls
}

func compilePatterns(field string, texts []string) ([]pattern, error) {
	out := make([]pattern, 0, len(texts))
	for i, text := range texts {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, &PatternError{Field: field, Index: i, Pattern: text, Offset: offset(text, err), Err: err}
		}
		out = append(out, pattern{re, fmt.Sprintf("%s %q", field, text)})
	}
	return out, nil
}

// PatternError tells which pattern of a board does not compile.
type PatternError struct {
	Field   string // "accept", "reject" or "article"
	Index   int    // of the pattern in its field, from 0
	Pattern string
	Offset  int // in bytes, from 0, of what is wrong
	Err     error
}

// Error names the field, the pattern, the position and, where it is known, the
// way out.
func (e *PatternError) Error() string {
	return fmt.Sprintf("%s[%d]: %s", e.Field, e.Index, e.Reason())
}

// Reason is Error without the name of the field.
func (e *PatternError) Reason() string {
	what, hint := e.Err.Error(), ""
	var se *syntax.Error
	if errors.As(e.Err, &se) {
		what = fmt.Sprintf("%s: %q", se.Code, se.Expr)
		switch {
		case lookaround(e.Pattern, se) >= 0:
			hint = "; RE2 has no look-around: write what must not match as a reject pattern"
		case se.Code == syntax.ErrInvalidEscape:
			hint = `; RE2 has no back-references, and a literal backslash is \\`
		}
	}
	at := utf8.RuneCountInString(e.Pattern[:e.Offset]) + 1
	return fmt.Sprintf("pattern %q, character %d: %s%s", e.Pattern, at, what, hint)
}

// Unwrap returns the error of package regexp.
func (e *PatternError) Unwrap() error { return e.Err }

// EntryError tells which entry of a board is no URL.
type EntryError struct {
	Index int // from 0
	Text  string
	Err   error
}

// Error names the entry and what is wrong with it.
func (e *EntryError) Error() string {
	return fmt.Sprintf("entry[%d]: %q is no URL to start from: %v", e.Index, e.Text, e.Err)
}

// Unwrap returns the error of package canon.
func (e *EntryError) Unwrap() error { return e.Err }

// offset finds where in the pattern the compiler stumbled.
func offset(text string, err error) int {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return 0
	}
	if i := lookaround(text, se); i >= 0 {
		return i
	}
	return max(strings.Index(text, se.Expr), 0)
}

// lookaround returns where a pattern that does not compile for it looks ahead or
// behind, or -1.
func lookaround(text string, se *syntax.Error) int {
	if se.Code != syntax.ErrInvalidPerlOp && se.Code != syntax.ErrInvalidNamedCapture {
		return -1
	}
	at := -1
	for _, op := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if i := strings.Index(text, op); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}
