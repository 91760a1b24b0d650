package torture_test

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// TestKill ends the crawler with SIGKILL at random moments, until it has done so
// -kills times. A crawl that comes to its end is judged, and the next one begins.
func TestKill(t *testing.T) {
	kills := *killCount
	if testing.Short() {
		kills = min(kills, 10)
	}
	rng := rand.New(rand.NewPCG(*seed, 1))
	web := newWeb(t, webOptions())
	var recovery []time.Duration
	for crawls, total := 1, 0; total < kills; crawls++ {
		c := newCrawl(t, web, t.TempDir(), rng)
		for total+c.crashes < kills && !c.start(c.life(), func(p *os.Process) {}) {
		}
		c.finish()
		v := c.check()
		total += c.crashes
		recovery = append(recovery, c.recovery...)
		t.Logf("crawl %d: %d kills (%d in all), %d of %d pages, %d requests, %d fetched again (%.2f per kill), smallest gap %v",
			crawls, c.crashes, total, v.Found, v.Reachable, v.Requests, len(v.Refetched), float64(len(v.Refetched))/float64(max(c.crashes, 1)), v.SmallestGap)
	}
	t.Logf("from start to first request: median %v, p99 %v", percentile(recovery, 50), percentile(recovery, 99))
}
