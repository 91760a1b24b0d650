package benchweb

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Inside is what only the crawling process itself can tell: what it allocated,
// and what it held on the way.
type Inside struct {
	Pages  int64   `json:"pages"`
	CPU    float64 `json:"cpu_s"`           // user and system
	Bytes  float64 `json:"bytes_per_page"`  // allocated
	Allocs float64 `json:"allocs_per_page"` // their number
	Points []Point `json:"points"`          // before, after each tenth of the pages, and at the end
}

// Point is what a process holds at one time.
type Point struct {
	Pages       int64   `json:"pages"`
	Goroutines  int     `json:"goroutines"`
	Descriptors int     `json:"descriptors"` // 0 where the system does not tell
	Heap        float64 `json:"heap_mb"`
	RSS         float64 `json:"rss_mb"` // 0 where the system does not tell
}

// Watch looks at the process it is in, from StartWatch to End. For one goroutine.
type Watch struct {
	pages int64
	mem   runtime.MemStats
	cpu   time.Duration
	got   Inside
}

// StartWatch begins before a crawl of so many pages.
func StartWatch(pages int64) *Watch {
	w := &Watch{pages: pages}
	w.got.Points = append(w.got.Points, look(0))
	runtime.ReadMemStats(&w.mem)
	w.cpu = processCPU()
	return w
}

// At takes a look where another tenth of the pages is done.
func (w *Watch) At(done int64) {
	if done >= int64(len(w.got.Points))*w.pages/10 {
		w.got.Points = append(w.got.Points, look(done))
	}
}

// settle is how long goroutines may take to end after what they served is
// closed: those of connections do so in their own time.
const settle = 10 * time.Second

// End takes a last look and adds up. done is the number of pages crawled. Where
// more goroutines run than at the start it waits for them, but not for ever.
func (w *Watch) End(done int64) Inside {
	for end := time.Now().Add(settle); runtime.NumGoroutine() > w.got.Points[0].Goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	w.got.Pages, w.got.CPU = done, Round((processCPU() - w.cpu).Seconds())
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	count := float64(max(done, 1))
	w.got.Bytes = Round(float64(mem.TotalAlloc-w.mem.TotalAlloc) / count)
	w.got.Allocs = Round(float64(mem.Mallocs-w.mem.Mallocs) / count)
	w.got.Points = append(w.got.Points, look(done))
	return w.got
}

func look(pages int64) Point {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return Point{Pages: pages, Goroutines: runtime.NumGoroutine(), Descriptors: len(files),
		Heap: Round(float64(m.HeapAlloc) / 1e6), RSS: Round(float64(status(os.Getpid(), "VmRSS")) / 1e6)}
}

// status returns a field of a process in bytes, where the system has /proc.
func status(pid int, field string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte(field+":"))
	number, _, _ := bytes.Cut(rest, []byte("kB"))
	kb, _ := strconv.ParseInt(string(bytes.TrimSpace(number)), 10, 64)
	return kb << 10
}

// processCPU is the user and system time of this process; 0 where the system
// does not tell.
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Round keeps four significant digits: more would be noise.
func Round(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return v
}
