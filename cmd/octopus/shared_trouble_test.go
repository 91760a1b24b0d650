package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus/internal/servers"
)

// talker is a process whose lines on stderr are waited for.
type talker struct {
	*exec.Cmd
	lines chan string
	said  []string
}

// startTalker starts the program. It is killed at the end of the test.
func startTalker(t *testing.T, args ...string) *talker {
	t.Helper()
	p := &talker{Cmd: exec.Command(os.Args[0], args...), lines: make(chan string, 1000)}
	p.Env = append(os.Environ(), asProgram+"=1")
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	go func(r io.Reader) {
		defer close(p.lines)
		for in := bufio.NewScanner(r); in.Scan(); {
			p.lines <- in.Text()
		}
	}(stderr)
	return p
}

// until waits for a line that holds a text.
func (p *talker) until(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("it ended, and did not say %q:\n%s", text, strings.Join(p.said, "\n"))
			}
			if p.said = append(p.said, line); strings.Contains(line, text) {
				return
			}
		case <-deadline:
			t.Fatalf("it does not say %q:\n%s", text, strings.Join(p.said, "\n"))
		}
	}
}

// end reads the rest and waits for the end, which must be a success.
func (p *talker) end(t *testing.T) {
	t.Helper()
	for line := range p.lines {
		p.said = append(p.said, line)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v:\n%s", err, strings.Join(p.said, "\n"))
	}
}

// TestRedisTrouble breaks Redis while the program crawls: it says what is wrong
// and what to do, waits, and goes on by itself when that is mended. No page is
// lost.
func TestRedisTrouble(t *testing.T) {
	for name, trouble := range map[string]struct {
		want         string
		spoil, amend func(s *servers.RedisServer, c *redis.Client, bucket string)
	}{
		"down": {"redis does not answer",
			func(s *servers.RedisServer, _ *redis.Client, _ string) { s.Kill() },
			func(s *servers.RedisServer, _ *redis.Client, _ string) { s.Start() }},
		"restarted empty": {"", func(s *servers.RedisServer, _ *redis.Client, _ string) { s.RestartEmpty() }, nil},
		"out of memory": {"raise its maxmemory",
			func(_ *servers.RedisServer, c *redis.Client, _ string) { c.ConfigSet(t.Context(), "maxmemory", "1") },
			func(_ *servers.RedisServer, c *redis.Client, _ string) { c.ConfigSet(t.Context(), "maxmemory", "0") }},
		"wrong type": {"a key of this name holds something else",
			func(_ *servers.RedisServer, c *redis.Client, bucket string) {
				overwrite(t, c, bucket+"url", bucket+"aside")
			},
			func(_ *servers.RedisServer, c *redis.Client, bucket string) {
				c.Rename(t.Context(), bucket+"aside", bucket+"url")
			}},
		"seen set of a wrong type": {"redisseen crawl:seen: redis: a key of this name holds something else",
			func(_ *servers.RedisServer, c *redis.Client, _ string) { overwrite(t, c, "crawl:seen", "aside") },
			func(_ *servers.RedisServer, c *redis.Client, _ string) {
				c.Rename(t.Context(), "aside", "crawl:seen")
			}},
		"scripts flushed": {"", func(_ *servers.RedisServer, c *redis.Client, _ string) { c.ScriptFlush(t.Context()) }, nil},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			server := servers.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
			opt, err := redis.ParseURL(server.URL())
			if err != nil {
				t.Fatal(err)
			}
			client := redis.NewClient(opt)
			defer client.Close()
			site, arrived, released := newSite(t), make(chan struct{}), make(chan struct{})
			site.onRequest(func(path string) {
				if path == "/5" && site.count(path) == 1 {
					close(arrived)
					<-released
				}
			})
			p := startTalker(t, "crawl", site.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--conns-per-host", "4", "--progress", "none",
				"--frontier", server.URL(), "--job", "crawl", "--seen", "expiring", "--seen-expiry", "1h", "--dir", t.TempDir())
			<-arrived
			urls, err := client.Keys(t.Context(), "{*}:url").Result()
			if err != nil || len(urls) != 1 { // one site lies in one bucket
				t.Fatal(urls, err)
			}
			bucket := strings.TrimSuffix(urls[0], "url")
			trouble.spoil(server, client, bucket)
			close(released)
			if trouble.amend != nil {
				p.until(t, trouble.want)
				trouble.amend(server, client, bucket)
				p.until(t, "works again")
			}
			p.end(t)
			for _, path := range []string{"/", "/5", "/11", "/12", "/19"} {
				if site.count(path) == 0 {
					t.Errorf("%s was never fetched", path)
				}
			}
		})
	}
}

// overwrite puts text under a key, whose value goes aside, at once.
func overwrite(t *testing.T, c *redis.Client, key, aside string) {
	t.Helper()
	_, err := c.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Rename(t.Context(), key, aside)
		return p.Set(t.Context(), key, "text", 0).Err()
	})
	if err != nil {
		t.Errorf("overwrite %s: %v", key, err)
	}
}
