// Package webtest is a synthetic web with its truth known: the demo crawls it,
// tests and the crash campaign judge crawls by it, benchmarks are fed by it.
//
//	web := webtest.New(webtest.Options{Seed: 1})
//	err := web.Start()                       // loopback only
//	defer web.Close()
//	crawl(web.Entries(), web.ResolverAddr()) // names end in .test and resolve there only
//	report := web.Check(found, 100*time.Millisecond)
//
// Everything follows from (seed, host, page number): a page is made when it is
// asked for, so a web of 200,000 pages takes no more memory than its hosts.
//
// # Shape
//
// Hosts stand in a tree: the front page of host i links to those of hosts 8i+1
// to 8i+8; several hosts share a registrable domain. The pages of a host stand
// in a tree of ten children each: inner ones are navigation pages, leaves are
// articles. All have further links across. So without limits every page can be
// reached from the front page of host 0, the only entry.
//
// On top of that come the [Feature]s, spread over the hosts: what real sites do
// to crawlers. Each host with any has a page /lab/ that leads to them.
//
// [News] is another site: one that goes on for days, in real or virtual time, with
// a report on how well a crawler keeps up with it. [Memory] is a network for
// virtual time.
//
// # Truth
//
// [Web.Truth] walks the same model that the pages are written from, by the
// rules of the crawl as Options tell them (depth, scope, robots agent). It
// never reads its own HTML and uses no crawler code; a test holds it against a
// walker that knows nothing but HTTP and HTML. Endless traps are finite in truth
// because robots.txt forbids them, or, those below /open/, because they exist
// only where Options.Depth limits the crawl. Ten redirects are followed from a
// link, sitemaps named by robots.txt count as links of depth 0, and pages that
// say nofollow lead nowhere.
//
// [Web.Check] compares a crawl with the truth, and with the server's own log and
// clock for politeness.
package webtest
