package frontier_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected output of the scenarios")

// TestScenarios runs testdata/*.txt: each line is a command, the indented lines
// below it are what it prints. Time stands still but for `advance`.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = play(t, string(want)) })
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("%s is different (see go test -rewrite):\n%s", file, firstDifference(string(want), got))
			}
		})
	}
}

// firstDifference shows where two texts part.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(w), len(g))
}

// play runs a scenario and returns it with the output it really has.
func play(t *testing.T, text string) string {
	s := &scenario{store: kv.NewMemory(), start: time.Now(), leases: map[string]octopus.Lease{}}
	s.opt = frontier.Options{Store: s.store, Outbox: s, Boards: func(string) frontier.BoardRules { return s.rules }}
	defer func() {
		if s.f != nil {
			s.f.Close()
		}
	}()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		s.out.WriteString(line + "\n")
		if line != "" && !strings.HasPrefix(line, "#") {
			if err := s.run(strings.Fields(line)); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	return s.out.String()
}

// scenario is the state of one running text.
type scenario struct {
	store  *kv.Memory
	opt    frontier.Options
	f      *frontier.Frontier
	start  time.Time
	leases map[string]octopus.Lease // by "#1", as printed
	count  int
	rules  frontier.BoardRules
	out    strings.Builder
}

func (s *scenario) printf(format string, args ...any) { fmt.Fprintf(&s.out, "  "+format+"\n", args...) }

// Append prints what goes to the sinks.
func (s *scenario) Append(_ *kv.Batch, rec *octopus.Record) error {
	s.printf("record %s%s", rec.URL, words(" status ", rec.Status, " skip ", rec.Skip))
	return nil
}

// words joins labels and values, leaving out those without a value.
func words(pairs ...any) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		if v := fmt.Sprint(pairs[i+1]); v != "" && v != "0" && v != "false" && v != "0s" {
			fmt.Fprintf(&b, "%v%v", pairs[i], v)
		}
	}
	return b.String()
}

func (s *scenario) run(args []string) error {
	commands := map[string]func([]string) error{
		"options": s.options, "add": s.add, "lease": s.lease, "done": s.done, "release": s.release,
		"advance": s.advance, "reopen": s.reopen, "counts": s.counts, "waiting": s.waiting, "explain": s.explain,
		"list": s.list, "revive": s.revive, "drop": s.drop, "clear": s.clear, "block": s.block, "hosts": s.hosts, "rank": s.rank,
		"merge": s.merge, "unmerge": s.unmerge,
	}
	do := commands[args[0]]
	if do == nil {
		return errors.New("unknown command")
	}
	if s.f == nil && args[0] != "options" {
		if err := s.reopen(nil); err != nil {
			return err
		}
	}
	return do(args[1:])
}

// options sets options, before the first other command or before reopen.
// Example: options host-delay=2s conns=2
func (s *scenario) options(args []string) error {
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		d, _ := time.ParseDuration(value)
		n, _ := strconv.Atoi(value)
		switch name {
		case "host-delay":
			s.opt.HostDelay = d
		case "ip-delay":
			s.opt.IPDelay = d
		case "site-delay":
			s.opt.SiteDelay = d
		case "conns":
			s.opt.ConnsPerHost = n
		case "robots":
			s.opt.Robots = value
		case "refresh":
			s.rules.Refresh = d
		case "refresh-max":
			s.rules.Min, s.rules.Max = s.rules.Refresh, d
		case "recrawl":
			s.rules.Recrawl = d
		case "delay":
			s.rules.Delay = d
		case "quota":
			s.rules.Quota = int64(n)
		case "hold":
			s.rules.Hold = value
		case "min-yield":
			s.opt.Traps.MinYield = n
		case "retries":
			s.opt.MaxRetries = n
		case "relink":
			s.opt.Relink = func() bool { return value == "true" }
		case "raise-linked":
			s.opt.RaiseLinked = value == "true"
		case "session":
			s.opt.Session = n
		case "lane-weight":
			s.opt.LaneWeight = n
		case "host-quota":
			s.opt.HostQuota = int64(n)
		case "site-quota":
			s.opt.SiteQuota = int64(n)
		case "queue-limit":
			s.opt.QueueLimit = n
		case "host-limit":
			s.opt.HostLimit = n
		default:
			return fmt.Errorf("unknown option %s", name)
		}
	}
	return nil
}

// reopen closes the frontier and opens it on the same store.
func (s *scenario) reopen([]string) error {
	if s.f != nil {
		if err := s.f.Close(); err != nil {
			return err
		}
	}
	s.opt.Rand = rand.New(rand.NewPCG(1, 2))
	var err error
	s.f, err = frontier.Open(s.opt)
	synctest.Wait()
	return err
}

