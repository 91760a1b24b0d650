package cdxserver

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"octopus"
	"octopus/container"
	"octopus/warc"
)

// Store is what the server reads: *container.Container.
type Store interface {
	CDX(ctx context.Context, u octopus.URL) ([]warc.CDX, error)
	Versions(ctx context.Context, u octopus.URL) ([]container.Version, error)
	Read(ctx context.Context, r container.Ref) (*container.Stored, error)
	ExportCDXJ(ctx context.Context, w io.Writer) (lines int64, err error)
}

// Options says how the server works; the zero value will do.
type Options struct {
	// TempDir is where the sorted index is made; empty means that of the system.
	// It takes about 250 bytes for each version.
	TempDir string
	// SortLimit is the most captures that sort=reverse and sort=closest keep in
	// memory; a request that matches more is refused with 400. 0 means 100,000.
	SortLimit int
	// Local answers only requests for localhost or a loopback address. A web page
	// whose host name was made to point to this machine (DNS rebinding) can't read
	// the store then.
	Local bool
}

// Server is an http.Handler. It may be used by many goroutines at once.
type Server struct {
	store Store
	opt   Options

	mu    sync.Mutex // guards index, and is held while it is made
	index *index
}

// New returns a server. It asks nothing of the store yet.
func New(store Store, opt Options) *Server {
	opt.SortLimit = cmp.Or(opt.SortLimit, 100_000)
	return &Server{store: store, opt: opt}
}

// Close removes the index. No request may be running.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil {
		return nil
	}
	err := s.index.close()
	s.index = nil
	return err
}

// ServeHTTP answers one request. It does not use http.ServeMux, which would
// clean the path of URLs in URLs.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	if s.opt.Local && !loopback(r.Host) {
		http.Error(w, "this server answers for localhost and loopback addresses only", http.StatusMisdirectedRequest)
		return
	}
	rest, web := strings.CutPrefix(r.URL.EscapedPath(), "/web/")
	switch {
	case web:
		if r.URL.RawQuery != "" || r.URL.ForceQuery {
			rest += "?" + r.URL.RawQuery
		}
		s.serveWeb(w, r, rest)
	case r.URL.Path == "/cdx":
		s.serveCDX(w, r)
	default:
		http.Error(w, "there are /cdx?url=URL and /web/{timestamp}id_/{url}", http.StatusNotFound)
	}
}

// loopback reports whether a Host field names this machine only.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// contentTypes are those of the outputs.
var contentTypes = map[string]string{"": "text/x-cdxj; charset=utf-8", "json": "application/x-ndjson", "text": "text/plain; charset=utf-8"}

func (s *Server) serveCDX(w http.ResponseWriter, r *http.Request) {
	var q *query
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err == nil {
		q, err = parseQuery(v)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", contentTypes[q.output])
	out, n := bufio.NewWriter(w), 0
	write := func(c *warc.CDX) bool {
		n++
		out.Write(q.line(c)) // bufio keeps the first error
		return n != q.limit && r.Context().Err() == nil
	}
	if q.reverse || q.closest != nil {
		err = s.sorted(r.Context(), q, write)
	} else {
		err = s.each(r.Context(), q, write)
	}
	switch {
	case errors.Is(err, errTooMany):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil && n == 0:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case err != nil:
		panic(http.ErrAbortHandler) // the client sees that the answer is not whole
	default:
		out.Flush() // an error means that the client went away
	}
}

// each calls visit for the captures that q asks for, in the order of the index.
func (s *Server) each(ctx context.Context, q *query, visit func(*warc.CDX) bool) error {
	if len(q.urls) > 0 {
		return s.exact(ctx, q, visit)
	}
	x, err := s.sortedIndex(ctx)
	if err != nil {
		return err
	}
	return x.each(q.first, q.last, func(c *warc.CDX) bool { return ctx.Err() == nil && (!q.takes(c) || visit(c)) })
}

// exact is each for an exact match, without the index.
func (s *Server) exact(ctx context.Context, q *query, visit func(*warc.CDX) bool) error {
	var all []warc.CDX
	for _, u := range q.urls {
		lines, err := s.store.CDX(ctx, u)
		if err != nil && !errors.Is(err, container.ErrNotFound) {
			return err
		}
		all = append(all, lines...)
	}
	slices.SortStableFunc(all, func(a, b warc.CDX) int { return a.Time.Compare(b.Time) })
	for i := range all {
		if q.takes(&all[i]) && !visit(&all[i]) {
			break
		}
	}
	return nil
}

// sortedIndex makes the index if there is none yet.
func (s *Server) sortedIndex(ctx context.Context) (*index, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.index == nil {
		s.index, err = makeIndex(ctx, s.store, s.opt.TempDir)
	}
	return s.index, err
}

var errTooMany = errors.New("too many captures to sort them: narrow url, from and to")

// sorted is each in another order than the index's.
func (s *Server) sorted(ctx context.Context, q *query, visit func(*warc.CDX) bool) error {
	var all []warc.CDX
	err := s.each(ctx, q, func(c *warc.CDX) bool {
		all = append(all, *c)
		return len(all) <= s.opt.SortLimit
	})
	if err != nil {
		return err
	}
	if len(all) > s.opt.SortLimit {
		return errTooMany
	}
	slices.Reverse(all) // of what is equally close the newest comes first
	if q.closest != nil {
		slices.SortStableFunc(all, func(a, b warc.CDX) int {
			return cmp.Compare(q.closest.distance(a.Time), q.closest.distance(b.Time))
		})
	}
	for i := range all {
		if !visit(&all[i]) {
			break
		}
	}
	return nil
}

// line is a capture as q wants it: a CDXJ line, values of fields, or JSON.
func (q *query) line(c *warc.CDX) []byte {
	if q.output == "json" {
		b := []byte("{")
		for i, f := range q.fl {
			if i > 0 {
				b = append(b, ", "...)
			}
			v, _ := json.Marshal(value(c, f)) // a text always has a form
			b = append(append(append(b, '"'), f...), "\": "...)
			b = append(b, v...)
		}
		return append(b, "}\n"...)
	}
	if q.output == "" {
		return c.Append(nil)
	}
	var values []string
	for _, f := range q.fl {
		values = append(values, value(c, f))
	}
	return append([]byte(strings.Join(values, " ")), '\n')
}
