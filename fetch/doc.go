// Package fetch makes the one request a lease stands for: Lease in, Page out.
//
//	Lease ─> request ─> connection pool ─> status, headers ─> decoding ─> pooled buffer ─> Page
//	                        │ none idle                          │
//	                        v                                    └ limits: bytes, time, rate, ratio
//	              guarded dialer: resolve, filter, dial, check again
//
// Every byte that leaves the process for a site passes the guarded dialer. It
// resolves a name once, drops every address that is not public, dials what is
// left, and checks the address of the socket once more before the first packet
// is sent. Neither the spelling of an address, nor a redirect, nor a name that
// changes its address between two looks gets past it. Options.AllowNet opens
// networks by name. No proxy is ever used, whatever the environment says, since
// a proxy would resolve names itself.
//
// A site can cost at most its budget: Options bounds bytes on the wire and
// decoded, the expansion of compressed content, the time of every phase, and
// the rate a body must keep up.
//
// Nothing is sent that identifies anybody but the crawler: no cookies, no
// credentials (those of a URL are dropped), no Referer.
//
// # What a Page says
//
//	                      Err             Truncated     Body
//	whole answer          nil             ""            all of it
//	over a size limit     nil             "length"      up to the limit
//	too slow in the body  KindTimeout     "time"        what had arrived
//	broke in the body     KindDisconnect  "disconnect"  what had arrived
//	body not decodable    KindProtocol    "disconnect"  what could be decoded
//	no answer             any other kind  ""            nil
//
// A redirect is an answer like any other: Page.Location holds its target and
// nothing is followed. Only robots.txt (octopus.FetchRobots) is followed inside
// its lease: five redirects at most. One more, or a target that is not http or
// https, leaves the status of the last redirect and an empty body; RFC 9309,
// section 2.3.1.2, has such a file taken as unavailable, like a 404.
//
// # One lease, one request
//
// No request is sent twice. Where a server closes a kept connection instead of
// answering, the page has KindDisconnect: it may have done what was asked, and
// whether to ask again is the frontier's decision. So that this is rare, a kept
// connection is looked at before it is used, and a server that did so once gets
// a new connection for each request. Over HTTP/2 net/http repeats a
// request where the server itself said that it did not look at it (REFUSED_STREAM,
// or a GOAWAY that names an earlier one).
//
// # Connections
//
// HTTP/1.1, with TLS or without, is spoken in the goroutine of the caller
// (h1.go); net/http reads what comes. Where TLS agrees on HTTP/2, net/http's
// Transport takes the connection over; it is offered where Options.ConnsPerHost
// is more than 1. Sessions of TLS are resumed.
//
// # Copies of a body
//
// A body is read by the connection, or written by the decoder, straight into the
// buffer that becomes Page.Body; it is copied only when a body of unknown length
// outgrows its buffer. [Fetcher.Recycle] takes the buffer back.
package fetch
