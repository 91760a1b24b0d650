package redisfrontier

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/frontier/manners"
	"octopus/internal/redisx"
)

// Explain tells all that the job knows of a URL.
func (f *Frontier) Explain(ctx context.Context, u octopus.URL) (octopus.Explanation, error) {
	e := octopus.Explanation{URL: u, State: "unknown"}
	b, h := f.bucketOf(u.Key), u.Key.Host()
	pipe := f.client.Pipeline()
	raw := pipe.HGet(ctx, f.key(b, "url"), string(u.Key[:]))
	host := pipe.HMGet(ctx, f.key(b, "h:"+string(h[:])), "next", "blocked", "why", "queued", "known", "busy")
	due := pipe.ZScore(ctx, f.key(b, "due"), string(u.Key[:]))
	if _, err := pipe.Exec(ctx); err != nil && !redisIsNil(err) {
		return e, fmt.Errorf("redisfrontier: %w", redisx.Explain(err))
	}
	fact := func(name, format string, args ...any) {
		e.Facts = append(e.Facts, octopus.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	fact("queue", "job %s, bucket %d of %d in Redis", f.opt.Job, b, f.opt.Buckets)
	fact("durability", "%s", f.promise)
	if raw.Val() == "" {
		return e, nil
	}
	r, err := decodeRecord(raw.Val())
	if err != nil {
		return e, fmt.Errorf("redisfrontier: %s: %w", u, err)
	}
	e.State, e.Reason = stateNames[r.state], r.reason
	fact("depth", "%d", r.pos.depth())
	if r.link.via != "" {
		fact("via", "%s", r.link.via)
	}
	if r.detail != "" {
		fact("detail", "%s", r.detail)
	}
	if r.visits > 0 {
		fact("visits", "%d", r.visits)
		fact("last visit", "%s, status %d", r.last.at.UTC().Format(time.RFC3339), r.last.status)
	}
	if r.tries > 0 {
		fact("failed attempts", "%d", r.tries)
	}
	f.explainHost(&e, r, host, due)
	return e, nil
}

// explainHost says what a URL's host waits for.
func (f *Frontier) explainHost(e *octopus.Explanation, r *record, host *redis.SliceCmd, due *redis.FloatCmd) {
	v := make([]int64, 6)
	for i, x := range host.Val() {
		text, _ := x.(string)
		v[i], _ = strconv.ParseInt(text, 10, 64)
	}
	e.Facts = append(e.Facts, octopus.Fact{Name: "host", Value: fmt.Sprintf("%d URLs known, %d queued, %d requests under way", v[4], v[3], v[5])})
	now := f.serverNow()
	next, blocked := fromMillis(v[0]), fromMillis(v[1])
	switch {
	case r.state == stateAgain:
		e.Waiting = fmt.Sprintf("its next visit in %s", until(now, time.UnixMilli(int64(due.Val()))))
	case r.state == stateLater:
		e.Waiting = fmt.Sprintf("its next attempt in %s", until(now, time.UnixMilli(int64(due.Val()))))
	case r.state != stateQueued:
	case blocked.After(now):
		e.Waiting = fmt.Sprintf("its host (%s) for another %s", manners.Why(v[2]), until(now, blocked))
	case v[5] > 0:
		e.Waiting = "a request to its host that is under way"
	case next.After(now):
		e.Waiting = fmt.Sprintf("the gap of its host, another %s", until(now, next))
	default:
		e.Waiting = "its turn"
	}
}

func until(now, t time.Time) time.Duration { return max(t.Sub(now), 0).Round(100 * time.Millisecond) }

// Counts returns the totals of the job, over all processes, in one round trip.
// While Redis does not answer they are those of the time before.
func (f *Frontier) Counts() octopus.Counts {
	ctx, cancel := context.WithTimeout(f.closed, 5*time.Second)
	defer cancel()
	c, err := f.readCounts(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.counts = c
	}
	return f.counts
}

// readCounts reads the counters of all buckets in one round trip.
func (f *Frontier) readCounts(ctx context.Context) (c octopus.Counts, err error) {
	pipe := f.client.Pipeline()
	all := make([]*redis.SliceCmd, f.opt.Buckets)
	queued := make([]int64, f.opt.Buckets)
	for b := range all {
		all[b] = pipe.HMGet(ctx, f.key(b, "n"), "known", "queued", "leased", "later", "done", "parked", "hosts", "pages", "failed", "again", "v")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return c, redisx.Explain(err)
	}
	into := []*int64{&c.Known, &c.Queued, &c.Leased, &c.Later, &c.Done, &c.Parked, &c.Hosts, &c.Pages, &c.Failed, &c.Again}
	for b, cmd := range all {
		v := cmd.Val()
		if v[len(into)] == nil {
			return c, fmt.Errorf("redis lost bucket %d", b)
		}
		for i, n := range into {
			text, _ := v[i].(string)
			x, _ := strconv.ParseInt(text, 10, 64)
			*n += x
			if n == &c.Queued {
				queued[b] = x
			}
		}
	}
	c.Queued, c.Later = c.Queued+c.Again, c.Later+c.Again // pages that wait for a refresh are counted by themselves in Redis
	f.mu.Lock()
	defer f.mu.Unlock()
	for b := range queued {
		f.buckets[b].queued = queued[b]
	}
	return c, nil
}

// Drained returns once nothing is queued or leased by any process, but for pages
// that wait for a refresh, or with the error of ctx. A process that waits in Lease
// learns of the end this way.
func (f *Frontier) Drained(ctx context.Context) error {
	for {
		f.mu.Lock()
		queued, change := int64(0), f.change
		for i := range f.buckets {
			queued += f.buckets[i].queued
		}
		f.mu.Unlock()
		if queued == 0 {
			c, err := f.readCounts(ctx)
			due := false
			if err == nil && c.Queued == c.Again {
				due, err = f.someDue(ctx)
			}
			switch {
			case err == nil && due:
				if err := f.wait(ctx, time.Time{}, change); err != nil { // somebody's Lease queues them
					return err
				}
				continue
			case err == nil && c.Queued == c.Again:
				return nil
			case err == nil:
				continue // what was known of the buckets was too old
			}
			if err := f.sleep(ctx, time.Second); err != nil {
				return err
			}
			continue
		}
		if err := f.wait(ctx, time.Time{}, change); err != nil {
			return err
		}
	}
}

// someDue reports whether the time of a page that waits for a refresh has come.
func (f *Frontier) someDue(ctx context.Context) (bool, error) {
	pipe := f.client.Pipeline()
	now := strconv.FormatInt(f.serverNow().UnixMilli(), 10)
	first := make([]*redis.StringSliceCmd, f.opt.Buckets)
	for b := range first {
		first[b] = pipe.ZRangeByScore(ctx, f.key(b, "due"), &redis.ZRangeBy{Min: "-inf", Max: now, Count: 1})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return false, redisx.Explain(err)
	}
	return slices.ContainsFunc(first, func(c *redis.StringSliceCmd) bool { return len(c.Val()) > 0 }), nil
}

// Waiting tells why no lease is handed out now; empty where leases wait for
// nobody.
func (f *Frontier) Waiting() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.trouble != nil {
		return f.trouble.Error()
	}
	var queued int64
	var wake time.Time
	now := f.now()
	for _, b := range f.buckets {
		queued += b.queued
		if b.never || b.queued == 0 {
			continue
		}
		if !b.wake.After(now) {
			return ""
		}
		if wake.IsZero() || b.wake.Before(wake) {
			wake = b.wake
		}
	}
	if queued == 0 || wake.IsZero() {
		return ""
	}
	return fmt.Sprintf("no host of job %s is ready; the next may be in %s", f.opt.Job, until(now, wake))
}
