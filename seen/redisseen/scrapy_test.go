package redisseen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus/seen/redisseen"
)

const contrib = "../../contrib/scrapy"

func TestScriptsOfScrapy(t *testing.T) {
	for _, name := range []string{"filter.lua", "exact.lua", "expiring.lua"} {
		ours, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join(contrib, "octopus_scrapy", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(ours, theirs) {
			t.Errorf("%s differs from its copy in contrib/scrapy: copy it again", name)
		}
	}
}

// python returns an interpreter that has Scrapy and redis-py.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import scrapy, redis").Run() == nil {
			return name
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no python3 with scrapy and redis; `make test` installs Debian's python3-scrapy and python3-redis")
	}
	t.Skip("no python3 with scrapy and redis: apt-get install python3-scrapy python3-redis")
	return ""
}

// TestScrapyFingerprint compares with Scrapy itself.
func TestScrapyFingerprint(t *testing.T) {
	py := python(t)
	urls := []string{
		"http://a.com", "http://a.com/", "https://a.com:8443/x", "http://a.com:/x", "http://A.com/Path",
		"http://a.com/do?c=3&b=5&b=2&a=50", "http://a.com/do?b=&a", "http://a.com/?", "http://a.com/x?&&a=1&", "http://a.com/?a=1;b=2",
		"http://a.com/r%C3%A9sum%c3%a9?q=r%C3%A9sum%e9", "http://a.com/é?q=é b", "http://a.com/a%2fb%3Fc%2Fd%3f", "http://a.com/a b+c|d",
		"http://a.com/?q=a+b%20c%2Bd", "http://a.com/x;p=1;q=2?z=1", "http://a.com/x;v/y;w", "http://a.com/#frag", "http://a.com/x?a=1#frag?b=2",
		"http://a.com/%7Euser/~me/!$&'()*+,=:@", `http://a.com/"<>\^` + "`{}", "http://a.com/100%/50%2", "http://a.com/?a=%&b=%zz",
		"http://a.com/?q=%E4%BD%A0%E5%A5%BD&p=你好", "http://a.com/a//b/../c/./d", "http://a.com/?a=b=c&d==", "http://a.com/?a[]=1&a%5B%5D=0",
	}
	program := `
import json, sys, warnings
warnings.simplefilter("ignore")
from scrapy.http import Request
from scrapy.utils.request import fingerprint, request_fingerprint
out = []
for url in json.load(sys.stdin):
    out.append([[fingerprint(r).hex(), request_fingerprint(r)] for r in (Request(url), Request(url, method="POST", body=b"a=\xff1"))])
json.dump(out, sys.stdout)
`
	cmd := exec.Command(py, "-c", program)
	in, _ := json.Marshal(urls)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][][]string
	if err := json.Unmarshal(text, &want); err != nil || len(want) != len(urls) {
		t.Fatal(err, len(want))
	}
	for i, url := range urls {
		for j, method := range []string{"", "POST"} {
			var body []byte
			if j == 1 {
				body = []byte("a=\xff1")
			}
			for k, v := range []redisseen.ScrapyVersion{redisseen.Scrapy, redisseen.Scrapy26} {
				got, err := redisseen.ScrapyFingerprint(v, method, url, body)
				if err != nil || fmt.Sprintf("%x", got) != want[i][j][k] {
					t.Errorf("%s %s by %s: %x, %v, want %s", method, url, v, got, err, want[i][j][k])
				}
			}
		}
	}
	if _, err := redisseen.ScrapyFingerprint("md5", "", "http://a.com/", nil); err == nil {
		t.Error("an unknown version is taken")
	}
}

// spider crawls a site by its links; nothing in it knows which filter is used.
const spider = `
import os, scrapy
class Site(scrapy.Spider):
    name = "site"
    start_urls = [os.environ["SITE"]]
    custom_settings = {"REDIS_URL": os.environ["REDIS"], "OCTOPUS_SEEN": os.environ["SEEN"], "TELNETCONSOLE_ENABLED": False}
    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse)
`

