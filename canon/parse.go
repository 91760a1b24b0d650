package canon

import (
	"errors"
	"strconv"

	whatwg "github.com/nlnwa/whatwg-url/errors"

	"octopus"
)

// MaxLen is the length in bytes over which text is no URL, before and after
// canonicalization. Servers and browsers give up far below it.
const MaxLen = 8192

// Reasons why text is not a URL here; an [Error] carries one of them.
var (
	ErrScheme = errors.New("not an http or https URL")
	ErrLength = errors.New("longer than " + strconv.Itoa(MaxLen) + " bytes")
	ErrOdd    = errors.New("more than " + strconv.Itoa(maxSlashes) + " slashes or " + strconv.Itoa(maxAts) + " @ signs in front of the query")
	ErrNoBase = errors.New("relative URL without a base; write it with http:// or https://")
)

// Error tells which text is not a URL and why.
type Error struct {
	Input string // as given
	Err   error  // ErrScheme, ErrLength, ErrOdd, ErrNoBase, or what the URL Standard objects to
}

// Error returns the reason with the text, cut to a readable length.
func (e *Error) Error() string {
	in := e.Input
	if len(in) > 200 {
		in = in[:200] + "…"
	}
	why := e.Err.Error()
	if objection := whatwg.Type(e.Err); objection != "" { // the whole would say the URL again
		why = string(objection)
	}
	return "URL " + strconv.Quote(in) + ": " + why
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Parse makes a canonical URL of absolute text. The error is an *Error.
func Parse(text string) (octopus.URL, error) {
	var b Base
	return b.Resolve(text)
}

// Resolve makes a canonical URL of a reference met on the page base. Who has
// many references on one page makes a [Base].
func Resolve(base octopus.URL, ref string) (octopus.URL, error) {
	b := NewBase(base)
	return b.Resolve(ref)
}
