package redisseen_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/internal/servers"
	"octopus/seen"
	"octopus/seen/redisseen"
	"octopus/seen/seentest"
)

// start returns a server and a client of it.
func start(t testing.TB, extra ...string) (*servers.RedisServer, *redis.Client) {
	s := servers.Redis(t, extra...)
	c := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1, ReadTimeout: time.Minute})
	t.Cleanup(func() { c.Close() })
	return s, c
}

func open(t testing.TB, o redisseen.Options) *redisseen.Set {
	t.Helper()
	s, err := redisseen.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestContract(t *testing.T) {
	_, c := start(t)
	for _, o := range []redisseen.Options{
		{Kind: redisseen.Exact},
		{Kind: redisseen.Expiring, Expiry: time.Hour},
		{Kind: redisseen.Bloom, Capacity: 60_000, ErrorRate: 1e-3},
		{Kind: redisseen.Window, Capacity: 60_000, ErrorRate: 1e-3, Windows: 3},
	} {
		t.Run(string(o.Kind), func(t *testing.T) {
			p := seentest.Promises{ErrorRate: o.ErrorRate}
			seentest.Run(t, p, func(t *testing.T) seen.Set {
				c.FlushAll(context.Background())
				o.Client, o.Name = c, "test"
				return open(t, o)
			})
		})
	}
}

func TestSharedByTwoClients(t *testing.T) {
	srv, _ := start(t)
	o := redisseen.Options{URL: srv.URL(), Name: "news", Kind: redisseen.Bloom, Capacity: 1000}
	a, b := open(t, o), open(t, o)
	if n := seentest.Count(seentest.Add(t, a, seentest.Keys(0, 100))); n != 100 {
		t.Errorf("%d of 100 are fresh", n)
	}
	if n := seentest.Count(seentest.Add(t, b, seentest.Keys(0, 200))); n != 100 {
		t.Errorf("%d are fresh for the second client, want 100", n)
	}
}

// at is 2019-06-03 in hours.
func at(hours float64) time.Time {
	return time.Date(2019, 6, 3, 0, 0, 0, 0, time.UTC).Add(time.Duration(hours * float64(time.Hour)))
}

func add(t *testing.T, s seen.Set, now time.Time, keys []octopus.Key) (fresh int) {
	t.Helper()
	answers := make([]bool, len(keys))
	if err := s.Add(t.Context(), now, keys, answers); err != nil {
		t.Fatal(err)
	}
	return seentest.Count(answers)
}

// TestTwoHours is the published experiment: two windows of an hour, 100 URLs in
// each hour.
func TestTwoHours(t *testing.T) {
	_, c := start(t)
	s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Window, Granularity: seen.Hour,
		Windows: 2, Capacity: 1000, CallerTime: true})
	first, second, third := seentest.Keys(0, 100), seentest.Keys(100, 200), seentest.Keys(200, 300)
	for i, step := range []struct {
		hour float64
		keys []octopus.Key
		want int
	}{
		{0.1, first, 100}, {0.9, first, 0},
		{1.1, first, 0}, {1.2, second, 100}, // hour 2 never repeats hour 1
		{2.1, second, 0}, {2.2, first, 100}, {2.3, third, 100}, // hour 3 may repeat 1, not 2
		{3.1, third, 0}, {3.2, first, 0}, {3.3, second, 100}, // hour 4 may repeat 2, not 3
	} {
		if n := add(t, s, at(step.hour), step.keys); n != step.want {
			t.Errorf("step %d, hour %.1f: %d fresh, want %d", i, step.hour, n, step.want)
		}
	}
}

// TestDailyKeys is the published naming and expiry.
func TestDailyKeys(t *testing.T) {
	_, c := start(t)
	o := redisseen.Options{Client: c, Name: "spider:dupefilter", Kind: redisseen.Window, Windows: 3, Capacity: 1000, CallerTime: true}
	s := open(t, o)
	for day := range 4 {
		add(t, s, at(24*float64(day)+6), seentest.Keys(100*day, 100*day+100))
	}
	names, err := c.Keys(t.Context(), "spider:dupefilter:2*").Result()
	if err != nil || len(names) != 4 {
		t.Fatalf("keys %v, %v", names, err)
	}
	// It expires at 2019-06-06 00:00, 66 h after the call that made it.
	if ttl := c.PTTL(t.Context(), "spider:dupefilter:20190603").Val(); ttl > 66*time.Hour || ttl < 66*time.Hour-time.Minute {
		t.Errorf("window 20190603 lives for another %s, want 66h", ttl)
	}
	if n := add(t, s, at(80), seentest.Keys(0, 400)); n != 100 {
		t.Errorf("on day 4, %d of the four days' keys are fresh, want the 100 of day 1", n)
	}
	// Another process attaches to what is there.
	if n := add(t, open(t, o), at(81), seentest.Keys(0, 400)); n != 0 {
		t.Errorf("a second process finds %d fresh, want 0", n)
	}
	st, err := s.Stats(t.Context())
	if err != nil || len(st.Filters) != 3 || st.Entries < 380 || st.Entries > 420 || st.Full || st.ErrorRate > 1e-4 {
		t.Errorf("stats %+v, %v", st, err)
	}
}

