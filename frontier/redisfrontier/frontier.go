package redisfrontier

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/internal/redisx"
)

// ErrClosed is what calls return once the Frontier is closed.
var ErrClosed = errors.New("redisfrontier: closed")

var (
	//go:embed lib.lua
	libText string
	//go:embed add.lua
	addText string
	//go:embed lease.lua
	leaseText string
	//go:embed settle.lua
	settleText string
	//go:embed ip.lua
	ipText string

	addScript    = redisx.NewScript(libText, addText)
	leaseScript  = redisx.NewScript(libText, leaseText)
	settleScript = redisx.NewScript(libText, settleText)
	ipScript     = redisx.NewScript(ipText)
)

// Frontier is one process's view of a shared job. All methods may be called by
// many goroutines at once.
type Frontier struct {
	opt     Options
	client  redis.UniversalClient
	own     bool // client was dialled here
	promise Durability
	rules   rulesCache

	mu      sync.Mutex
	buckets []bucket       // guarded by mu
	next    int            // guarded by mu: where the search for work begins
	change  chan struct{}  // guarded by mu: closed when a bucket's wake time came nearer
	offset  time.Duration  // guarded by mu: the server's clock minus ours
	clocks  clocks         // guarded by mu: what offset comes from
	counts  octopus.Counts // guarded by mu: as last read
	trouble error          // guarded by mu: why Redis does not work now
	worked  bool           // guarded by mu: a call succeeded since the last one that failed
	failing int            // guarded by mu: calls that wait for it to work
	held    held           // guarded by mu: leases of this process
	entries known          // guarded by mu
	born    string         // guarded by mu: what tells this Redis from one that came back empty

	reseeding sync.Mutex            // one reseed at a time
	drawing   sync.Mutex            // guards opt.Rand
	released  chan *octopus.Outcome // Release -> releaseLoop
	closed    context.Context       // ends with Close
	cancel    context.CancelFunc
	done      sync.WaitGroup
}

// bucket is what a process knows of a bucket: never later than the truth.
type bucket struct {
	wake   time.Time // when it has something to do; zero for now
	never  bool      // not before somebody says so
	queued int64

	// version numbers the messages of the bucket. Answers and messages come on
	// different connections; the one with the smaller version is the older.
	version int64
}

var (
	_ octopus.Frontier  = (*Frontier)(nil)
	_ octopus.Releaser  = (*Frontier)(nil)
	_ octopus.Counter   = (*Frontier)(nil)
	_ octopus.Explainer = (*Frontier)(nil)
	_ octopus.Waiter    = (*Frontier)(nil)
)

// Open joins the job, and makes it where it is new. It fails where Redis does
// not answer now; later calls wait for it. The caller must Close the Frontier.
func Open(ctx context.Context, opt Options) (*Frontier, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	f := &Frontier{opt: opt, client: opt.Client, change: make(chan struct{}), released: make(chan *octopus.Outcome, 1024)}
	f.closed, f.cancel = context.WithCancel(context.Background())
	if f.client == nil {
		if f.client, err = redisx.Dial(ctx, opt.URL); err != nil {
			return nil, fmt.Errorf("redisfrontier: %w", err)
		}
		f.own = true
	}
	if err := f.join(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("redisfrontier: job %s: %w", opt.Job, err), f.Close())
	}
	f.done.Go(f.listen)
	f.done.Go(f.releaseLoop)
	return f, nil
}

// Close gives back the leases of this process that are not done, stops its
// goroutines and ends all waiting calls. Leases that Redis does not take back
// within five seconds end by themselves.
func (f *Frontier) Close() error {
	f.surrender()
	f.cancel()
	f.done.Wait()
	if !f.own {
		return nil
	}
	return f.client.Close()
}

// format is that of the keys; others are refused.
const format = "2"

// join reads or writes what all processes of a job share, and makes sure that
// each bucket exists.
func (f *Frontier) join(ctx context.Context) error {
	if err := redisx.CheckEviction(ctx, f.client, false); err != nil {
		return err
	}
	key := f.jobKey("job")
	pipe := f.client.Pipeline()
	pipe.HSetNX(ctx, key, "format", format)
	pipe.HSetNX(ctx, key, "buckets", f.opt.Buckets)
	fields := pipe.HMGet(ctx, key, "format", "buckets")
	if _, err := pipe.Exec(ctx); err != nil {
		return redisx.Explain(err)
	}
	v := fields.Val()
	if v[0] != format {
		return fmt.Errorf("its keys have format %v, this program knows %s: use the program that made them, or another job name", v[0], format)
	}
	n, err := strconv.Atoi(fmt.Sprint(v[1]))
	if err != nil || n < 1 || n > maxBuckets {
		return fmt.Errorf("key %s has %v buckets: it is damaged, or no job", key, v[1])
	}
	f.opt.Buckets = n
	f.buckets = make([]bucket, n)
	if f.promise, err = durability(ctx, f.client); err != nil {
		return err
	}
	return f.mark(ctx)
}

// mark makes the buckets exist: a script that finds one missing knows that
// Redis lost it.
func (f *Frontier) mark(ctx context.Context) error {
	pipe := f.client.Pipeline()
	pipe.HSetNX(ctx, f.jobKey("job"), "format", format)
	pipe.HSetNX(ctx, f.jobKey("job"), "buckets", f.opt.Buckets)
	pipe.HSetNX(ctx, f.jobKey("job"), "born", strconv.FormatInt(f.draw(math.MaxInt64), 36))
	for b := range f.opt.Buckets {
		pipe.HSetNX(ctx, f.key(b, "n"), "v", 1)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return redisx.Explain(err)
	}
	_, err := f.same(ctx, "")
	return err
}