// add offers one link. Example: add a.com/1 depth=2 lane=data weight=5 prec=1 hop=3 via=http://a.com/
func (s *scenario) add(args []string) error {
	l, err := link(args)
	if err != nil {
		return err
	}
	v, err := s.f.Add(context.Background(), []octopus.Link{l})
	if err != nil {
		return err
	}
	s.printf("%s%s", v[0].Code, words(" ", v[0].Reason))
	return nil
}

func link(args []string) (octopus.Link, error) {
	l := frontiertest.Link(args[0], 0)
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "depth":
			l.Depth = n
		case "hop":
			l.Hop = n
		case "weight":
			l.Weight = uint16(n)
		case "prec":
			l.Precedence = uint8(n)
		case "via":
			l.Via = value
		case "kind":
			l.Kind = octopus.Entry
		case "modified":
			d, err := time.ParseDuration(value)
			if err != nil {
				return l, err
			}
			l.Modified = time.Now().Add(d)
		case "lane":
			if value == "data" {
				l.Lane = octopus.Data
			}
		default:
			return l, fmt.Errorf("unknown field %s", name)
		}
	}
	return l, nil
}

// lease asks for up to N leases (default 1) and prints them, or what is waited
// for.
func (s *scenario) lease(args []string) error {
	n := 1
	if len(args) > 0 {
		n, _ = strconv.Atoi(args[0])
	}
	leases, err := s.f.Lease(now(), n)
	if errors.Is(err, context.DeadlineExceeded) {
		s.printf("none: %s", s.f.Waiting())
		return nil
	}
	for _, l := range leases {
		s.count++
		name := "#" + strconv.Itoa(s.count)
		s.leases[name] = l
		what := map[octopus.Purpose]string{octopus.FetchRobots: "robots ", octopus.Relink: "relink "}[l.Purpose]
		s.printf("%s %s%s%s", name, what, l.Link.URL, words(" depth ", l.Link.Depth, " hop ", l.Link.Hop, " lane ", strings.TrimPrefix(l.Link.Lane.String(), "nav"),
			" attempt ", l.Attempt, " visit ", strings.TrimPrefix(strconv.Itoa(int(l.Visit)), "1"), " gap ", l.Gap-time.Second, " etag ", l.ETag))
	}
	return err
}

// done reports an outcome. Example: done #1 200 ip=10.0.0.1 retry-after=30s links=a.com/2,a.com/3 lane=data
func (s *scenario) done(args []string) error {
	o, err := s.outcome(args)
	if err != nil {
		return err
	}
	v, err := s.f.Done(context.Background(), []octopus.Outcome{o})
	if err != nil {
		return err
	}
	s.printf("%s%s", v[0].Code, words(" ", v[0].Reason))
	return nil
}

// release frees the host of a lease before it is done.
func (s *scenario) release(args []string) error {
	o, err := s.outcome(args)
	s.f.Release(o)
	return err
}

func (s *scenario) outcome(args []string) (octopus.Outcome, error) {
	l, ok := s.leases[args[0]]
	if !ok {
		return octopus.Outcome{}, fmt.Errorf("no lease %s", args[0])
	}
	duplicate, print := "", octopus.Fingerprint{}
	o := octopus.Outcome{Lease: l, Stage: octopus.Fetched | octopus.Parsed, End: time.Now(), Lane: l.Link.Lane, Changed: true}
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		d, _ := time.ParseDuration(value)
		switch name {
		case "ip":
			o.IP = netip.MustParseAddr(value)
		case "retry-after":
			o.RetryAfter = d
		case "took":
			o.End = o.End.Add(-d)
		case "etag":
			o.ETag = value
		case "deferred":
			o.Deferred = true
		case "no-request":
			o.NoRequest = true
		case "unchanged":
			o.Changed = false
		case "duplicate":
			duplicate = value
		case "digest":
			o.Digest = value
		case "print":
			if err := print.UnmarshalText([]byte(value)); err != nil {
				return o, err
			}
		case "cache":
			o.CacheFor = d
		case "lane":
			if o.Lane = octopus.Nav; value == "data" {
				o.Lane = octopus.Data
			}
		case "links":
			for text := range strings.SplitSeq(value, ",") {
				k := frontiertest.Link(text, l.Link.Depth+1)
				k.Via = l.Link.URL.Text
				o.Links = append(o.Links, k)
			}
		case "redirect":
			k := frontiertest.Link(value, l.Link.Depth)
			k.Via, k.Kind, k.Hop = l.Link.URL.Text, octopus.Redirect, l.Link.Hop+1
			o.Links = append(o.Links, k)
		case "disallow":
			o.Robots = fmt.Appendf(o.Robots, "User-agent: *\nDisallow: %s\n", value)
		case "crawl-delay":
			o.Robots = fmt.Appendf(o.Robots, "User-agent: *\nCrawl-delay: %s\n", value)
		default:
			if n, err := strconv.Atoi(name); err == nil {
				o.Status = n
			} else if kind := octopus.ParseKind(name); kind != octopus.KindOther {
				o.Err = &octopus.Error{Op: "fetch", URL: l.Link.URL.Text, Kind: kind}
			} else {
				return o, fmt.Errorf("unknown field %s", name)
			}
		}
	}
	if l.Purpose != octopus.FetchRobots {
		o.Record = &octopus.Record{URL: l.Link.URL.Text, Status: o.Status, DuplicateOf: duplicate, Fingerprint: print}
	}
	return o, nil
}

