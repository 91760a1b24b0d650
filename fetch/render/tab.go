package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
)

// Errors of a rendering that say something about the browser.
var (
	errCrashed = errors.New("the page's process crashed")
	errMemory  = errors.New("the browser used too much memory")
	errHung    = errors.New("its scripts do not let go of the page")
)

// tab renders one page.
type tab struct {
	ctx  context.Context // of chromedp; ends with the page
	opt  *Options
	page Request
	main cdp.FrameID
	sent parts

	mu       sync.Mutex
	served   bool                  // guarded by mu: the document was handed out
	moved    string                // guarded by mu: where a script wanted to go
	requests int                   // guarded by mu: for scripts and data
	idle     map[cdp.LoaderID]bool // guarded by mu: documents that load nothing any more
	change   chan struct{}         // has room for one: idle changed, or the page crashed
	crashed  bool                  // guarded by mu
}

// A page that still shows nothing is looked at again after lookAgain, until
// calmLooks in a row show the same.
const (
	lookAgain = 400 * time.Millisecond
	calmLooks = 4
)

// run loads the page and returns its HTML.
func (t *tab) run() (string, error) {
	if err := chromedp.Listen(t.ctx, t.event); err != nil {
		return "", err
	}
	t.main = cdp.FrameID(chromedp.FromContext(t.ctx).Target.TargetID)
	if _, err := chromedp.Call(t.ctx, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*"}}}); err != nil {
		return "", err
	}
	if _, err := chromedp.Call(t.ctx, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true}); err != nil {
		return "", err
	}
	nav, err := chromedp.Call(t.ctx, page.Navigate, page.NavigateParams{URL: t.page.URL})
	if err != nil {
		return "", err
	}
	if nav.ErrorText != "" {
		return "", fmt.Errorf("the browser does not take the page: %s", nav.ErrorText)
	}
	return t.settle(nav.LoaderID)
}

// settle waits until the page loads nothing more, at most for Options.Settle, and
// returns what is there. Where that is nothing yet it looks again: scripts may
// wait for a timer, or for data that came after the load.
func (t *tab) settle(document cdp.LoaderID) (string, error) {
	over := time.NewTimer(t.opt.Settle)
	defer over.Stop()
	late, err := t.waitIdle(document, over.C)
	if err != nil {
		return "", err
	}
	text, err := t.snapshot()
	for calm := 0; err == nil && !late && calm < calmLooks && Needs([]byte(text)) != ""; calm++ {
		select {
		case <-over.C:
			late = true
		case <-time.After(lookAgain):
		case <-t.ctx.Done():
			return "", context.Cause(t.ctx)
		}
		before := text
		if text, err = t.snapshot(); text != before {
			calm = -1
		}
	}
	return text, err
}

// waitIdle waits until the document loads nothing; late says that over came
// first.
func (t *tab) waitIdle(document cdp.LoaderID, over <-chan time.Time) (late bool, err error) {
	for !t.isIdle(document) {
		select {
		case <-t.change:
			if t.hasCrashed() {
				return false, errCrashed
			}
		case <-over:
			return true, nil
		case <-t.ctx.Done():
			return false, context.Cause(t.ctx)
		}
	}
	return false, nil
}

func (t *tab) isIdle(document cdp.LoaderID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.idle[document]
}

func (t *tab) hasCrashed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.crashed
}

// snapshot returns the document as it stands. It runs in a world of its own,
// where nothing that the page did to the language is to be seen.
func (t *tab) snapshot() (string, error) {
	world, err := chromedp.Call(t.ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: t.main, WorldName: "octopus"})
	if err != nil {
		return "", t.hung(err)
	}
	byValue := true
	res, err := chromedp.Call(t.ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("(%s)(%d)", serialize, t.opt.MaxHTML), ContextID: world.ExecutionContextID, ReturnByValue: &byValue})
	if err != nil {
		return "", t.hung(err)
	}
	if res.ExceptionDetails != nil {
		return "", fmt.Errorf("read the document: %s", res.ExceptionDetails.Text)
	}
	var text string
	if err := json.Unmarshal(res.Result.Value, &text); err != nil {
		return "", fmt.Errorf("read the document: %w", err)
	}
	return text, nil
}

// hung tells a page that does not answer within its time from other errors.
func (t *tab) hung(err error) error {
	if errors.Is(context.Cause(t.ctx), context.DeadlineExceeded) {
		return errHung
	}
	return err
}

// serialize is the script that writes the document. The content of open shadow
// roots is what a reader sees, so it is put where a parser looks, innermost
// first.
const serialize = `(most) => {
	const hosts = [];
	const find = (root) => { for (const e of root.querySelectorAll('*')) if (e.shadowRoot) { hosts.push(e); find(e.shadowRoot); } };
	find(document);
	let html = document.documentElement.outerHTML;
	if (hosts.length) {
		const copy = new Map();
		const text = (node) => {
			const out = node.cloneNode(false);
			for (const child of node.childNodes) out.append(text(child));
			if (node.shadowRoot) for (const child of node.shadowRoot.childNodes) out.append(text(child));
			return out;
		};
		html = text(document.documentElement).outerHTML;
	}
	return ('<!DOCTYPE html>' + html).slice(0, most);
}`

