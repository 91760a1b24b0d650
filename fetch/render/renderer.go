package render

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// Request is a page to render: what the server answered.
type Request struct {
	URL    string // http or https
	Status int
	Header http.Header
	Body   []byte // decoded; not changed, and not held after Render
}

// Result is a page after its scripts ran.
type Result struct {
	HTML     []byte // in UTF-8
	Requests int    // made for scripts and data, refused ones included
	Bytes    int64  // received for them, headers and TLS included
	Parts    []Part // those of Requests that went out; here after an error, too
}

// Renderer renders pages in a browser that it starts when the first one comes.
// All methods may be called by many goroutines at once.
type Renderer struct {
	opt   Options
	slots chan struct{} // one token for each free tab
	life  context.Context
	end   context.CancelFunc // ends all browsers
	done  sync.WaitGroup     // browsers being stopped

	closeOnce func() error

	mu      sync.Mutex
	current *chromium // guarded by mu; nil where none runs
	starts  int64     // guarded by mu: browsers started so far
	closed  bool      // guarded by mu
}

// New returns a Renderer. It starts no browser, but fails where none is
// installed, or an option is out of its range.
func New(opt Options) (*Renderer, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(opt.Dir); err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	r := &Renderer{opt: opt, slots: make(chan struct{}, opt.Tabs)}
	for range opt.Tabs {
		r.slots <- struct{}{}
	}
	r.life, r.end = context.WithCancel(context.Background())
	r.closeOnce = sync.OnceValue(r.shut)
	return r, nil
}

// Starts returns how many browsers were started so far.
func (r *Renderer) Starts() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.starts
}

// Close kills the browser and removes its files. Renderings under way fail.
func (r *Renderer) Close() error { return r.closeOnce() }

func (r *Renderer) shut() error {
	r.end()
	for range r.opt.Tabs {
		<-r.slots // each Render gives its token back soon
	}
	r.mu.Lock()
	r.closed = true
	c := r.current
	r.current = nil
	r.mu.Unlock()
	if c != nil {
		c.stop()
	}
	r.done.Wait()
	return os.RemoveAll(r.opt.Dir)
}

// Render returns the page after its scripts ran. It waits for a free tab, and
// takes Options.Timeout at most from then on. What was cut off by the end of a
// browser is tried once more.
func (r *Renderer) Render(ctx context.Context, q Request) (Result, error) {
	u, err := url.Parse(q.URL)
	if err != nil || !web(q.URL) {
		return Result{}, fmt.Errorf("render %q: not a web page", q.URL)
	}
	select {
	case <-r.slots:
	case <-ctx.Done():
		return Result{}, fmt.Errorf("render %s: no free tab: %w", q.URL, ctx.Err())
	case <-r.life.Done():
		return Result{}, fmt.Errorf("render %s: closed", q.URL)
	}
	defer func() { r.slots <- struct{}{} }()
	var before []Part
	for attempt := 1; ; attempt++ {
		res, lost, err := r.once(ctx, q, u)
		res.Parts = append(before, res.Parts...)
		before = res.Parts
		if err == nil {
			return res, nil
		}
		if !lost || attempt == 2 || ctx.Err() != nil || r.life.Err() != nil {
			return res, fmt.Errorf("render %s: %w", q.URL, err)
		}
	}
}

// once makes one attempt. lost says that the browser was lost, so that another
// one may do better.
func (r *Renderer) once(ctx context.Context, q Request, u *url.URL) (res Result, lost bool, err error) {
	c, p, err := r.open(ctx, u.Host)
	if err != nil {
		return res, false, err
	}
	res, err = r.load(ctx, c, p, q, u.Scheme+"://"+u.Host)
	lost = err != nil && (!c.alive() || errors.Is(err, errCrashed))
	r.leave(c, p, err)
	return res, lost, err
}