// advance lets time pass.
func (s *scenario) advance(args []string) error {
	d, err := time.ParseDuration(args[0])
	time.Sleep(d)
	return err
}

func (s *scenario) counts([]string) error {
	c := s.f.Counts()
	s.printf("known %d queued %d leased %d later %d done %d parked %d hosts %d pages %d failed %d",
		c.Known, c.Queued, c.Leased, c.Later, c.Done, c.Parked, c.Hosts, c.Pages, c.Failed)
	return nil
}

func (s *scenario) waiting([]string) error {
	s.printf("%q", s.f.Waiting())
	return nil
}

// explain prints what the frontier knows of a URL.
func (s *scenario) explain(args []string) error {
	x, err := s.f.Explain(context.Background(), frontiertest.URL(args[0]))
	if err != nil {
		return err
	}
	s.printf("%s%s%s", x.State, words(" ", x.Reason), words(", waits for ", x.Waiting))
	for _, f := range x.Facts {
		s.printf("  %s: %s", f.Name, f.Value)
	}
	return nil
}

// filter reads host=, site=, board=, match= and reason=.
func filter(args []string) (f frontier.Filter) {
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "host":
			f.Host = frontiertest.URL(value)
		case "site":
			f.Site = frontiertest.URL(value)
		case "match":
			f.Match = regexp.MustCompile(value)
		case "reason":
			f.Reason = value
		}
	}
	return f
}

var lists = map[string]frontier.List{"queued": frontier.ListQueued, "parked": frontier.ListParked, "bad": frontier.ListBad}

// list prints a list. Example: list parked host=a.com match=/x reason=robots
func (s *scenario) list(args []string) error {
	synctest.Wait() // what Lease set aside is committed by then
	return s.f.Walk(context.Background(), lists[args[0]], filter(args[1:]), func(i frontier.Item) error {
		s.printf("%s%s", i.URL, words(" depth ", i.Depth, " ", i.Reason, ": ", i.Detail))
		return nil
	})
}

// revive queues URLs of a list again; drop takes queued ones out.
func (s *scenario) revive(args []string) error {
	n, err := s.f.Revive(context.Background(), lists[args[0]], filter(args[1:]))
	s.printf("%d", n)
	return err
}

func (s *scenario) drop(args []string) error {
	n, err := s.f.Drop(context.Background(), filter(args))
	s.printf("%d", n)
	return err
}

// clear empties a lane. Example: clear nav
func (s *scenario) clear(args []string) error {
	lane := octopus.Nav
	if args[0] == "data" {
		lane = octopus.Data
	}
	n, err := s.f.ClearLane(context.Background(), lane)
	synctest.Wait()
	s.printf("%d", n)
	return err
}

// block keeps a host from being asked for a while; 0s lets it go.
func (s *scenario) block(args []string) error {
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	return s.f.Block(context.Background(), frontiertest.URL(args[0]), time.Now().Add(d))
}

// rank sets the precedence of a host. Example: rank a.com -1
func (s *scenario) rank(args []string) error {
	n, err := strconv.ParseInt(args[1], 10, 8)
	if err != nil {
		return err
	}
	return s.f.SetPrecedence(context.Background(), frontiertest.URL(args[0]), int8(n))
}

// merge has a host stand for another. Example: merge www.a.com into a.com
func (s *scenario) merge(args []string) error {
	n, err := s.f.Merge(context.Background(), frontiertest.URL(args[0]), frontiertest.URL(args[2]))
	if err != nil {
		s.printf("%v", err)
		return nil
	}
	s.printf("%d", n)
	return nil
}

func (s *scenario) unmerge(args []string) error {
	if err := s.f.Unmerge(context.Background(), frontiertest.URL(args[0])); err != nil {
		s.printf("%v", err)
	}
	return nil
}

// hosts prints all hosts with what they have queued and how long that takes.
func (s *scenario) hosts([]string) error {
	return s.f.Hosts(context.Background(), func(h frontier.HostInfo) error {
		s.printf("%s nav %d data %d done %d, gap %s, ETA %s%s", h.Name, h.Nav, h.Data, h.Done, h.Gap, h.ETA.Round(time.Millisecond), words(", ", h.Why, ", alias of ", h.AliasOf))
		return nil
	})
}
