package redisfrontier

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus/internal/redisx"
)

// Pauses between attempts while Redis does not work.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
)

// do runs calls until all have succeeded. While Redis does not work it waits
// and tries again those that failed, until ctx ends; Options.OnError hears of
// it once. again is set where a call may have run twice. An error of a script
// itself is returned: waiting does not mend it.
func (f *Frontier) do(ctx context.Context, calls []*redisx.Call) (again bool, err error) {
	if len(calls) == 0 {
		return false, nil
	}
	s := struggle{f: f}
	defer s.giveUp()
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		if f.closed.Err() != nil {
			return again, ErrClosed
		}
		run := ctx
		if calls[0].Script == leaseScript {
			run = context.WithoutCancel(ctx) // an answer that nobody takes would be leases that nobody has
		}
		err := redisx.Run(run, f.client, calls)
		if err == nil {
			s.succeed()
			return again, nil
		}
		if ctx.Err() != nil {
			return again, ctx.Err()
		}
		if redisx.Has(err, "LOST") && ctx.Err() == nil {
			err = f.reseed(ctx)
			pause = firstPause
		}
		if broken(err) {
			return again, fmt.Errorf("redisfrontier: %w", err)
		}
		again, calls = true, failed(calls)
		if err == nil {
			continue
		}
		s.fail(err)
		if err := f.sleep(ctx, pause); err != nil {
			return again, err
		}
	}
}

// broken reports whether err is one of our own scripts.
func broken(err error) bool {
	return redisx.Has(err, "ERR") && !redisx.Has(err, "ERR max number of clients")
}

func failed(calls []*redisx.Call) (list []*redisx.Call) {
	for _, c := range calls {
		if c.Err != nil {
			list = append(list, c)
		}
	}
	return list
}

// sleep waits for d, or the end of ctx or of the Frontier.
func (f *Frontier) sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.closed.Done():
		return ErrClosed
	case <-t.C:
		return nil
	}
}

// struggle is one call's share in what Options.OnError hears: Redis works again
// when a call succeeded and none waits for it any more.
type struggle struct {
	f       *Frontier
	failing bool
}

func (s *struggle) fail(err error) {
	f := s.f
	f.mu.Lock()
	tell := f.trouble == nil
	f.trouble, f.worked = err, false
	if !s.failing {
		s.failing = true
		f.failing++
	}
	f.mu.Unlock()
	if tell && f.opt.OnError != nil {
		f.opt.OnError(err)
	}
}

func (s *struggle) succeed() { s.end(true) }

// giveUp ends the call, whether Redis works or not.
func (s *struggle) giveUp() { s.end(false) }

func (s *struggle) end(worked bool) {
	f := s.f
	f.mu.Lock()
	if s.failing {
		s.failing = false
		f.failing--
	}
	f.worked = f.worked || worked
	tell := f.trouble != nil && f.failing == 0 && f.worked
	if tell {
		f.trouble = nil
	}
	f.mu.Unlock()
	if tell && f.opt.OnError != nil {
		f.opt.OnError(nil)
	}
}

// reseed begins again after Redis lost a bucket: the entries are offered, then
// the buckets are marked, so that a process that dies in between leaves the
// work to another. One goroutine does it; offering twice is harmless.
func (f *Frontier) reseed(ctx context.Context) error {
	f.reseeding.Lock()
	defer f.reseeding.Unlock()
	lost := false
	for b := range f.opt.Buckets {
		n, err := f.client.HExists(ctx, f.key(b, "n"), "v").Result()
		if err != nil {
			return redisx.Explain(err)
		}
		lost = lost || !n
	}
	if !lost {
		return nil // somebody was faster
	}
	if f.opt.Entries != nil {
		calls, _, _ := f.addCalls(f.opt.Entries(), nil)
		for _, c := range calls {
			c.Args[1] = "1" // the bucket need not exist
		}
		if err := redisx.Run(ctx, f.client, calls); err != nil {
			return err
		}
	}
	err := f.mark(ctx)
	f.askAll()
	return err
}

// askAll forgets what is known of the buckets: each is asked again.
func (f *Frontier) askAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for b := range f.buckets {
		f.buckets[b] = bucket{queued: f.buckets[b].queued}
	}
	f.changed()
}

// listen takes in the wake-ups of the other processes, until Close. What came
// while the connection was down is lost, so each new subscription asks all
// buckets.
func (f *Frontier) listen() {
	sub := f.client.Subscribe(f.closed, f.jobKey("wake"))
	defer sub.Close()
	in := sub.ChannelWithSubscriptions()
	for {
		select {
		case <-f.closed.Done():
			return
		case m := <-in:
			switch m := m.(type) {
			case *redis.Subscription:
				f.askAll()
				f.catchUp()
			case *redis.Message:
				if !f.hear(m.Payload) {
					f.wakeUp(m.Payload)
				}
			}
		}
	}
}

// wakeUp takes in "bucket wake queued version".
func (f *Frontier) wakeUp(text string) {
	var n [4]int64
	parts := strings.Fields(text)
	for i := range n {
		if len(parts) != len(n) {
			return // not ours
		}
		var err error
		if n[i], err = strconv.ParseInt(parts[i], 10, 64); err != nil {
			return
		}
	}
	b, wake, queued, version := int(n[0]), n[1], n[2], n[3]
	f.mu.Lock()
	defer f.mu.Unlock()
	if b < 0 || b >= len(f.buckets) || version <= f.buckets[b].version {
		return // an answer told it already
	}
	known := &f.buckets[b]
	known.queued, known.version = queued, version
	if t := fromMillis(wake); wake < never && (known.never || t.Before(known.wake)) {
		known.wake, known.never = t, false
	}
	f.changed()
}

// Durability is what a Redis server keeps when it stops, by its configuration.
type Durability struct {
	Fsync  bool // each change is on disk when it is acknowledged
	AOF    bool // an append-only file; without Fsync the last second may be lost
	Save   bool // snapshots: what came after the last one is lost
	Known  bool // the server said so; managed ones may refuse
	Detail string
}

// Promises tells what the server kept when the job was opened.
func (f *Frontier) Promises() Durability { return f.promise }

// String says it in words.
func (d Durability) String() string {
	switch {
	case !d.Known:
		return "the server does not tell its persistence"
	case d.Fsync:
		return "every change is on disk when it is acknowledged (" + d.Detail + ")"
	case d.AOF:
		return "a crash of the server may lose the last second: pages may come again, none is lost (" + d.Detail + ")"
	case d.Save:
		return "a crash of the server loses what came after its last snapshot: pages may come again, none is lost (" + d.Detail + ")"
	}
	return "nothing is kept when the server stops: the crawl begins again from its entries (" + d.Detail + ")"
}

func durability(ctx context.Context, c redis.UniversalClient) (d Durability, err error) {
	all := map[string]string{}
	for _, name := range []string{"appendonly", "appendfsync", "save"} {
		v, err := c.ConfigGet(ctx, name).Result()
		if err != nil {
			if redisx.Has(err, "NOPERM") || redisx.Has(err, "ERR") {
				return d, nil // CONFIG is closed on managed servers
			}
			return d, redisx.Explain(err)
		}
		for k, v := range v {
			all[k] = v
		}
	}
	d.Known = true
	d.AOF = all["appendonly"] == "yes"
	d.Fsync = d.AOF && all["appendfsync"] == "always"
	d.Save = all["save"] != ""
	d.Detail = fmt.Sprintf("appendonly %s, appendfsync %s, save %q", all["appendonly"], all["appendfsync"], all["save"])
	return d, nil
}
