package render

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

const (
	startLimit  = 30 * time.Second // for a browser to come up
	tidyLimit   = 5 * time.Second  // for it to clear a profile
	maxProfiles = 8                // kept with their caches, of as many hosts
)

// chromium is one running browser. Its fields but ctx are guarded by the mutex
// of its Renderer.
type chromium struct {
	ctx  context.Context // of chromedp; ends when the process does
	stop func()          // kills the process, waits for it and removes its files; call once
	pid  int

	pages    int  // rendered or under way
	tabs     int  // open
	retired  bool // takes no more pages; stopped when the last tab closes
	profiles []*profile
}

// profile is a browser context: cache, cookies and storage of one host, and the
// proxy it is tied to. One page at a time uses it.
type profile struct {
	host  string
	id    cdp.BrowserContextID
	proxy *proxy
}

// flags of every browser. What it would ask the network for by itself is off;
// what is left goes to a proxy that lets nothing pass between pages.
func flags(opt *Options, dir string) []chromedp.ExecAllocatorOption {
	all := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(opt.Browser),
		chromedp.Flag("headless", true),
		chromedp.Flag("no-sandbox", os.Getuid() == 0), // Chromium refuses its sandbox to root
		chromedp.Flag("user-data-dir", dir),
		chromedp.Flag("proxy-server", "http://127.0.0.1:1"), // of no profile: leads nowhere
		chromedp.Flag("proxy-bypass-list", "<-loopback>"),   // loopback through the proxy too
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("js-flags", "--max-old-space-size=512"),
		chromedp.Flag("disable-features", "Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,InterestFeedContentSuggestions"),
		chromedp.ModifyCmdFunc(ownGroup),
	}
	for _, name := range [...]string{
		"disable-gpu", "disable-quic", "no-first-run", "no-default-browser-check", "disable-background-networking", "disable-component-update",
		"disable-sync", "disable-extensions", "disable-default-apps", "disable-breakpad", "disable-dev-shm-usage", "disable-domain-reliability",
		"disable-client-side-phishing-detection", "disable-background-timer-throttling", "disable-renderer-backgrounding",
		"disable-backgrounding-occluded-windows", "disable-notifications", "disable-remote-fonts", "dns-prefetch-disable", "block-new-web-contents",
		"deny-permission-prompts", "mute-audio", "hide-scrollbars", "metrics-recording-only", "no-pings",
	} {
		all = append(all, chromedp.Flag(name, true))
	}
	if opt.UserAgent != "" {
		all = append(all, chromedp.UserAgent(opt.UserAgent))
	}
	return all
}

// launch starts a browser; ctx ends it. Number tells its profile directory from
// those of the browsers before.
func launch(ctx context.Context, opt *Options, number int64) (*chromium, error) {
	dir := filepath.Join(opt.Dir, fmt.Sprintf("profile-%d", number))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	quiet := func(string, ...any) {}
	alloc, stopAlloc := chromedp.NewExecAllocator(ctx, flags(opt, dir)...)
	root, stopRoot := chromedp.NewContext(alloc, chromedp.WithLogf(quiet), chromedp.WithErrorf(quiet), chromedp.WithDebugf(quiet))
	c := &chromium{ctx: root}
	c.stop = func() {
		for _, p := range c.profiles {
			p.proxy.close()
		}
		stopRoot()
		stopAlloc()
		if c.pid != 0 {
			killGroup(c.pid)
		}
		removeAll(dir)
	}
	timer := time.AfterFunc(startLimit, stopRoot)
	err := chromedp.Do(root)
	if !timer.Stop() && err == nil {
		err = context.DeadlineExceeded
	}
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("render: start %s: %w", opt.Browser, err)
	}
	c.pid = chromedp.FromContext(root).Browser.Process().Pid
	return c, nil
}

// removeAll deletes a profile. Processes that were just killed may still be
// writing there; what they leave is removed by the next New.
func removeAll(dir string) {
	for range 5 {
		if os.RemoveAll(dir) == nil {
			return
		}
	}
}

// alive reports whether the process runs and answers.
func (c *chromium) alive() bool { return c.ctx.Err() == nil }

// lend takes the idle profile of host out of the list, or returns nil. The
// caller holds the mutex.
func (c *chromium) lend(host string) *profile {
	i := slices.IndexFunc(c.profiles, func(p *profile) bool { return p.host == host })
	if i < 0 {
		return nil
	}
	p := c.profiles[i]
	c.profiles = slices.Delete(c.profiles, i, i+1)
	return p
}

// keep puts a profile back, and returns one that is too many, or nil. The caller
// holds the mutex.
func (c *chromium) keep(p *profile) *profile {
	c.profiles = append(c.profiles, p)
	if len(c.profiles) <= maxProfiles {
		return nil
	}
	oldest := c.profiles[0]
	c.profiles = slices.Delete(c.profiles, 0, 1)
	return oldest
}

// newProfile makes a browser context behind a proxy of its own.
func (c *chromium) newProfile(ctx context.Context, opt *Options, host string) (*profile, error) {
	px, err := newProxy(opt.Dial)
	if err != nil {
		return nil, err
	}
	b := chromedp.FromContext(c.ctx).Browser
	res, err := cdp.Call(ctx, b, target.CreateBrowserContext, target.CreateBrowserContextParams{ProxyServer: px.url(), ProxyBypassList: "<-loopback>"})
	if err == nil {
		_, err = cdp.Call(ctx, b, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: res.BrowserContextID})
	}
	if err != nil {
		px.close()
		return nil, err
	}
	return &profile{host, res.BrowserContextID, px}, nil
}

// clear empties a profile of its cookies. An error means that the browser does
// not answer.
func (c *chromium) clear(p *profile) error {
	ctx, cancel := context.WithTimeout(c.ctx, tidyLimit)
	defer cancel()
	_, err := cdp.Call(ctx, chromedp.FromContext(c.ctx).Browser, storage.ClearCookies, storage.ClearCookiesParams{BrowserContextID: p.id})
	return err
}

// dispose ends a profile.
func (c *chromium) dispose(p *profile) {
	p.proxy.close()
	ctx, cancel := context.WithTimeout(c.ctx, tidyLimit)
	defer cancel()
	// A browser that fails here is on its way out.
	_, _ = cdp.Call(ctx, chromedp.FromContext(c.ctx).Browser, target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: p.id})
}
