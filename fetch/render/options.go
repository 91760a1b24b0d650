package render

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// Options of a Renderer. Only Dial is required.
type Options struct {
	// Browser is the program to run. Default: the first of "chromium",
	// "chromium-browser", "google-chrome-stable" and "google-chrome" in PATH.
	Browser string

	// Dir is where profile directories are made; what an earlier run left there
	// is removed by New. It belongs to the Renderer alone. Default: a directory
	// made for it below the system's temporary one.
	Dir string

	// UserAgent is what scripts and servers are told. Default: Chromium's own.
	UserAgent string

	// Dial opens every connection of the browser, to HOST:PORT. It decides what
	// may be reached, and resolves names.
	Dial func(ctx context.Context, address string) (net.Conn, error)

	// Allow is asked before each request for a script or for data. Nil allows
	// all.
	Allow func(url string) bool

	// Tabs is the number of pages rendered at once, 1 to 64. Default 2. A tab
	// takes 50 to 200 MB.
	Tabs int

	// PagesPerProcess is how many pages a browser renders before it is replaced,
	// since browsers grow. Default 200.
	PagesPerProcess int

	// Timeout bounds one page. Default 20 s.
	Timeout time.Duration

	// Settle bounds the wait for scripts that go on loading; what is there then
	// is the page. Default 8 s.
	Settle time.Duration

	// MaxRequests bounds the requests for scripts and data of one page. Default
	// 150.
	MaxRequests int

	// MaxBytes bounds what one page may receive through the proxy, headers and
	// TLS included. Default 32 MiB.
	MaxBytes int64

	// MaxHTML bounds the result in UTF-16 units, as scripts count; the rest is
	// cut. Default 10 Mi.
	MaxHTML int

	// MaxMemory bounds the private memory of the browser with all its processes,
	// in bytes; over it the browser is killed. Default 1.5 GiB. Enforced on
	// Linux.
	MaxMemory int64
}

// browsers are the names under which Chromium is installed.
var browsers = [...]string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"}

func (o Options) withDefaults() (Options, error) {
	if o.Dial == nil {
		return o, fmt.Errorf("render: Dial is missing")
	}
	fill(&o.Tabs, 2)
	fill(&o.PagesPerProcess, 200)
	fill(&o.Timeout, 20*time.Second)
	fill(&o.Settle, 8*time.Second)
	fill(&o.MaxRequests, 150)
	fill(&o.MaxBytes, 32<<20)
	fill(&o.MaxHTML, 10<<20)
	fill(&o.MaxMemory, 1536<<20)
	if o.Tabs < 1 || o.Tabs > 64 || o.PagesPerProcess < 1 || o.MaxRequests < 1 || min(o.Timeout, o.Settle) < 0 || o.MaxBytes < 0 || o.MaxHTML < 1 || o.MaxMemory < 0 {
		return o, fmt.Errorf("render: Tabs must be 1 to 64 (is %d), and no limit negative", o.Tabs)
	}
	var err error
	if o.Browser, err = find(o.Browser); err != nil {
		return o, err
	}
	if o.Dir == "" {
		o.Dir, err = os.MkdirTemp("", "octopus-browser-")
	}
	return o, err
}

func fill[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// find returns the path of the browser.
func find(name string) (string, error) {
	if name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("render: browser: %w", err)
		}
		return path, nil
	}
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("render: no Chromium found in PATH; install one (Debian: apt-get install chromium) or give its path")
}
