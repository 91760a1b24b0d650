// Package torture is the crash campaign. It holds tests only: they build
// cmd/octopus, let it crawl the synthetic web of internal/webtest, and end it at
// random moments: with SIGKILL (TestKill), or together with its file system as a
// power cut would (TestPower). Then they start the same command again, and so
// on, until the crawl ends by itself.
//
//	go test ./internal/torture                                  # 50 kills, a few cuts
//	go test ./internal/torture -run Kill -args -kills 1000
//	go test ./internal/torture -run Power -args -cuts 100       # needs root, Linux, ext4
//
// What must hold in the end, judged by the truth of the web and by the log and
// clock of its servers:
//
//   - every reachable page was fetched: no acknowledged URL was lost;
//   - the JSON lines file holds each URL exactly once, and every line is whole;
//   - each page can be read from the container, byte for byte;
//   - pages were fetched again only if they were in flight at a crash: at most
//     4 x concurrency for each (requests, hand-off, and twice that in the parse
//     loop; see package crawl);
//   - between two requests to a host, restarts included, lies the host's gap;
//   - WARC files pass an independent check of every record;
//   - the same command once more makes no request.
//
// A power cut is a loop-mounted ext4 that is shut down by an ioctl without
// flushing its journal: every byte that was not synced is gone. A control run
// with syncs switched off must fail, or the harness proves nothing.
package torture
