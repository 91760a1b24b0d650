package fetch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"time"

	"octopus"
	"octopus/internal/inflate"
)

const (
	maxRatio   = 1000     // decoded bytes per byte on the wire; beyond it content is a bomb,
	ratioAfter = 1 << 20  // once so much of it was decoded
	maxHint    = 1 << 20  // memory given to a body on the word of its Content-Length
	noHint     = 32 << 10 // memory given at first to a body of unknown length
	maxFront   = 1 << 18  // bytes of a gzip body that may be held while it is decoded
)

var errCut = errors.New("over the size limit")

// wire is a body as it comes off the connection. It counts its bytes, holds it
// to the limits of size, time and rate, and remembers how it ended.
type wire struct {
	c     *call
	src   io.Reader
	start time.Time
	now   time.Time // of the last look at the clock
	n     int64     // bytes so far
	eof   bool      // it ended as it should
	err   error     // it ended otherwise; errCut at the limit
}

// Read reads from the connection. After an error it returns the same again.
func (w *wire) Read(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	limit := w.c.maxBody + 1 - w.n // one byte more than allowed proves the excess
	if limit <= 0 {
		w.err = errCut
		return 0, w.err
	}
	w.c.quiet(w.now)
	n, err := w.src.Read(b[:min(int64(len(b)), limit)])
	w.now = time.Now()
	w.n += int64(n)
	switch {
	case err == io.EOF:
		w.eof = true
	case err != nil:
		w.err = err
	default:
		err = w.rate()
	}
	return n, err
}

// rate ends a body that comes too slowly to be worth a connection.
func (w *wire) rate() error {
	took := w.now.Sub(w.start)
	if took <= w.c.f.opt.FloorAfter {
		return nil
	}
	if rate := int64(float64(w.n) / took.Seconds()); rate < w.c.f.opt.FloorRate {
		w.c.cancel(&errSlow{rate, w.c.f.opt.FloorRate})
		w.err = w.c.ctx.Err()
	}
	return w.err
}

// body reads and decodes the body of resp into the page.
func (c *call) body(resp *http.Response) *octopus.Error {
	if resp.Body == http.NoBody {
		return nil
	}
	name, err := coding(resp.Header["Content-Encoding"])
	if err != nil {
		return failure(octopus.KindProtocol, err)
	}
	now := time.Now()
	c.wire = wire{c: c, src: resp.Body, start: now, now: now}
	w := &c.wire
	err = c.decode(w, name, resp.ContentLength)
	p := c.page
	p.Wire = min(w.n, c.maxBody)
	if name != "" && name != "identity" {
		p.Header.Del("Content-Encoding")
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errCut), errors.Is(w.err, errCut):
		p.Truncated = "length"
		return nil
	case w.err == nil: // all bytes came, but they are not what they should be
		p.Truncated = "disconnect"
		return failure(octopus.KindProtocol, err)
	}
	failed := classify(c.ctx, w.err)
	p.Truncated = "disconnect"
	if failed.Kind == octopus.KindTimeout {
		p.Truncated = "time"
	}
	return failed
}

// decode decodes the body into a pooled buffer, which becomes the page's. length
// is that of the body on the wire, or -1.
func (c *call) decode(w *wire, name string, length int64) error {
	src := io.Reader(w)
	if name == "gzip" {
		front := c.front(w, length)
		defer func() { c.f.buffers.put(front) }()
		if w.eof && c.inflate(front) {
			return nil
		}
		src = io.MultiReader(bytes.NewReader(front), w)
	}
	dec, err := c.f.decoders.open(name, src)
	if err == nil {
		hint := int64(noHint)
		if length >= 0 {
			hint = length + 1 // room to meet the end without growing
			if name != "" && name != "identity" {
				hint = 4 * length
			}
		}
		err = c.fill(dec, w, max(min(hint, maxHint, c.maxBody+1), 1))
		dec.put()
	}
	if w.n == 0 && w.eof { // nothing to decode, whatever the decoder says
		return nil
	}
	if err == nil && !w.eof {
		w.drain()
	}
	return err
}

// front reads a body to its end, or so far that decoding it in memory is no
// longer worth the room. What ended it w says again.
func (c *call) front(w *wire, length int64) []byte {
	hint := int64(noHint)
	if length >= 0 {
		hint = length + 1
	}
	buf := c.f.buffers.get(int(min(hint, maxFront)))
	for len(buf) < maxFront {
		if len(buf) == cap(buf) {
			buf = c.f.buffers.grow(buf, maxFront)
		}
		n, err := w.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			break
		}
	}
	return buf
}

// inflate makes the page's body of a gzip member that is there as a whole, in
// half the time that a decoder of streams takes. It reports false, and has done
// nothing, for all that is large or unusual: that is left to the other.
func (c *call) inflate(member []byte) bool {
	if len(member) < 4 {
		return false
	}
	size := int64(binary.LittleEndian.Uint32(member[len(member)-4:])) // as it says
	limit := min(c.maxBody, maxHint)
	if size > limit {
		return false
	}
	buf := c.f.buffers.get(int(size) + inflate.Slack)
	d := c.f.decoders.members.Get().(*inflate.Decoder)
	defer c.f.decoders.members.Put(d)
	body, n, err := d.Gzip(buf, member, int(limit))
	if err != nil || n != len(member) {
		c.f.buffers.put(buf)
		return false
	}
	c.page.Body = body
	return true
}

// fill reads src to its end or to a limit.
func (c *call) fill(src io.Reader, w *wire, hint int64) error {
	buf := c.f.buffers.get(int(hint))
	defer func() { c.page.Body = buf[:min(int64(len(buf)), c.maxBody)] }()
	for {
		if len(buf) == cap(buf) {
			buf = c.f.buffers.grow(buf, int(c.maxBody)+1)
		}
		n, err := src.Read(buf[len(buf):min(int64(cap(buf)), c.maxBody+1)])
		buf = buf[:len(buf)+n]
		out := int64(len(buf))
		switch {
		case out > c.maxBody, out > ratioAfter && out > maxRatio*w.n:
			return errCut
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// drain reads the little that may follow a decoder's end, such as the last
// chunk's mark, so that the connection can be used again.
func (w *wire) drain() {
	var scratch [512]byte
	for range 8 {
		if _, err := w.Read(scratch[:]); err != nil {
			return
		}
	}
}