// event is called for each event, one after the other, and must not wait.
func (t *tab) event(ev any) {
	switch ev := ev.(type) {
	case *fetch.EventRequestPaused:
		act := t.decide(ev)
		go act() // ends with t.ctx at the latest; MaxRequests bounds them
	case *page.EventLifecycleEvent:
		if ev.Name == "networkIdle" && ev.FrameID == t.main {
			t.mu.Lock()
			t.idle[ev.LoaderID] = true
			t.mu.Unlock()
			t.wake()
		}
	case *page.EventJavascriptDialogOpening:
		go func() { // a dialog stops the page's scripts
			_, _ = chromedp.Call(t.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}()
	case *inspector.EventTargetCrashed:
		t.mu.Lock()
		t.crashed = true
		t.mu.Unlock()
		t.wake()
	default:
		t.sent.event(ev, time.Now())
	}
}

func (t *tab) wake() {
	select {
	case t.change <- struct{}{}:
	default:
	}
}

// decide returns what to do about a request that the browser wants to make.
func (t *tab) decide(ev *fetch.EventRequestPaused) func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	url := ev.Request.URL
	switch ev.ResourceType {
	case network.ResourceTypeDocument:
		switch {
		case ev.FrameID != t.main:
			return t.refuse(ev.RequestID, network.ErrorReasonBlockedByClient)
		case !t.served:
			t.served = true
			return t.answer(ev.RequestID, int64(t.page.Status), documentHeader(t.page.Header), t.page.Body)
		}
		if t.moved == "" && url != t.page.URL {
			t.moved = url
		}
		return t.refuse(ev.RequestID, network.ErrorReasonAborted) // any other reason replaces the page
	case network.ResourceTypeStylesheet:
		// Applications give up where a style sheet fails, so they get an empty one.
		return t.answer(ev.RequestID, http.StatusOK, []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/css"}, {Name: "Access-Control-Allow-Origin", Value: "*"}}, nil)
	case network.ResourceTypeScript, network.ResourceTypeXHR, network.ResourceTypeFetch, network.ResourceTypePreflight, network.ResourceTypeOther:
		if ev.ResourceType == network.ResourceTypeOther && icon(url) {
			return t.refuse(ev.RequestID, network.ErrorReasonBlockedByClient)
		}
		t.requests++
		if web(url) && t.requests <= t.opt.MaxRequests && (t.opt.Allow == nil || t.opt.Allow(url)) {
			t.sent.begin(ev, time.Now())
			return t.pass(ev.RequestID)
		}
	}
	return t.refuse(ev.RequestID, network.ErrorReasonBlockedByClient)
}

func web(url string) bool {
	return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://")
}

// icon reports whether the URL is that of an icon, which browsers fetch unasked.
func icon(url string) bool {
	url, _, _ = strings.Cut(url, "?")
	return strings.HasSuffix(url, ".ico") || strings.HasSuffix(url, ".png") || strings.HasSuffix(url, ".svg")
}

// The answers. Their errors say that the page is gone.

func (t *tab) pass(id fetch.RequestID) func() {
	return func() {
		_, _ = chromedp.Call(t.ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: id})
	}
}

func (t *tab) refuse(id fetch.RequestID, why network.ErrorReason) func() {
	return func() {
		_, _ = chromedp.Call(t.ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: id, ErrorReason: why})
	}
}

func (t *tab) answer(id fetch.RequestID, status int64, header []*fetch.HeaderEntry, body []byte) func() {
	return func() {
		_, _ = chromedp.Call(t.ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: id, ResponseCode: status, ResponseHeaders: header, Body: body})
	}
}

// documentHeader returns the fields of the answer that shape the document.
func documentHeader(h http.Header) []*fetch.HeaderEntry {
	var out []*fetch.HeaderEntry
	for _, name := range [...]string{"Content-Type", "Content-Language", "Content-Security-Policy", "Last-Modified"} {
		for _, v := range h.Values(name) {
			out = append(out, &fetch.HeaderEntry{Name: name, Value: v})
		}
	}
	return out
}

// withMove adds where a script wanted to go, as the refresh that it amounts to:
// the parser follows those like links.
func withMove(text, moved string) string {
	if !web(moved) {
		return text
	}
	return text + `<meta http-equiv="refresh" content="0;url=` + html.EscapeString(moved) + `">`
}

// clearStorage empties what the page's origin stored, but for the cache.
func (t *tab) clearStorage(ctx context.Context, origin string) error {
	_, err := chromedp.Call(ctx, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{
		Origin: origin, StorageTypes: "cookies,local_storage,indexeddb,service_workers,cache_storage,websql,file_systems"})
	return err
}
