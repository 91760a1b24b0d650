package octopus

import (
	"net/http"
	"net/netip"
	"time"
)

// Page is what a request brought. Its fields must not be changed by anybody but
// the fetcher that made it; SameAs is the exception.
type Page struct {
	Lease Lease
	Start time.Time // the request began
	End   time.Time // end of the last byte
	IP    netip.Addr

	Status int         // 0 where there was no answer
	Proto  string      // "HTTP/1.1" or "HTTP/2.0"
	Header http.Header // as received, without Content-Encoding and Transfer-Encoding once Body is decoded
	Body   []byte      // decoded
	Wire   int64       // body bytes on the wire, before decoding

	// Truncated says why Body is not whole, in the words of WARC-Truncated:
	// "length", "time" or "disconnect"; empty where it is whole.
	Truncated string

	// Rendered is the document that a browser made of Body, in UTF-8; nil where
	// none was asked. Links and text are read from it; what is stored and
	// digested is Body. RenderErr says why a browser that was asked has none.
	Rendered  []byte
	RenderErr error

	Location   string        // redirect target as given, for status 301, 302, 303, 307, 308
	RetryAfter time.Duration // from Retry-After; 0 where absent
	Err        *Error        // why there was no usable answer
	Stored     bool          // it came from the container: no request was made

	// SameAs is another URL under which the same payload is stored; empty where
	// none is known. The crawl sets it before the page is parsed: its links count,
	// but its text need not be looked for again.
	SameAs string
}

// URL returns the URL the page was asked for.
func (p *Page) URL() URL { return p.Lease.Link.URL }