// same reports whether the job is the one of that birth still: where Redis came
// back empty, what was stored before is gone.
func (f *Frontier) same(ctx context.Context, born string) (bool, error) {
	now, err := f.client.HGet(ctx, f.jobKey("job"), "born").Result()
	if err != nil && !redisIsNil(err) {
		return false, redisx.Explain(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.born = now
	return now == born, nil
}

// jobKey is a key of the whole job, key one of a bucket.
func (f *Frontier) jobKey(name string) string { return "{" + f.opt.Job + "}:" + name }
func (f *Frontier) key(bucket int, name string) string {
	return "{" + f.opt.Job + ":" + strconv.Itoa(bucket) + "}:" + name
}

// bucketOf returns the bucket of a site, and so of all its hosts and URLs.
func (f *Frontier) bucketOf(k octopus.Key) int {
	s := k.Site()
	return int((uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])) % uint32(f.opt.Buckets))
}

// call returns the call of a script of a bucket.
func (f *Frontier) call(s *redisx.Script, b int, rest ...any) *redisx.Call {
	return &redisx.Call{Script: s, Keys: []string{f.key(b, "n")}, Args: append([]any{
		f.clock(), "", f.opt.ConnsPerHost, f.opt.LaneWeight, f.opt.SiteDelay.Milliseconds(),
		f.opt.HostDelay.Milliseconds(), f.jobKey("wake"), b,
	}, rest...)}
}

// clock is the time a script is told; "" is the server's.
func (f *Frontier) clock() any {
	if f.opt.Now != nil {
		return f.opt.Now().UnixMilli()
	}
	return ""
}

// reply reads what every script answers: its own reply, and what it says of its
// bucket.
func (f *Frontier) reply(b int, c *redisx.Call) (any, error) {
	list, ok := c.Reply.([]any)
	if !ok || len(list) != 5 {
		return nil, fmt.Errorf("redisfrontier: unexpected answer %v", c.Reply)
	}
	now, _ := list[1].(int64)
	queued, _ := list[3].(int64)
	version, _ := list[4].(int64)
	text, _ := list[2].(string)
	wake, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("redisfrontier: unexpected wake time %q", text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opt.Now == nil {
		f.offset = f.clocks.look(time.Now(), time.Until(time.UnixMilli(now)))
	}
	f.heard(b, wake, queued, version)
	return list[0], nil
}

// clocks compares the server's clock with ours. An answer travels, so each look
// is too small by that: the largest of the last ten to twenty seconds is the
// best, and a clock that is set or drifts is followed.
type clocks struct {
	since           time.Time     // begin of the present ten seconds
	before, present time.Duration // largest looks of the ten seconds before, and of these
}

// look takes in a look at the server's clock at now, and returns its lead.
func (c *clocks) look(now time.Time, lead time.Duration) time.Duration {
	switch {
	case c.since.IsZero():
		c.since, c.before, c.present = now, lead, lead
	case now.Sub(c.since) > 10*time.Second:
		c.since, c.before, c.present = now, c.present, lead
	default:
		c.present = max(c.present, lead)
	}
	return max(c.before, c.present)
}

// never is the wake time of a bucket that waits for somebody.
const never = 9e15

// heard notes when a bucket has something to do, as an answer of that version
// says. The caller holds mu.
func (f *Frontier) heard(b int, wake, queued, version int64) {
	was := f.buckets[b]
	is := bucket{wake: fromMillis(wake), never: wake >= never, queued: queued, version: version}
	if version < was.version { // a message overtook it
		is.queued, is.version = was.queued, was.version
		if is.never || !was.never && was.wake.Before(is.wake) {
			is.wake, is.never = was.wake, was.never
		}
	}
	f.buckets[b] = is
	if !is.never && (was.never || is.wake.Before(was.wake)) || (was.queued == 0) != (is.queued == 0) {
		f.changed()
	}
}

// changed wakes everybody who waits. The caller holds mu.
func (f *Frontier) changed() {
	close(f.change)
	f.change = make(chan struct{})
}

// now is the server's time. The caller holds mu.
func (f *Frontier) now() time.Time {
	if f.opt.Now != nil {
		return f.opt.Now()
	}
	return time.Now().Add(f.offset)
}

// serverNow is now for callers without mu; serverTime and localTime turn times
// of this machine's clock into the server's and back.
func (f *Frontier) serverNow() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now()
}

// clockError is how much too early a time of this machine may look by the
// server's clock, which is read in whole milliseconds over the network.
const clockError = 2 * time.Millisecond

// endOf turns the end of a request into the server's time, where a host's pause
// begins: rather later than it was than earlier. It is now at the latest, which
// may be too early as well.
func (f *Frontier) endOf(end, now time.Time) time.Time {
	if end = f.serverTime(end); end.IsZero() || end.After(now) {
		end = now
	}
	if f.opt.Now != nil {
		return end // there is one clock only
	}
	return end.Add(clockError)
}

func (f *Frontier) serverTime(t time.Time) time.Time { return f.shift(t, 1) }
func (f *Frontier) localTime(t time.Time) time.Time  { return f.shift(t, -1) }
func (f *Frontier) shift(t time.Time, sign time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return t.Add(sign * f.offset)
}
