package fetch

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	acceptEncoding = "gzip, br, zstd"
	zstdWindow     = 8 << 20 // largest window a zstd body may ask for (RFC 9659)
)

// decoders keeps decoders for reuse: they are large (gzip 40 KiB, br and zstd
// up to their window). The garbage collector frees idle ones.
type decoders struct {
	gzip, brotli, zstd sync.Pool
	members            sync.Pool // of *inflate.Decoder
}

// decoder is a decoder on loan. put gives it back.
type decoder struct {
	io.Reader
	put func()
}

// coding returns the one content coding of the header value: "", "gzip", "br",
// "zstd", or "identity" for one nobody here knows; such a body stays as it is,
// as in browsers. Two codings on top of each other serve nobody but the maker
// of a bomb.
func coding(header []string) (string, error) {
	found := ""
	for name := range strings.SplitSeq(strings.Join(header, ","), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" || name == "identity" {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("content encoding %q: only one is accepted", strings.Join(header, ","))
		}
		found = name
	}
	switch found {
	case "", "gzip", "br", "zstd":
		return found, nil
	case "x-gzip":
		return "gzip", nil
	}
	return "identity", nil
}

// open returns a decoder of src for a coding that the function coding returned.
func (d *decoders) open(name string, src io.Reader) (decoder, error) {
	switch name {
	case "gzip":
		return d.openGzip(src)
	case "br":
		r, ok := d.brotli.Get().(*brotli.Reader)
		if !ok {
			r = brotli.NewReader(src)
		} else if err := r.Reset(src); err != nil {
			return decoder{}, err
		}
		return decoder{r, func() { d.brotli.Put(r) }}, nil
	case "zstd":
		return d.openZstd(src)
	}
	return decoder{src, func() {}}, nil
}

func (d *decoders) openGzip(src io.Reader) (decoder, error) {
	r, ok := d.gzip.Get().(*gzip.Reader)
	if !ok {
		r = new(gzip.Reader)
	}
	put := func() { d.gzip.Put(r) }
	if err := r.Reset(src); err != nil {
		put()
		return decoder{}, err
	}
	return decoder{gzipTail{r}, put}, nil
}

func (d *decoders) openZstd(src io.Reader) (decoder, error) {
	r, ok := d.zstd.Get().(*zstd.Decoder)
	if !ok {
		var err error
		// One at a time means that the decoder starts no goroutine, so that it
		// may be dropped without Close.
		r, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return decoder{}, err
		}
	}
	put := func() { _ = r.Reset(nil); d.zstd.Put(r) }
	if err := r.Reset(src); err != nil {
		put()
		return decoder{}, err
	}
	return decoder{r, put}, nil
}

// gzipTail ends at what follows the last member of a gzip stream and is no
// member: some servers pad their files, and browsers do not mind.
type gzipTail struct{ r *gzip.Reader }

func (g gzipTail) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	if errors.Is(err, gzip.ErrHeader) {
		err = io.EOF
	}
	return n, err
}
