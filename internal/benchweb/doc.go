// Package benchweb is the web that benchmarks crawl: large, uniform, without
// faults, and so cheap to serve that the crawler is what is measured. The web
// that is difficult on purpose is internal/webtest.
//
// Everything follows from (seed, page number). A page is written when it is
// asked for, from paragraphs made beforehand, in a few microseconds; so a web of
// 200,000 pages takes no more memory than a counter each.
//
// # Shape
//
// Host h is the address 127.1.0.0 + h + 1, or the name hN.test where names are
// wanted; its pages are / and /p/1, /p/2, and so on. The pages of a host stand in
// a tree of sixteen children each, and so do the hosts by their front pages, so
// that all can be reached from the first: 20,000 pages lie at most four links
// deep. Further links fill every page up to 40 on average; their targets follow
// a power law, and a fifth of them leaves the host where there are several. Page
// sizes are log-normal with a mean of 20 KB and sigma 0.5.
//
// # Judging
//
// The server counts every request by page, so that [Stats] says what a client
// missed and what it fetched twice, whatever the client says about itself.
package benchweb