func TestClockGoesBack(t *testing.T) {
	_, c := start(t)
	s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Window, Windows: 2, Capacity: 1000, CallerTime: true})
	add(t, s, at(30), seentest.Keys(0, 100))
	for _, back := range []time.Time{at(29), at(20), at(-48), time.Unix(0, 0)} {
		if n := add(t, s, back, seentest.Keys(0, 100)); n != 0 {
			t.Errorf("at %s %d of 100 known keys are fresh", back, n)
		}
	}
}

// TestClockJumpsAhead and comes back: it was wrong, and nothing was forgotten. A
// clock that stays ahead is followed.
func TestClockJumpsAhead(t *testing.T) {
	for _, ahead := range []time.Duration{24 * time.Hour, 30 * 24 * time.Hour, 87 * 365 * 24 * time.Hour} {
		_, c := start(t)
		s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Window, Windows: 3, Capacity: 1000, CallerTime: true})
		add(t, s, at(1), seentest.Keys(0, 100))
		add(t, s, at(1).Add(ahead), seentest.Keys(100, 200))
		if n := add(t, s, at(1).Add(ahead), seentest.Keys(100, 200)); n != 0 {
			t.Errorf("%s ahead: %d of 100 keys are forgotten there", ahead, n)
		}
		if n := add(t, s, at(2), seentest.Keys(0, 100)); n != 0 {
			t.Errorf("%s ahead and back: %d of 100 keys are forgotten", ahead, n)
		}
		add(t, s, at(25), seentest.Keys(200, 300)) // windows go on turning
		if n := add(t, s, at(73+24), seentest.Keys(0, 100)); n != 100 {
			t.Errorf("%s ahead and back: %d of 100 keys are forgotten in time", ahead, n)
		}
	}
}

func TestZone(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Skip(err)
	}
	_, c := start(t)
	s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Window, Windows: 2, Capacity: 1000, CallerTime: true, Zone: shanghai})
	add(t, s, at(15), seentest.Keys(0, 10)) // 23:00 there
	add(t, s, at(17), seentest.Keys(10, 20))
	names, _ := c.Keys(t.Context(), "x:2*").Result()
	if len(names) != 2 || !strings.Contains(fmt.Sprint(names), "20190604") {
		t.Errorf("keys %v, want those of 3 and 4 June", names)
	}
}

// TestServersClock uses the server's own time: the caller's counts for nothing.
func TestServersClock(t *testing.T) {
	_, c := start(t)
	s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Window, Windows: 2, Capacity: 1000, Granularity: seen.Month})
	add(t, s, time.Unix(0, 0), seentest.Keys(0, 10))
	now, err := c.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	key := "x:" + now.UTC().Format("200601")
	if n := c.Exists(t.Context(), key).Val(); n != 1 {
		t.Skipf("no key %s: the month ended meanwhile, or", key)
	}
	if ttl := c.TTL(t.Context(), key).Val(); ttl < 28*24*time.Hour || ttl > 62*24*time.Hour {
		t.Errorf("TTL %s, want the rest of this month and the next", ttl)
	}
}

func TestExpiring(t *testing.T) {
	_, c := start(t)
	s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Expiring, Expiry: time.Hour, CallerTime: true})
	keys := seentest.Keys(0, 3000)
	add(t, s, at(0), keys)
	if n := add(t, s, at(0.9999), keys); n != 0 {
		t.Errorf("%d are fresh before their hour is over", n)
	}
	if n := add(t, s, at(1), keys[:1000]); n != 1000 {
		t.Errorf("%d of 1000 are fresh after an hour", n)
	}
	for range 50 {
		if err := s.Maintain(t.Context(), at(1.5)); err != nil {
			t.Fatal(err)
		}
	}
	st, err := s.Stats(t.Context())
	if err != nil || st.Entries != 1000 {
		t.Errorf("after cleaning %d entries are left, %v, want the 1000 that live", st.Entries, err)
	}
}

// TestBlocks: a filter is cut where that saves memory, and three blocks are one
// filter.
func TestBlocks(t *testing.T) {
	_, c := start(t)
	s := open(t, redisseen.Options{Client: c, Name: "big", Kind: redisseen.Bloom, Capacity: 150_000, ErrorRate: 1e-3})
	if n := seentest.Count(seentest.Add(t, s, seentest.Keys(0, 50_000))); n < 49_950 {
		t.Errorf("%d of 50000 are fresh", n)
	}
	if n := seentest.Count(seentest.Add(t, s, seentest.Keys(0, 50_000))); n != 0 {
		t.Errorf("%d are fresh again", n)
	}
	names, _ := c.Keys(t.Context(), "big:?").Result()
	if len(names) != 3 {
		t.Errorf("blocks %v, want three", names)
	}
}