// site is a site of 20 pages that all link to all others.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // guarded by mu
}

func newSite(t *testing.T) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		for i := range 20 {
			fmt.Fprintf(w, `<a href="/p%d?b=1&amp;a=2">page</a><a href="/p%d?a=2&amp;b=1">the same</a>`, i, i)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// take returns the requests since the last take, sorted.
func (s *site) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.asked
	s.asked = nil
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestScrapySpider(t *testing.T) {
	py := python(t)
	srv, c := start(t)
	web := newSite(t)
	file := filepath.Join(t.TempDir(), "spider.py")
	if err := os.WriteFile(file, []byte(spider), 0o644); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(contrib)
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, seen, filter string) string {
		t.Helper()
		cmd := exec.Command(py, "-m", "scrapy", "runspider", file, "-s", "LOG_LEVEL=ERROR", "-s", "DUPEFILTER_CLASS="+filter,
			"-s", "REQUEST_FINGERPRINTER_IMPLEMENTATION=2.7")
		cmd.Env = append(os.Environ(), "SITE="+web.URL+"/", "REDIS="+srv.URL(), "SEEN="+seen, "PYTHONPATH="+path, "PYTHONDONTWRITEBYTECODE=1")
		if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("ERROR")) {
			t.Fatalf("scrapy: %v\n%s", err, out)
		}
		return web.take()
	}
	want := run(t, "{}", "scrapy.dupefilters.RFPDupeFilter")
	if n := len(strings.Fields(want)); n < 20 || n > 22 {
		t.Fatalf("the spider with its own filter makes %d requests", n)
	}
	for _, test := range []struct {
		seen string
		o    redisseen.Options
	}{
		{`{}`, redisseen.Options{Kind: redisseen.Exact}},
		{`{"kind": "window", "capacity": 1000, "windows": 3}`, redisseen.Options{Kind: redisseen.Window, Capacity: 1000, Windows: 3}},
		{`{"kind": "bloom", "capacity": 12345, "error_rate": 1e-6}`, redisseen.Options{Kind: redisseen.Bloom, Capacity: 12345, ErrorRate: 1e-6}},
		{`{"kind": "expiring", "expiry": 90061.5}`, redisseen.Options{Kind: redisseen.Expiring, Expiry: 90061500 * time.Millisecond}},
	} {
		t.Run(string(test.o.Kind), func(t *testing.T) {
			c.FlushAll(t.Context())
			test.o.Client, test.o.Name = c, "site:dupefilter"
			s := open(t, test.o) // Go makes the set, and knows one page already
			fp := func(path string) []byte {
				f, err := redisseen.ScrapyFingerprint(redisseen.Scrapy, "", web.URL+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				return f[:]
			}
			fresh := make([]bool, 1)
			if err := s.AddMembers(t.Context(), time.Now(), [][]byte{fp("/p7?a=2&b=1")}, fresh); err != nil || !fresh[0] {
				t.Fatal(fresh, err)
			}
			if got := run(t, test.seen, "octopus_scrapy.DupeFilter"); got != strings.Replace(want, " /p7", "", 1) {
				t.Errorf("requests %s\nwant those of Scrapy's own filter without /p7: %s", got, want)
			}
			fresh = make([]bool, 2)
			if err := s.AddMembers(t.Context(), time.Now(), [][]byte{fp("/p3?b=1&a=2"), fp("/p99")}, fresh); err != nil || fresh[0] || !fresh[1] {
				t.Errorf("after the spider: a page of its and another are fresh: %v, %v", fresh, err)
			}
			if test.o.Kind != redisseen.Window {
				return // an interpreter takes seconds to start
			}
			if got := run(t, test.seen, "octopus_scrapy.DupeFilter"); got != "/" {
				t.Errorf("the second run makes the requests %s, want the start page alone", got)
			}
		})
	}
}
