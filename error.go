package octopus

import "fmt"

// Kind classifies an error. It drives retry and back-off, and it survives the
// wire as its name.
type Kind uint8

const (
	KindOther       Kind = iota
	KindDNS              // the name could not be resolved now: SERVFAIL, time-out
	KindNoHost           // the name does not exist
	KindConnect          // refused, reset or unreachable before the request was sent
	KindTLS              // handshake or certificate
	KindTimeout          // too slow: connecting, first byte, or the whole body
	KindProtocol         // the answer is not HTTP
	KindDisconnect       // the connection broke inside the answer
	KindTooLarge         // over a size limit where truncation is of no use
	KindForbidden        // the network guard refused the address
	KindUnavailable      // the site asks to come back later: 429, 503
	KindServer           // 5xx
	KindGone             // 404, 410 and other final 4xx
	KindCanceled         // the crawl was stopped
)

var kindNames = [...]string{"other", "dns", "no-host", "connect", "tls", "timeout", "protocol", "disconnect",
	"too-large", "forbidden-address", "unavailable", "server", "gone", "canceled"}

// String returns the kind's name, as used in records, logs and on the wire.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "other"
}

// ParseKind reads what Kind.String wrote; an unknown name is KindOther.
func ParseKind(s string) Kind {
	for i, n := range kindNames {
		if n == s {
			return Kind(i)
		}
	}
	return KindOther
}

// Error is the one error type of the crawl path. It is returned or handled,
// never both.
type Error struct {
	Op   string // what was tried: "fetch", "resolve", "store"
	URL  string // on what; empty where there is none
	Kind Kind
	Err  error // the cause; may be nil
}

// Error returns "op URL: kind: cause".
func (e *Error) Error() string {
	s := e.Op
	if e.URL != "" {
		s += " " + e.URL
	}
	s += ": " + e.Kind.String()
	if e.Err != nil {
		s = fmt.Sprintf("%s: %v", s, e.Err)
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