// TestMemory: what filters really take is within a tenth of the formula,
// n log2(e) log2(1/p) bits, whatever their size.
func TestMemory(t *testing.T) {
	_, c := start(t)
	const rate = 1e-4
	for _, capacity := range []int64{300_000, 896_234, 1_252_038, 2_524_977, 4_300_000} {
		c.FlushAll(t.Context())
		s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Bloom, Capacity: capacity, ErrorRate: rate})
		seentest.Add(t, s, seentest.Keys(0, 300))
		blocks, err := c.Keys(t.Context(), "x*").Result()
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0.0
		for _, key := range blocks {
			if key != "x:plan" {
				bytes += float64(c.MemoryUsage(t.Context(), key).Val())
			}
		}
		if formula := float64(capacity) * math.Log2E * math.Log2(1/rate) / 8; bytes < formula || bytes > 1.1*formula {
			t.Errorf("%d entries: %.0f bytes in %d blocks, %.3f times the formula", capacity, bytes, len(blocks)-1, bytes/formula)
		}
	}
}

// TestErrorRate fills three windows and asks for keys that were never added.
func TestErrorRate(t *testing.T) {
	_, c := start(t)
	const n, target = 20_000, 1e-3
	s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Window, Windows: 3, Capacity: n, ErrorRate: target, CallerTime: true})
	for day := range 3 {
		add(t, s, at(24*float64(day)), seentest.Keys(n*day, n*day+n))
	}
	known := 0
	const absent = 200_000
	for from := 0; from < absent; from += 20_000 {
		answers := make([]bool, 20_000)
		if err := s.Contains(t.Context(), at(50), seentest.Keys(1_000_000+from, 1_020_000+from), answers); err != nil {
			t.Fatal(err)
		}
		known += seentest.Count(answers)
	}
	rate := float64(known) / absent
	st, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("error rate %.3g measured, %.3g by the fill of the windows, asked for %.3g; %d bytes", rate, st.ErrorRate, target, st.Bytes)
	if rate > 1.25*target || st.ErrorRate > 1.1*target || st.ErrorRate < 0.8*target {
		t.Error("that is not the rate asked for")
	}
}

func TestRefusesSettings(t *testing.T) {
	_, c := start(t)
	for _, test := range []struct {
		o    redisseen.Options
		want string
	}{
		{redisseen.Options{Kind: redisseen.Window}, "needs its capacity"},
		{redisseen.Options{Kind: redisseen.Expiring}, "needs its expiry"},
		{redisseen.Options{Kind: "set"}, "exact, bloom, window or expiring"},
		{redisseen.Options{Kind: redisseen.Window, Granularity: "week", Capacity: 1}, "hour, day or month"},
		{redisseen.Options{Kind: redisseen.Bloom, Capacity: 1, ErrorRate: 2}, "error rate"},
		// The source's table: 2^30 bits, 6 hashes, 179 million entries.
		{redisseen.Options{Kind: redisseen.Bloom, Capacity: 178_956_970, Bits: 1 << 30, Hashes: 6}, "at most 43"},
		{redisseen.Options{Kind: redisseen.Bloom, Capacity: 1e12}, "blocks of 512 MB"},
		{redisseen.Options{Name: "a b"}, "without spaces"},
	} {
		test.o.Client = c
		if test.o.Name == "" {
			test.o.Name = "x"
		}
		if _, err := redisseen.Open(t.Context(), test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want one with %q", test.o, err, test.want)
		}
	}
	open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Window, Windows: 3, Capacity: 1000})
	_, err := redisseen.Open(t.Context(), redisseen.Options{Client: c, Name: "x", Kind: redisseen.Window, Windows: 7, Capacity: 1000})
	if err == nil || !strings.Contains(err.Error(), "was made with windows 3, asked for is 7") {
		t.Errorf("other settings for a set that exists: %v", err)
	}
}

