package redisx

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// quiet turns off go-redis' own log, which goes to stderr: all it says is in the
// errors too.
var quiet = sync.OnceFunc(func() { redis.SetLogger(silence{}) })

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// Dial returns a client for a URL and asks the server whether it is there:
//
//	redis://[user:password@]host:port[/db]     one server
//	rediss://…                                 the same, with TLS
//	redis+cluster://host:port[?addr=host:port] a cluster, from any of its nodes
//	rediss+cluster://…                         the same, with TLS
//
// The caller closes the client.
func Dial(ctx context.Context, url string) (redis.UniversalClient, error) {
	quiet()
	c, err := client(url)
	if err != nil {
		return nil, err
	}
	if err := c.Ping(ctx).Err(); err != nil {
		_ = c.Close() // the error of the ping says more
		return nil, Explain(err)
	}
	return c, nil
}

// readTimeout is how long an answer may take: a server that allocates a large
// filter, or forks for a snapshot, takes its time.
const readTimeout = 15 * time.Second

func client(url string) (redis.UniversalClient, error) {
	if scheme, rest, ok := strings.Cut(url, "+cluster://"); ok {
		o, err := redis.ParseClusterURL(scheme + "://" + rest)
		if err != nil {
			return nil, badURL(url, err)
		}
		o.MaxRetries, o.ContextTimeoutEnabled, o.ReadTimeout = -1, true, readTimeout
		return redis.NewClusterClient(o), nil
	}
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, badURL(url, err)
	}
	o.MaxRetries, o.ContextTimeoutEnabled, o.ReadTimeout = -1, true, readTimeout
	return redis.NewClient(o), nil
}

func badURL(url string, err error) error {
	if i := strings.LastIndex(url, "@"); i >= 0 {
		url = "redis://…" + url[i:] // no passwords in messages
	}
	return fmt.Errorf("redis URL %q: %w; write redis://host:port or redis+cluster://host:port", url, err)
}

// IsCluster reports whether the keys of one call must share a slot.
func IsCluster(c redis.UniversalClient) bool {
	_, ok := c.(*redis.ClusterClient)
	return ok
}
