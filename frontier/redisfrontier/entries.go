package redisfrontier

import (
	"context"
	"fmt"
	"strings"
	"time"

	"octopus/internal/redisx"
)

// known are the entries of all processes of the job, as far as this one has
// heard: those they were given, and the targets of their redirects. Few: each is
// kept in memory.
type known struct {
	list []string // board, 0x00, URL
	has  map[string]bool
}

func (k *known) add(members ...string) {
	if k.has == nil {
		k.has = map[string]bool{}
	}
	for _, m := range members {
		if !k.has[m] {
			k.has[m] = true
			k.list = append(k.list, m)
		}
	}
}

const (
	newEntry   = "entry "  // of a message: one member follows
	newEntries = "entries" // of a message: ask
	scanBatch  = 1000      // members of one call
)

// SaveEntry makes a URL an entry of a board for all processes of the job.
func (f *Frontier) SaveEntry(board, url string) error { return f.SaveEntries(board, []string{url}) }

// SaveEntries does so for several. It waits while Redis does not work.
func (f *Frontier) SaveEntries(board string, urls []string) error {
	var fresh []string
	f.mu.Lock()
	for _, u := range urls {
		if m := board + "\x00" + u; !f.entries.has[m] {
			fresh = append(fresh, m)
		}
	}
	f.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	message := newEntries
	if len(fresh) == 1 {
		message = newEntry + fresh[0]
	}
	err := f.untilItWorks(f.closed, func(time.Time) error { return f.writeEntries(f.closed, fresh, message) })
	if err != nil {
		return fmt.Errorf("redisfrontier: save entries of board %s: %w", board, err)
	}
	f.learn(fresh...)
	return nil
}

// writeEntries adds members and, unless message is empty, tells the other
// processes.
func (f *Frontier) writeEntries(ctx context.Context, members []string, message string) error {
	pipe := f.client.Pipeline()
	for len(members) > 0 {
		n := min(len(members), scanBatch)
		batch := make([]any, n)
		for i, m := range members[:n] {
			batch[i] = m
		}
		pipe.SAdd(ctx, f.jobKey("entries"), batch...)
		members = members[n:]
	}
	if message != "" {
		pipe.Publish(ctx, f.jobKey("wake"), message)
	}
	_, err := pipe.Exec(ctx)
	return redisx.Explain(err)
}

// LoadEntries asks Redis for the entries of a board. It waits while Redis does
// not work.
func (f *Frontier) LoadEntries(board string) ([]string, error) {
	if err := f.untilItWorks(f.closed, func(time.Time) error { return f.readEntries(f.closed) }); err != nil {
		return nil, fmt.Errorf("redisfrontier: entries of board %s: %w", board, err)
	}
	return f.Entries(board), nil
}

// readEntries takes in what other processes have added: by their number it sees
// whether they have.
func (f *Frontier) readEntries(ctx context.Context) error {
	n, err := f.client.SCard(ctx, f.jobKey("entries")).Result()
	if err != nil || n == f.Version() {
		return redisx.Explain(err)
	}
	for cursor := uint64(0); ; {
		var members []string
		if members, cursor, err = f.client.SScan(ctx, f.jobKey("entries"), cursor, "", scanBatch).Result(); err != nil {
			return redisx.Explain(err)
		}
		f.learn(members...)
		if cursor == 0 {
			return nil
		}
	}
}

// Entries returns the entries of a board that this process has heard of.
func (f *Frontier) Entries(board string) (urls []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.entries.list {
		if b, url, _ := strings.Cut(m, "\x00"); b == board {
			urls = append(urls, url)
		}
	}
	return urls
}

// Version is the number of entries that this process has heard of, of all
// boards.
func (f *Frontier) Version() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.entries.list))
}

func (f *Frontier) learn(members ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries.add(members...)
}

// hear takes in a message of another process, where it speaks of entries.
func (f *Frontier) hear(message string) bool {
	switch member, one := strings.CutPrefix(message, newEntry); {
	case one:
		f.learn(member)
	case message == newEntries:
		f.catchUp()
	default:
		return false
	}
	return true
}

// catchUp exchanges entries with Redis after messages may have been lost, or
// Redis lost what it had. It fails silently: whoever needs them asks again.
func (f *Frontier) catchUp() {
	f.mu.Lock()
	mine := f.entries.list[:len(f.entries.list):len(f.entries.list)]
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(f.closed, admitTime)
	defer cancel()
	if f.writeEntries(ctx, mine, "") == nil {
		_ = f.readEntries(ctx)
	}
}
