package manners

import (
	"fmt"
	"strings"
)

// Traps say which URLs look like an endless URL space. What they catch is
// parked with ReasonTrap, not lost. A limit of 0 means its default, a negative
// one none.
type Traps struct {
	MaxLength   int // bytes of the URL; default 2048
	MaxSegments int // segments of the path; default 20
	MaxRepeats  int // times that one to three segments stand in a row; default 2
	MaxParams   int // parameters of the query; default 30

	// MinYield is the number of fetches of one URL pattern of a host (numbers
	// and parameter values left out) after which the pattern must have brought
	// new content at least once in 20 fetches, or the rest of it is parked. What
	// is the same as a page stored before, or nearly the same as a page of the
	// pattern (octopus.Fingerprint), is not new.
	// Default 200. A restart forgets the last few
	// fetches.
	MinYield int
}

// WithDefaults fills in what is left out.
func (t Traps) WithDefaults() Traps {
	setDefault(&t.MaxLength, 2048)
	setDefault(&t.MaxSegments, 20)
	setDefault(&t.MaxRepeats, 2)
	setDefault(&t.MaxParams, 30)
	setDefault(&t.MinYield, 200)
	return t
}

// Catches says why a URL looks like a trap; empty where it does not.
func (t Traps) Catches(text string) string {
	if t.MaxLength > 0 && len(text) > t.MaxLength {
		return fmt.Sprintf("%d bytes long, more than %d", len(text), t.MaxLength)
	}
	rest := text[strings.Index(text, "://")+3:]
	path, query, _ := strings.Cut(rest, "?")
	if n := strings.Count(path, "/"); t.MaxSegments > 0 && n > t.MaxSegments {
		return fmt.Sprintf("%d path segments, more than %d", n, t.MaxSegments)
	}
	if n := strings.Count(query, "&") + 1; t.MaxParams > 0 && n > t.MaxParams {
		return fmt.Sprintf("%d parameters, more than %d", n, t.MaxParams)
	}
	if t.MaxRepeats > 0 && strings.Count(path, "/") > t.MaxRepeats {
		var few [32]string // no allocation for the paths that there are
		segments := few[:0]
		for s := range strings.SplitSeq(path, "/") {
			segments = append(segments, s)
		}
		return t.repeats(segments[1:])
	}
	return ""
}

// repeats says which one to three segments stand in a row too often.
func (t Traps) repeats(segments []string) string {
	for size := 1; size <= 3; size++ {
		run := 0 // segments in a row that equal the ones size before them
		for i := size; i < len(segments); i++ {
			if segments[i] != segments[i-size] || segments[i] == "" {
				run = 0
				continue
			}
			if run++; run >= size*t.MaxRepeats {
				return fmt.Sprintf("%q more than %d times in a row", strings.Join(segments[i-size+1:i+1], "/"), t.MaxRepeats)
			}
		}
	}
	return ""
}
