package node

import (
	"time"

	"octopus"
	"octopus/sink"
)

// Status is a snapshot of a running crawl, for progress displays. Totals are
// of this run, but for Counts, which are the frontier's.
type Status struct {
	Start   time.Time
	Elapsed time.Duration

	Fetches  int64            // requests that ended, robots.txt included
	Pages    int64            // pages with status 2xx
	Class    [6]int64         // by status class: Class[2] is 2xx; Class[0] counts requests without an answer
	Errors   map[string]int64 // requests without an answer, by kind
	Bytes    int64            // body bytes on the wire
	InFlight int64            // leases under way
	Saved    int64            // pages whose text was not looked for: the payload is stored under another URL
	Known    int64            // links offered in this run that were known already

	Skipped map[string]int64 // links and URLs not fetched, by reason: scope, depth, robots, quota, trap, surplus …
	Counts  octopus.Counts
	Last    Visit         // the newest outcome
	Waiting string        // why nothing is leased now, in words; empty where work goes on
	Outputs []sink.Status // how far each output is, in the order of Config.Output
}

// Visit is one outcome in short.
type Visit struct {
	URL    string
	Status int
	Took   time.Duration
	Title  string
	Error  string
}

// Summary is what a crawl came to.
type Summary struct {
	Status
	End  End
	Dir  string   // state directory; empty with Discard
	Out  []string // outputs written
	Note string   // what to know in one line: "nothing left to fetch in db"
	Lack string   // which outputs did not get all records, and why; empty where all did
}

// End says why a crawl ended.
type End string

const (
	EndEmpty   End = "frontier empty"
	EndPages   End = "page limit"
	EndTime    End = "time limit"
	EndStopped End = "interrupted"
)
