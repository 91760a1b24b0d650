package webtest

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encode compresses a body as the page wants and the client takes it.
func (a *answer) encode(p *resource, body []byte) []byte {
	coding := p.coding
	if coding == "" && a.web.opt.Gzip && p.raw == nil && !p.cut {
		coding = "gzip"
	}
	if coding == "" || !takes(a.req.Header.Get("Accept-Encoding"), coding) {
		return body
	}
	a.out.Header().Set("Content-Encoding", coding)
	a.out.Header().Set("Vary", "Accept-Encoding")
	var b bytes.Buffer
	z := encoders[coding].Get().(resetter)
	defer encoders[coding].Put(z)
	z.Reset(&b)
	z.Write(body) // to memory: cannot fail
	z.Close()
	return b.Bytes()
}

// takes reports whether an Accept-Encoding header lists a coding.
func takes(accept, coding string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return true
		}
	}
	return false
}

type resetter interface {
	io.WriteCloser
	Reset(io.Writer)
}

// encoders are kept, because making one costs more than a page.
var encoders = map[string]*sync.Pool{
	"gzip": {New: func() any { z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed); return z }},
	"br":   {New: func() any { return brotli.NewWriterLevel(io.Discard, 3) }},
	"zstd": {New: func() any { z, _ := zstd.NewWriter(io.Discard, zstd.WithEncoderConcurrency(1)); return z }},
}
