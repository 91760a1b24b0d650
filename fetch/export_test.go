package fetch

import (
	"net"

	"bytes"
	"context"
	"io"
	"net/http"
	"net/netip"
	"time"

	"octopus"
)

// Check is the guard's verdict where nothing is allowed beyond the public.
func Check(a netip.Addr) error { return guard{}.check(a) }

// RetryAfter is retryAfter.
var RetryAfter = retryAfter

// Decode decodes data as a response body would be, with the Fetcher's decoders.
func Decode(f *Fetcher, coding string, data []byte) *octopus.Page {
	p := &octopus.Page{Start: time.Now(), Header: http.Header{"Content-Encoding": {coding}}}
	c := f.newCall(context.Background(), p, time.Minute, f.opt.MaxBody)
	defer c.end()
	resp := &http.Response{Header: p.Header, Body: io.NopCloser(bytes.NewReader(data)), ContentLength: -1}
	p.Err = c.body(resp)
	return p
}

// Meter returns what a Fetcher with this Bandwidth does to its connections.
func Meter(rate int64) func(net.Conn) net.Conn { return (&bucket{rate: float64(rate)}).meter }

// Alive is what decides whether a kept connection is used again.
func Alive(c net.Conn) bool { return (&h1{Conn: c}).alive() }

// Idle keeps connections.
type Idle struct{ k *idle }

func NewIdle(perHost, most int) Idle       { return Idle{newIdle(perHost, most)} }
func (i Idle) Put(c net.Conn, host string) { i.k.put(newH1(c, origin{"http", host})) }
func (i Idle) Close()                      { i.k.close() }
func (i Idle) Get(host string) (c net.Conn) {
	if got := i.k.get(origin{"http", host}); got != nil {
		return got.Conn
	}
	return nil
}
