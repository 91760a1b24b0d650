package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// crawlLeast is the least that crawls the synthetic site completely: a map of
// URLs met, a queue, workers, a scan for href. No robots, no state, no limits,
// no care for hosts. What a crawler takes beyond that is the price of what it
// does.
func crawlLeast(args []string) error {
	fs := flag.NewFlagSet("least", flag.ContinueOnError)
	entry := fs.String("url", "", "where to start")
	client := fs.String("client", "net", "net: net/http (L2); raw: own HTTP on sockets (L1)")
	workers := fs.Int("parallel", 16, "requests at once")
	archive := fs.String("warc", "", "write pages to this file, gzip level 1")
	if err := fs.Parse(args); err != nil {
		return err
	}
	l := &least{met: map[string]bool{}}
	l.wake.L = &l.mu
	if *archive != "" {
		f, err := os.Create(*archive)
		if err != nil {
			return err
		}
		defer f.Close()
		l.out = f
	}
	fetchers := map[string]func() fetcher{"net": newNetFetcher(*workers), "raw": newRawFetcher}
	if fetchers[*client] == nil {
		return fmt.Errorf("-client is net or raw, not %q", *client)
	}
	l.offer("", []byte(*entry))
	var group sync.WaitGroup
	errs := make([]error, *workers)
	for i := range *workers {
		group.Go(func() { errs[i] = l.work(fetchers[*client]()) })
	}
	group.Wait()
	fmt.Println(len(l.met), "URLs")
	return errors.Join(errs...)
}

// fetcher returns the body of a URL, valid until its next call.
type fetcher func(url string) ([]byte, error)

type least struct {
	mu    sync.Mutex
	wake  sync.Cond
	met   map[string]bool // guarded by mu
	queue []string        // guarded by mu
	busy  int             // guarded by mu: workers with a page
	over  bool            // guarded by mu: a worker failed
	out   io.Writer       // guarded by mu
}

func (l *least) work(get fetcher) error {
	var zbuf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&zbuf, gzip.BestSpeed)
	for {
		at, ok := l.next()
		if !ok {
			return nil
		}
		body, err := get(at)
		if err == nil && l.out != nil {
			err = l.store(at, body, z, &zbuf)
		}
		host := strings.Index(at, "://") + len("://")
		origin := at[:host+strings.IndexByte(at[host:], '/')]
		links(body, func(href []byte) { l.offer(origin, href) })
		l.mu.Lock()
		l.busy--
		l.over = l.over || err != nil
		l.wake.Broadcast()
		l.mu.Unlock()
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
}

// next takes a URL; it waits while others may still find some.
func (l *least) next() (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) == 0 && l.busy > 0 && !l.over {
		l.wake.Wait()
	}
	if len(l.queue) == 0 || l.over {
		return "", false
	}
	at := l.queue[0]
	l.queue = l.queue[1:]
	l.busy++
	return at, true
}

// offer queues a URL that was not met before.
func (l *least) offer(origin string, href []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var room [128]byte
	full := href
	if href[0] == '/' {
		full = append(append(room[:0], origin...), href...)
	}
	if l.met[string(full)] { // no allocation for the look-up
		return
	}
	u := string(full)
	l.met[u] = true
	l.queue = append(l.queue, u)
	l.wake.Signal()
}

// links calls found for every href of an a element, double-quoted as the site
// writes them.
func links(page []byte, found func([]byte)) {
	for {
		i := bytes.IndexByte(page, '<')
		if i < 0 || i+9 >= len(page) {
			return
		}
		page = page[i+1:]
		if page[0] != 'a' || !bytes.HasPrefix(page, []byte(`a href="`)) {
			continue
		}
		page = page[len(`a href="`):]
		end := bytes.IndexByte(page, '"')
		if end > 0 && (page[0] == '/' || page[0] == 'h') {
			found(page[:end])
		}
	}
}

// store appends a WARC response record, one gzip member.
func (l *least) store(at string, body []byte, z *gzip.Writer, buf *bytes.Buffer) error {
	buf.Reset()
	z.Reset(buf)
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
	fmt.Fprintf(z, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"+
		"WARC-Target-URI: %s\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%s", at, len(head)+len(body), head)
	z.Write(body)
	io.WriteString(z, "\r\n\r\n")
	z.Close() // all into memory: no error
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(buf.Bytes())
	return err
}

// newNetFetcher shares one net/http transport.
func newNetFetcher(workers int) func() fetcher {
	t := &http.Transport{MaxIdleConnsPerHost: workers}
	return func() fetcher {
		var buf bytes.Buffer
		return func(at string) ([]byte, error) {
			resp, err := (&http.Client{Transport: t}).Get(at)
			if err != nil {
				return nil, err
			}
			defer resp.Body.Close()
			buf.Reset()
			if resp.StatusCode != 200 {
				return nil, errors.New(resp.Status)
			}
			_, err = buf.ReadFrom(resp.Body)
			return buf.Bytes(), err
		}
	}
}

// newRawFetcher keeps a connection to each host.
func newRawFetcher() fetcher {
	conns := map[string]*bufio.ReadWriter{}
	var body []byte
	return func(at string) ([]byte, error) {
		u, err := url.Parse(at)
		if err != nil {
			return nil, err
		}
		rw := conns[u.Host]
		if rw == nil {
			c, err := net.Dial("tcp", u.Host)
			if err != nil {
				return nil, err
			}
			rw = bufio.NewReadWriter(bufio.NewReaderSize(c, 4096), bufio.NewWriterSize(c, 512))
			conns[u.Host] = rw
		}
		rw.WriteString("GET " + u.Path + " HTTP/1.1\r\nHost: " + u.Host + "\r\n\r\n")
		if err := rw.Flush(); err != nil {
			return nil, err
		}
		length := 0
		for line := []byte("HTTP"); len(line) > 2; { // up to the empty line
			if line, err = rw.ReadSlice('\n'); err != nil {
				return nil, err
			}
			if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(v)))
			}
		}
		if cap(body) < length {
			body = make([]byte, 2*length)
		}
		_, err = io.ReadFull(rw, body[:length])
		return body[:length], err
	}
}
