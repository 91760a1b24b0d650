// Command octopus crawls web sites. Each verb is one short file; Main runs one
// command line and returns its exit code, so that tests run it in-process.
//
//	settings.go, load.go, tomlfile.go   node.Config from flags, environment, file, defaults
//	crawl.go, entries.go, signals.go    the crawl verb
//	progress*.go, summary.go            what people see of it
//	inspect*.go                         the pieces on their own, JSON lines in and out
//
// Standard output carries data only; progress, notes and errors go to standard
// error. OCTOPUS_TEST_NOSYNC=1 turns off waiting for the disk: the control run
// of crash tests needs it, nobody else should.
package main
