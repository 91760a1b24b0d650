package redisx_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"octopus/internal/redisx"
	"octopus/internal/servers"
)

func TestRun(t *testing.T) {
	s := servers.Redis(t)
	ctx := t.Context()
	c, err := redisx.Dial(ctx, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	incr := redisx.NewScript("return redis.call('INCR', KEYS[1])")
	calls := func() []*redisx.Call {
		return []*redisx.Call{{Script: incr, Keys: []string{"a"}}, {Script: incr, Keys: []string{"list"}}, {Script: incr, Keys: []string{"a"}}}
	}
	c.RPush(ctx, "list", "x")
	for round, want := range []int64{2, 4} {
		list := calls()
		err := redisx.Run(ctx, c, list)
		if err == nil || list[1].Err == nil || !redisx.Has(err, "WRONGTYPE") || !strings.Contains(err.Error(), "choose another name") {
			t.Errorf("a list under a counter's key: %v", err)
		}
		if got := list[2].Reply; list[2].Err != nil || got != want {
			t.Errorf("round %d: %v, %v, want %d", round, got, list[2].Err, want)
		}
		c.ScriptFlush(ctx)
	}
}

func TestErrors(t *testing.T) {
	s := servers.Redis(t, "--maxmemory", "1mb")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := redisx.Dial(ctx, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	set := redisx.NewScript("return redis.call('SET', KEYS[1], ARGV[1])")
	call := &redisx.Call{Script: set, Keys: []string{"a"}, Args: []any{strings.Repeat("x", 4<<20)}}
	_ = redisx.Run(ctx, c, []*redisx.Call{call})
	call = &redisx.Call{Script: set, Keys: []string{"b"}, Args: []any{"1"}}
	if err := redisx.Run(ctx, c, []*redisx.Call{call}); !redisx.Has(err, "OOM") || !strings.Contains(err.Error(), "maxmemory") {
		t.Errorf("out of memory: %v", err)
	}
	s.Stop()
	if err := redisx.Run(ctx, c, []*redisx.Call{call}); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("server down: %v", err)
	}
	if _, err := redisx.Dial(ctx, "http://:secret@x/"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("bad URL: %v", err)
	}
}

func TestCheckEviction(t *testing.T) {
	s := servers.Redis(t)
	c, err := redisx.Dial(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, test := range []struct {
		most, policy string
		plain, timed bool // refused
	}{
		{"0", "allkeys-lru", false, false},
		{"100mb", "noeviction", false, false},
		{"100mb", "allkeys-lru", true, true},
		{"100mb", "volatile-ttl", false, true},
	} {
		c.ConfigSet(t.Context(), "maxmemory", test.most)
		c.ConfigSet(t.Context(), "maxmemory-policy", test.policy)
		for expiring, refused := range map[bool]bool{false: test.plain, true: test.timed} {
			err := redisx.CheckEviction(t.Context(), c, expiring)
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), "set maxmemory-policy noeviction") {
				t.Errorf("%s, %s, expiring %v: %v", test.most, test.policy, expiring, err)
			}
		}
	}
	s.Stop()
	if err := redisx.CheckEviction(t.Context(), c, false); err == nil {
		t.Error("no error without a server")
	}
}
