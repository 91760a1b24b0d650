package stats_test

import (
	"fmt"
	"testing"
	"time"

	"octopus"
	"octopus/kv"
	"octopus/stats"
)

const prefix = "stats/"

var noon = time.Date(2026, 7, 1, 12, 30, 0, 0, time.UTC)

func open(t *testing.T, store kv.Store, now time.Time, opt stats.Options) *stats.Book {
	t.Helper()
	opt.Prefix = prefix
	b, err := stats.Open(store, now, opt)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func commit(t *testing.T, store kv.Store, b *stats.Book) {
	t.Helper()
	var batch kv.Batch
	b.Stage(&batch)
	if err := store.Apply(&batch, kv.Sync); err != nil {
		t.Fatal(err)
	}
}

func outcome(board string, lane octopus.Lane, status int) *octopus.Outcome {
	return &octopus.Outcome{Lease: octopus.Lease{Link: octopus.Link{Board: board}}, Lane: lane, Status: status, Wire: 100, Record: &octopus.Record{Kind: lane.String()}}
}

// rows reads a span as "start board class: counter n, …".
func rows(t *testing.T, store kv.Store, q stats.Query) (lines []string) {
	t.Helper()
	q.Prefix = prefix
	err := stats.Read(store, q, func(r stats.Row) error {
		line := fmt.Sprintf("%s %s/%s:", r.Start.Format("01-02T15"), r.Board, r.Class)
		for i, name := range stats.Names() {
			if n := r.Counts[i]; n != 0 {
				line += fmt.Sprintf(" %s %d", name, n)
			}
		}
		for kind, n := range r.Errors() {
			line += fmt.Sprintf(" error-%s %d", kind, n)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("row %d\n got %s\nwant %s", i, g, w)
		}
	}
}

// TestOutcomes: what each kind of outcome adds.
func TestOutcomes(t *testing.T) {
	final := octopus.Ending{Final: true}
	robots := outcome("b", octopus.Nav, 404)
	robots.Lease.Purpose, robots.Record = octopus.FetchRobots, nil
	lost := outcome("b", octopus.Nav, 0)
	lost.Err, lost.Record = &octopus.Error{Kind: octopus.KindTimeout}, nil
	twin := outcome("b", octopus.Data, 200)
	twin.Record.DuplicateOf = "http://a/"
	file := outcome("b", octopus.Nav, 200)
	file.Record.Kind = "other"
	relink := outcome("b", octopus.Nav, 200)
	relink.Lease.Purpose, relink.NoRequest = octopus.Relink, true
	tests := []struct {
		name string
		o    *octopus.Outcome
		e    octopus.Ending
		want string
	}{
		{"new page", outcome("b", octopus.Nav, 200), octopus.Ending{Final: true, New: true, Changed: true}, "b/nav: requests 1 bytes 100 pages 1 new 1"},
		{"new article", outcome("b", octopus.Data, 200), octopus.Ending{Final: true, New: true}, "b/data: requests 1 bytes 100 pages 1 new 1 articles 1"},
		{"changed", outcome("b", octopus.Nav, 200), octopus.Ending{Final: true, Changed: true}, "b/nav: requests 1 bytes 100 pages 1 changed 1"},
		{"sent again", outcome("b", octopus.Nav, 200), final, "b/nav: requests 1 bytes 100 pages 1 unchanged 1"},
		{"not modified", outcome("b", octopus.Nav, 304), final, "b/nav: requests 1 bytes 100 pages 1 unchanged 1"},
		{"duplicate", twin, octopus.Ending{Final: true, New: true, Near: true}, "b/data: requests 1 bytes 100 pages 1 new 1 articles 1 duplicates 1"},
		{"near-duplicate", outcome("b", octopus.Nav, 200), octopus.Ending{Final: true, New: true, Near: true}, "b/nav: requests 1 bytes 100 pages 1 new 1 near_duplicates 1"},
		{"file", file, octopus.Ending{Final: true, New: true}, "b/other: requests 1 bytes 100 pages 1 new 1"},
		{"redirect", outcome("b", octopus.Nav, 301), final, "b/nav: requests 1 bytes 100 redirects 1"},
		{"missing", outcome("b", octopus.Nav, 404), final, "b/nav: requests 1 bytes 100 missing 1 error-gone 1"},
		{"retry", outcome("b", octopus.Nav, 503), octopus.Ending{}, "b/nav: requests 1 bytes 100 retries 1 error-unavailable 1"},
		{"server error", outcome("b", octopus.Nav, 500), octopus.Ending{Final: true, Failed: true}, "b/nav: requests 1 bytes 100 failed 1 error-server 1"},
		{"no answer", lost, octopus.Ending{Final: true, Failed: true}, "b/nav: requests 1 bytes 100 failed 1 error-timeout 1"},
		{"no robots.txt", robots, final, "b/robots: requests 1 bytes 100"},
		{"relink", relink, final, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := kv.NewMemory()
			b := open(t, store, noon, stats.Options{})
			b.Outcome(noon, tt.o, tt.e)
			commit(t, store, b)
			if tt.want == "" {
				expect(t, rows(t, store, stats.Query{}))
				return
			}
			expect(t, rows(t, store, stats.Query{}), "07-01T12 "+tt.want)
			expect(t, rows(t, store, stats.Query{Span: stats.Day}), "07-01T00 "+tt.want)
		})
	}
}

// TestTime: hours and days end in the middle of a commit; a restart goes on
// counting; a clock that went back adds to the row that is there.
func TestTime(t *testing.T) {
	store := kv.NewMemory()
	b := open(t, store, noon, stats.Options{})
	page := octopus.Ending{Final: true, New: true}
	b.Outcome(noon, outcome("b", octopus.Nav, 200), page)
	b.Outcome(noon.Add(30*time.Minute), outcome("b", octopus.Nav, 200), page)
	b.Link(noon.Add(31*time.Minute), "b", octopus.Data, "")
	b.Link(noon.Add(31*time.Minute), "b", octopus.Data, octopus.ReasonTrap)
	commit(t, store, b)
	b.Outcome(noon.Add(32*time.Minute), outcome("b", octopus.Nav, 200), page)
	b.Outcome(noon.Add(12*time.Hour), outcome("b", octopus.Nav, 200), page)
	commit(t, store, b)

	b = open(t, store, noon.Add(12*time.Hour), stats.Options{})
	b.Outcome(noon.Add(12*time.Hour), outcome("b", octopus.Nav, 200), page)
	commit(t, store, b)

	b = open(t, store, noon.Add(40*time.Minute), stats.Options{}) // the clock was ahead
	b.Outcome(noon.Add(40*time.Minute), outcome("b", octopus.Nav, 200), page)
	b.Outcome(noon.Add(12*time.Hour), outcome("b", octopus.Nav, 200), page)
	commit(t, store, b)

	one := " requests 1 bytes 100 pages 1 new 1"
	three := " requests 3 bytes 300 pages 3 new 3"
	expect(t, rows(t, store, stats.Query{}), "07-01T12 b/nav:"+one, "07-01T13 b/data: links 1 parked 1", "07-01T13 b/nav:"+three, "07-02T00 b/nav:"+three)
	expect(t, rows(t, store, stats.Query{Span: stats.Day}), "07-01T00 b/data: links 1 parked 1", "07-01T00 b/nav: requests 4 bytes 400 pages 4 new 4", "07-02T00 b/nav:"+three)
	expect(t, rows(t, store, stats.Query{Since: noon, Until: noon.Add(29 * time.Minute)}), "07-01T12 b/nav:"+one)
	expect(t, rows(t, store, stats.Query{Since: noon.Add(time.Hour), Until: noon.Add(12 * time.Hour)}), "07-01T13 b/data: links 1 parked 1", "07-01T13 b/nav:"+three, "07-02T00 b/nav:"+three)
}

// TestRetention: rows end, on disk and in memory.
func TestRetention(t *testing.T) {
	store := kv.NewMemory()
	b := open(t, store, noon, stats.Options{Hours: 48 * time.Hour, Days: 7 * 24 * time.Hour})
	for h := range 30 * 24 {
		b.Link(noon.Add(time.Duration(h)*time.Hour), "b", octopus.Nav, "")
		commit(t, store, b)
	}
	hours, days := rows(t, store, stats.Query{}), rows(t, store, stats.Query{Span: stats.Day})
	if len(hours) != 49 || len(days) != 8 { // the present one and those before
		t.Errorf("%d rows of hours and %d of days, want 49 and 8", len(hours), len(days))
	}
	expect(t, days[:1], "07-24T00 b/nav: links 24")
}

// TestCapture: the time from publication to storage.
func TestCapture(t *testing.T) {
	store := kv.NewMemory()
	b := open(t, store, noon, stats.Options{})
	for _, published := range []string{
		"2026-07-01T12:25:00Z", "2026-07-01T14:05:00+02:00", "2026-07-01T12:10Z", "Wed, 01 Jul 2026 08:30:00 GMT", "2025-07-01T12:00:00Z",
		"2026-07-01", "2026-07-01T12:00:00", "yesterday", "2026-07-02T12:00:00Z", // tell no time of day, no zone, nothing, and what is to come
	} {
		o := outcome("b", octopus.Data, 200)
		o.End, o.Record.Published = noon, published
		b.Outcome(noon, o, octopus.Ending{Final: true, New: true})
	}
	commit(t, store, b)
	err := stats.Read(store, stats.Query{Prefix: prefix}, func(r stats.Row) error {
		got := map[time.Duration]int64{}
		for _, bar := range r.Capture() {
			if bar.Count > 0 {
				got[bar.UpTo] = bar.Count
			}
		}
		want := fmt.Sprint(map[time.Duration]int64{5 * time.Minute: 1, 30 * time.Minute: 2, 4 * time.Hour: 1, 0: 1})
		if fmt.Sprint(got) != want {
			t.Errorf("histogram %v, want %v", got, want)
		}
		if m, n := r.MedianCapture(); m != 30*time.Minute || n != 5 {
			t.Errorf("median %s of %d, want 30m of 5", m, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzRead: whatever a store holds, Read returns rows or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte("\x00\x07\xa0\xf0b\x00nav"), []byte{1, 0, 5, 70, 1})
	f.Add([]byte("short"), []byte{2})
	f.Add([]byte{0, 0, 0, 0, 0}, []byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		store := kv.NewMemory()
		var b kv.Batch
		b.Set(append([]byte(prefix+"h"), key...), value)
		if err := store.Apply(&b, kv.Sync); err != nil {
			t.Fatal(err)
		}
		_ = stats.Read(store, stats.Query{Prefix: prefix}, func(r stats.Row) error {
			r.MedianCapture()
			return nil
		})
	})
}