// open returns a browser, started where none runs, with one more tab counted,
// and a profile for the host.
func (r *Renderer) open(ctx context.Context, host string) (*chromium, *profile, error) {
	r.mu.Lock()
	c, err := r.running()
	if err != nil {
		r.mu.Unlock()
		return nil, nil, err
	}
	c.tabs++
	c.pages++
	if c.pages >= r.opt.PagesPerProcess {
		c.retired, r.current = true, nil
	}
	p := c.lend(host)
	r.mu.Unlock()
	if p == nil {
		limited, cancel := context.WithTimeout(c.ctx, r.opt.Timeout)
		defer cancel()
		if p, err = c.newProfile(limited, &r.opt, host); err != nil {
			r.leave(c, nil, err)
			return nil, nil, err
		}
	}
	return c, p, nil
}

// running returns the present browser, or starts one. The caller holds mu:
// whoever else wants a tab waits for the same start.
func (r *Renderer) running() (*chromium, error) {
	if r.current != nil && r.current.alive() {
		return r.current, nil
	}
	if r.closed || r.life.Err() != nil {
		return nil, errors.New("closed")
	}
	if r.current != nil {
		r.retire(r.current)
	}
	r.starts++
	c, err := launch(r.life, &r.opt, r.starts)
	if err != nil {
		return nil, err
	}
	r.current = c
	return c, nil
}

// retire lets a browser take no more pages, and stops it once its last tab is
// closed. The caller holds mu.
func (r *Renderer) retire(c *chromium) {
	if r.current == c {
		r.current = nil
	}
	if !c.retired {
		c.retired = true
		r.stopIdle(c)
	}
}

// stopIdle stops a retired browser without tabs. The caller holds mu.
func (r *Renderer) stopIdle(c *chromium) {
	if c.retired && c.tabs == 0 {
		r.done.Go(c.stop)
	}
}

// leave counts the tab as closed. A browser that failed in a way that may be its
// own fault is retired.
func (r *Renderer) leave(c *chromium, p *profile, err error) {
	bad := err != nil && (!c.alive() || errors.Is(err, errHung) || errors.Is(err, errCrashed) || errors.Is(err, context.DeadlineExceeded))
	if p != nil && !bad && c.clear(p) != nil {
		bad = true
	}
	r.mu.Lock()
	var extra *profile
	if p != nil {
		extra = c.keep(p)
	}
	c.tabs--
	if bad {
		r.retire(c)
	} else {
		r.stopIdle(c)
	}
	r.mu.Unlock()
	if extra != nil {
		c.dispose(extra)
	}
}

// memoryTick is how often the memory of a browser with open tabs is looked at.
const memoryTick = 500 * time.Millisecond

// load renders the page in a new tab of the profile, and closes it.
func (r *Renderer) load(ctx context.Context, c *chromium, p *profile, q Request, origin string) (res Result, err error) {
	root, closeTab := chromedp.NewContext(c.ctx, chromedp.WithExistingBrowserContext(p.id))
	defer closeTab()
	limited, cancel := context.WithTimeout(root, r.opt.Timeout)
	defer cancel()
	limited, cut := context.WithCancelCause(limited)
	defer cut(nil)
	defer context.AfterFunc(ctx, func() { cut(ctx.Err()) })()
	defer r.watchMemory(limited, c, cut)()

	p.proxy.begin(r.opt.MaxBytes)
	t := &tab{ctx: limited, opt: &r.opt, page: q, idle: map[cdp.LoaderID]bool{}, change: make(chan struct{}, 1)}
	text, err := t.run()
	left := p.proxy.end()
	res.Parts = t.sent.close(time.Now())
	if err != nil {
		if cause := context.Cause(limited); cause != nil && !errors.Is(err, errHung) {
			err = cause
		}
		return res, err
	}
	t.mu.Lock()
	res.Requests, text = t.requests, withMove(text, t.moved)
	t.mu.Unlock()
	res.HTML, res.Bytes = []byte(text), r.opt.MaxBytes-left
	return res, t.clearStorage(limited, origin)
}

// watchMemory kills a browser that uses too much memory. The function it returns
// ends the watch and waits for that.
func (r *Renderer) watchMemory(ctx context.Context, c *chromium, cut context.CancelCauseFunc) func() {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(memoryTick)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if used := privateMemory(c.pid); used > r.opt.MaxMemory {
				cut(fmt.Errorf("%w: %d MiB of %d", errMemory, used>>20, r.opt.MaxMemory>>20))
				killGroup(c.pid)
				return
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}
