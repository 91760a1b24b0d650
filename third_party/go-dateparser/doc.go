// Package dateparser takes the place of github.com/markusmobius/go-dateparser,
// which go-htmldate, and so go-trafilatura, asks for dates in running text. A
// replace line in go.mod puts it there.
//
// The original compiles the grammar of 200 locales when a program starts,
// whether it reads a date or not: 175 ms, 78 MB allocated and 28 MB kept, which
// the garbage collector doubles, for every octopus command. This one knows days,
// months by name in some 25 languages, and years; it prepares nothing, and it
// has no more of the interface than go-htmldate uses. Numeric dates and ISO 8601
// go-htmldate reads by itself, before it asks.
//
// A program that imports octopus without the replace line gets the original,
// and only the cost differs.
package dateparser
