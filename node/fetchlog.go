package node

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/crawl"
	"octopus/fetch"
	"octopus/fetch/render"
)

// FetchLine is one line of a fetch log: a run that began (Run is set), or a
// request that ended. docs/reference/cli.md documents it.
type FetchLine struct {
	// Of a run: its manners.
	Run       *time.Time `json:"run,omitempty"`
	HostDelay float64    `json:"host_delay_s,omitempty"`
	IPDelay   float64    `json:"ip_delay_s,omitempty"`

	// Of a request. Bytes are those of the body on the wire.
	Start      time.Time `json:"start,omitzero"`
	End        time.Time `json:"end,omitzero"`
	Host       string    `json:"host,omitempty"`
	IP         string    `json:"ip,omitempty"` // that answered; absent where none did
	URL        string    `json:"url,omitempty"`
	Status     int       `json:"status,omitempty"` // absent where there was no answer
	Bytes      int64     `json:"bytes,omitempty"`
	RetryAfter float64   `json:"retry_after_s,omitempty"` // what the site asked for
	Error      string    `json:"error,omitempty"`         // kind of the error
	PartOf     string    `json:"part_of,omitempty"`       // URL of the page whose scripts made the request, in a browser
}

// fetchLog writes a line for each request of a fetcher.
type fetchLog struct {
	*fetch.Fetcher
	file *os.File

	mu  sync.Mutex
	buf *bufio.Writer // guarded by mu
	err error         // guarded by mu: the first failed write; Close returns it
}

var _ crawl.Recycler = (*fetchLog)(nil)

// openFetchLog puts a log in front of f.
func openFetchLog(cfg *Config, f *fetch.Fetcher) (*fetchLog, error) {
	file, err := os.OpenFile(cfg.Fetcher.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("fetch log: %w", err)
	}
	l := &fetchLog{Fetcher: f, file: file, buf: bufio.NewWriterSize(file, 64<<10)}
	if info, err := file.Stat(); err == nil && info.Size() > 0 {
		l.buf.WriteByte('\n') // ends a line that a kill cut off; empty lines are nothing
	}
	now := time.Now()
	l.write(FetchLine{Run: &now, HostDelay: time.Duration(cfg.Fetcher.HostDelay).Seconds(), IPDelay: time.Duration(cfg.Fetcher.IPDelay).Seconds()})
	return l, nil
}

// Fetch fetches and notes it.
func (l *fetchLog) Fetch(ctx context.Context, lease octopus.Lease) *octopus.Page {
	p := l.Fetcher.Fetch(ctx, lease)
	line := FetchLine{Start: p.Start, End: p.End, Host: lease.Link.URL.Host, URL: lease.Link.URL.Text, Status: p.Status,
		Bytes: p.Wire, RetryAfter: p.RetryAfter.Seconds()}
	if lease.Purpose == octopus.FetchRobots {
		line.URL = robotsOf(lease.Link.URL.Text)
	}
	if p.IP.IsValid() {
		line.IP = p.IP.String()
	}
	if p.Err != nil {
		line.Error = p.Err.Kind.String()
	}
	l.write(line)
	return p
}

// noteParts notes what the scripts of a page requested.
func (l *fetchLog) noteParts(page *octopus.Page, parts []render.Part) {
	for _, p := range parts {
		u, err := canon.Parse(p.URL)
		if err != nil {
			continue // none was sent: the dialer takes no such host
		}
		l.write(FetchLine{Start: p.Start, End: p.End, Host: u.Host, URL: p.URL, Status: p.Status, Bytes: p.Bytes, PartOf: page.URL().Text})
	}
}

// robotsOf returns the address of the robots.txt that counts for a URL.
func robotsOf(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest + "/robots.txt"
}

func (l *fetchLog) write(line FetchLine) {
	text, err := json.Marshal(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if err == nil {
		_, err = l.buf.Write(append(text, '\n'))
	}
	l.err = err
}

// Close closes the fetcher and writes what is left.
func (l *fetchLog) Close() error {
	err := l.Fetcher.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(err, l.err, l.buf.Flush(), l.file.Close())
}