func TestTroubles(t *testing.T) {
	srv, c := start(t)
	s := open(t, redisseen.Options{Client: c, Name: "x"})
	ask := func() error { return s.Add(context.Background(), at(0), seentest.Keys(0, 10), make([]bool, 10)) }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	c.ScriptFlush(t.Context())
	if n := seentest.Count(seentest.Add(t, s, seentest.Keys(0, 20))); n != 10 {
		t.Errorf("after the scripts were flushed: %d fresh, want 10", n)
	}
	c.Set(t.Context(), "y", "text", 0)
	y := open(t, redisseen.Options{Client: c, Name: "y"})
	if err := y.Add(t.Context(), at(0), seentest.Keys(0, 1), make([]bool, 1)); err == nil || !strings.Contains(err.Error(), "redisseen y: redis: a key of this name holds something else") {
		t.Errorf("wrong type: %v", err)
	}
	c.ConfigSet(t.Context(), "maxmemory", "1")
	if err := ask(); err == nil || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("out of memory: %v", err)
	}
	c.ConfigSet(t.Context(), "maxmemory", "0")
	if err := ask(); err != nil {
		t.Errorf("after memory came back: %v", err)
	}
	srv.Stop()
	if err := ask(); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("server down: %v", err)
	}
	srv.Start()
	if err := ask(); err != nil {
		t.Errorf("after the server came back: %v", err)
	}
}

func TestImport(t *testing.T) {
	_, c := start(t)
	fp := func(i int) []byte {
		f, err := redisseen.ScrapyFingerprint(redisseen.Scrapy, "GET", fmt.Sprintf("http://a.com/?p=%d", i), nil)
		if err != nil {
			t.Fatal(err)
		}
		return f[:]
	}
	for i := range 2500 {
		c.SAdd(t.Context(), "spider:dupefilter", hex.EncodeToString(fp(i)))
	}
	s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Bloom, Capacity: 10_000})
	if n, err := s.Import(t.Context(), at(0), "spider:dupefilter"); err != nil || n < 2500 {
		t.Fatalf("Import: %d, %v", n, err)
	}
	if _, err := redisseen.Open(t.Context(), redisseen.Options{Client: c, Name: "spider:dupefilter"}); err == nil || !strings.Contains(err.Error(), "import it into a set of another name") {
		t.Errorf("attached to a set of Scrapy-Redis: %v", err)
	}
	fresh := make([]bool, 2)
	if err := s.AddMembers(t.Context(), at(0), [][]byte{fp(2499), fp(2500)}, fresh); err != nil || fresh[0] || !fresh[1] {
		t.Errorf("an imported and another fingerprint: fresh %v, %v", fresh, err)
	}
	c.SAdd(t.Context(), "names", "Bob")
	if _, err := s.Import(t.Context(), at(0), "names"); err == nil || !strings.Contains(err.Error(), `"Bob"`) {
		t.Errorf("import of something else: %v", err)
	}
}

// TestCluster runs on a cluster of one node, which checks slots like any other.
func TestCluster(t *testing.T) {
	srv, c := start(t, "--cluster-enabled", "yes")
	if err := c.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	servers.Await(t, func() error {
		if info := c.ClusterInfo(t.Context()).Val(); !strings.Contains(info, "cluster_state:ok") {
			return fmt.Errorf("cluster info: %s", info)
		}
		return nil
	})
	for _, o := range []redisseen.Options{
		{Name: "a", Kind: redisseen.Exact},
		{Name: "b", Kind: redisseen.Window, Windows: 7, Capacity: 1000},
		{Name: "c", Kind: redisseen.Expiring, Expiry: time.Hour},
	} {
		o.URL = "redis+cluster://" + srv.Addr
		s := open(t, o)
		if n := seentest.Count(seentest.Add(t, s, seentest.Keys(0, 1000))); n != 1000 {
			t.Errorf("%s: %d of 1000 are fresh", o.Kind, n)
		}
		if err := s.Maintain(t.Context(), time.Now()); err != nil {
			t.Error(err)
		}
	}
	if n := c.Exists(t.Context(), "{b}:plan").Val(); n != 1 {
		t.Error("the plan of b is not under {b}:plan")
	}
}

// TestFull: a filter that got more than it was made for says so, once it was
// looked at again, and goes on.
func TestFull(t *testing.T) {
	_, c := start(t)
	s := open(t, redisseen.Options{Client: c, Name: "x", Kind: redisseen.Bloom, Capacity: 1000, CallerTime: true})
	seentest.Add(t, s, seentest.Keys(0, 1000))
	if err := s.Maintain(t.Context(), at(0)); err != nil {
		t.Errorf("at its capacity: %v", err)
	}
	seentest.Add(t, s, seentest.Keys(1000, 3000))
	if err := s.Maintain(t.Context(), at(0.01)); err != nil {
		t.Errorf("looked at again at once: %v", err)
	}
	for _, hours := range []float64{1, 1.01} {
		if err := s.Maintain(t.Context(), at(hours)); !errors.Is(err, redisseen.ErrFull) || !strings.Contains(err.Error(), "capacity of 1000") {
			t.Errorf("three times too full: %v", err)
		}
	}
	st, err := s.Stats(t.Context())
	if err != nil || !st.Full || st.ErrorRate < 100*st.Target {
		t.Errorf("%+v, %v", st, err)
	}
}
