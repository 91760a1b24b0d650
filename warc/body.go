package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// ErrCoding is what DecodeBody returns for a content coding it does not know.
var ErrCoding = errors.New("unknown content coding")

// ErrTooLarge is what DecodeBody returns for a body beyond its limit.
var ErrTooLarge = errors.New("body too large")

// DecodeBody undoes the transfer and content codings (chunked, gzip, deflate,
// brotli, zstd) of a body that another program stored as it came over the wire. Some
// programs store bodies decoded and keep the header fields, so a body that is
// evidently not coded is returned as it is. Limit is the most bytes that may
// come out.
func DecodeBody(h http.Header, body []byte, limit int64) ([]byte, error) {
	if strings.Contains(strings.ToLower(h.Get("Transfer-Encoding")), "chunked") {
		if plain, err := take(httputil.NewChunkedReader(bytes.NewReader(body)), limit); err == nil {
			body = plain
		} else if errors.Is(err, ErrTooLarge) {
			return nil, err
		}
	}
	codings := strings.Split(strings.ToLower(strings.Join(h.Values("Content-Encoding"), ",")), ",")
	slices.Reverse(codings) // the last one was applied last
	for _, coding := range codings {
		plain, err := decodeOne(strings.TrimSpace(coding), body, limit)
		if err != nil {
			return nil, err
		}
		body = plain
	}
	return body, nil
}

func decodeOne(coding string, body []byte, limit int64) ([]byte, error) {
	var r io.Reader
	var err error
	in := bytes.NewReader(body)
	switch {
	case coding == "" || coding == "identity" || len(body) == 0:
		return body, nil
	case coding == "gzip" || coding == "x-gzip":
		if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
			return body, nil
		}
		r, err = gzip.NewReader(in)
	case coding == "deflate":
		if r, err = zlib.NewReader(in); err != nil {
			return body, nil
		}
	case coding == "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(limit, 1<<20)))); err == nil {
			defer z.Close()
		}
		r = z
	case coding == "br":
		plain, err := take(brotli.NewReader(in), limit)
		if err != nil && !errors.Is(err, ErrTooLarge) && utf8.Valid(body) { // no magic number to look for, but coded text is no text
			return body, nil
		}
		return plain, err
	default:
		return nil, fmt.Errorf("%w %q", ErrCoding, coding)
	}
	if err != nil {
		return nil, fmt.Errorf("content coding %s: %w", coding, err)
	}
	return take(r, limit)
}

// take reads all of r, at most limit bytes.
func take(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return b, err
}
