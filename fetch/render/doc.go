// Package render lets a browser run the scripts of pages that show nothing
// without them. It is asked after the page was fetched: [Needs] tells from the
// bytes whether a browser would show more, and [Renderer.Render] has headless
// Chromium make the page from the very bytes the server sent.
//
//	Page.Body ──Needs──> no: done, no browser was started
//	               └───> Render ──> tab (one of Options.Tabs) ──> HTML after its scripts ran
//	                                 │ the document: Page.Body, no second request
//	                                 │ styles: empty; images, fonts, media, frames, beacons: refused
//	                                 └ scripts and data ──> proxy ──> guarded dialer ──> the site
//
// # What a page may reach
//
// Chromium is told to send everything through a proxy of ours, loopback
// included, and resolves no names itself. The proxy opens connections with
// Options.Dial alone, which is the guarded dialer of package fetch: private
// addresses are refused and bandwidth is shared as for any other request. A
// page has a bound of requests (Options.MaxRequests), of bytes
// (Options.MaxBytes) and of time (Options.Timeout); Options.Allow may refuse
// single URLs, which is how robots.txt is obeyed.
//
// # Politeness
//
// The document is the one request its lease stands for. What its scripts ask
// for is part of that visit, as it is when a person looks at the page: those
// requests do not wait for the host's gap, but the gap begins only when the last
// of them is over. Pages of one host share a cache, so that an application's
// scripts are fetched once and not with every page.
//
// # Process
//
// The browser is started by the first page that needs it, in its own process
// group and with a profile directory of its own, and is killed with the crawler.
// It is replaced after Options.PagesPerProcess pages, when it crashes or hangs,
// and when it uses more than Options.MaxMemory. What was under way in it is then
// tried once more in the next one. Cookies and storage are cleared after every
// page.
package render
