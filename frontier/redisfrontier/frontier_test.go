package redisfrontier_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/frontier/frontiertest"
	"octopus/frontier/redisfrontier"
	"octopus/internal/servers"
)

// start returns a server and a client of it.
func start(t testing.TB, extra ...string) (*servers.RedisServer, *redis.Client) {
	s := servers.Redis(t, extra...)
	c := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	t.Cleanup(func() { c.Close() })
	return s, c
}

// plain has no delays and no robots.txt.
func plain() redisfrontier.Options {
	return redisfrontier.Options{Job: "test", Robots: "ignore", HostDelay: -1}
}

func open(t testing.TB, o redisfrontier.Options) *redisfrontier.Frontier {
	t.Helper()
	f, err := redisfrontier.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestContract(t *testing.T) {
	_, c := start(t)
	for _, buckets := range []int{1, 16} {
		t.Run(map[int]string{1: "one", 16: "many"}[buckets], func(t *testing.T) {
			p := frontiertest.Promises{Durable: true, Ordered: true, Blocking: true}
			frontiertest.Run(t, p, func(t *testing.T) frontiertest.Open {
				c.FlushAll(context.Background())
				return func(t *testing.T) octopus.Frontier {
					o := plain()
					o.Client, o.Buckets = c, buckets
					f, err := redisfrontier.Open(t.Context(), o)
					if err != nil {
						t.Fatal(err)
					}
					return f
				}
			})
		})
	}
}

func TestForgets(t *testing.T) {
	_, c := start(t)
	frontiertest.Forgets(t, func(t *testing.T, seen *frontiertest.Seen) octopus.Frontier {
		c.FlushAll(context.Background())
		o := plain()
		o.Client, o.Seen, o.Relink = c, seen, frontiertest.Always
		return open(t, o)
	})
}
