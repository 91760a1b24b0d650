package redisx

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// CheckEviction refuses a server that would throw keys away when its memory is
// full, instead of saying so. expiring tells that the keys have a time to live:
// there are policies that take those alone. A server that does not tell its
// policy is taken.
func CheckEviction(ctx context.Context, c redis.UniversalClient, expiring bool) error {
	text, err := c.Info(ctx, "memory").Result()
	if err != nil {
		if Has(err, "NOPERM") || Has(err, "ERR") {
			return nil // closed on some managed servers
		}
		return Explain(err)
	}
	policy := field(text, "maxmemory_policy")
	all, some := strings.HasPrefix(policy, "allkeys-"), strings.HasPrefix(policy, "volatile-")
	if most := field(text, "maxmemory"); most == "" || most == "0" || !all && !(some && expiring) {
		return nil
	}
	return fmt.Errorf("redis throws keys away when it is full (maxmemory-policy %s): set maxmemory-policy noeviction; then it says so, and work waits", policy)
}

// field returns a value of INFO.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
