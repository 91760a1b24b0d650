package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The small computer of TestSmallPC: 8 GB, 50 GB and 2 Mbit/s in small, so that
// a crawl reaches each of them in seconds.
const (
	smallMemory    = 256 << 20
	smallDisk      = 32 << 20
	smallBandwidth = 5_000_000 // bytes per second, 40 Mbit
	smallPages     = 100
	smallBody      = 500_000 // bytes of a page that do not compress
)

// TestSmallPC crawls more than fits on the disk, in a cgroup with little memory,
// over a thin line: it ends, and was within all three all the time.
func TestSmallPC(t *testing.T) {
	group := newCgroup(t, smallMemory)
	dir := filepath.Join(t.TempDir(), "db")
	var sent, widest atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		if err != nil || n >= smallPages {
			http.NotFound(w, r)
			return
		}
		if used := dirBytes(dir); used > widest.Load() {
			widest.Store(used)
		}
		w.Header().Set("Content-Type", "text/html")
		body := fmt.Appendf(nil, "<title>%d</title><a href=/%d>a</a><a href=/%d>b</a><!--", n, 2*n+1, 2*n+2)
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		for len(body) < smallBody {
			body = strconv.AppendUint(body, rng.Uint64(), 36)
		}
		sent.Add(int64(len(body)))
		w.Write(body)
	}))
	defer site.Close()

	args := []string{"crawl", site.URL + "/0", "--dir", dir, "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--conns-per-host", "2", "-c", "2",
		"--max-disk", "32MiB", "--when-full", "oldest", "--bandwidth", "40Mbit", "--progress", "none", "--summary", "json"}
	cmd := exec.Command("/bin/sh", append([]string{"-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(group.dir, "cgroup.procs"), os.Args[0]}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	took := time.Since(start)

	used := max(widest.Load(), dirBytes(dir))
	t.Logf("memory %d of %d MB at most; disk %d of %d MB; %d MB received in %s, %.1f of 5 MB/s", group.peak(t)>>20, smallMemory>>20,
		used>>20, smallDisk>>20, sent.Load()/1e6, took.Round(time.Millisecond), float64(sent.Load())/1e6/took.Seconds())
	if sent.Load() < smallPages*smallBody {
		t.Errorf("%d bytes were sent, less than all pages have: %s", sent.Load(), log.String())
	}
	if used > smallDisk {
		t.Errorf("the state took %d bytes of %d", used, smallDisk)
	}
	if least := float64(sent.Load()-smallBandwidth/2) / smallBandwidth; took.Seconds() < least {
		t.Errorf("%d bytes came in %s, faster than %d a second", sent.Load(), took, smallBandwidth)
	}
	if !strings.Contains(log.String(), "oldest pages were given up") {
		t.Errorf("no page was given up: %s", log.String())
	}
}

// dirBytes adds up the files below dir.
func dirBytes(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it went meanwhile
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// cgroup is a control group with a bound for memory, of version 1 or 2.
type cgroup struct{ dir, peakFile string }

// newCgroup makes one; the test is skipped where that is impossible.
func newCgroup(t *testing.T, memory int64) cgroup {
	t.Helper()
	name := fmt.Sprintf("octopus-test-%d", os.Getpid())
	var why error
	for _, v := range []struct{ root, limit, peak string }{
		{memoryCgroups, "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
		{cgroups, "memory.max", "memory.peak"},
	} {
		if _, err := os.Stat(filepath.Join(v.root, "cgroup.procs")); err != nil {
			why = err
			continue
		}
		dir := filepath.Join(v.root, name)
		if why = os.Mkdir(dir, 0o755); why != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		if why = os.WriteFile(filepath.Join(dir, v.limit), strconv.AppendInt(nil, memory, 10), 0o644); why == nil {
			return cgroup{dir, filepath.Join(dir, v.peak)}
		}
	}
	t.Skipf("no cgroup with a memory limit can be made here: %v", why)
	return cgroup{}
}

// peak returns the most memory that was in use, the kernel's caches included.
func (g cgroup) peak(t *testing.T) int64 {
	text, err := os.ReadFile(g.peakFile)
	if err != nil {
		t.Logf("the peak is not known: %v", err)
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n
}
