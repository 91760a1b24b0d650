package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/seen/redisseen"
)

// redis measures what a fingerprint takes in Redis, in a server of its own: as
// members of a set of 40 digits, as Scrapy-Redis keeps them; and in the exact and
// the expiring set of octopus. go test -bench Windows ./seen/redisseen measures
// windows there.
func (b *bench) redis() error {
	n := b.size(5_000_000)
	for _, who := range []string{"set of 40 digits", "octopus, exact", "octopus, expiring"} {
		bytes, err := inServer(who, n)
		if err != nil {
			return err
		}
		if who == "set of 40 digits" {
			b.setFP = bytes
		}
		say("redis", who, figures{"keys": n, "bytes_per_key": bytes})
	}
	return nil
}

// inServer starts a server, adds n keys to it and returns the bytes of one.
func inServer(who string, n int) (bytes float64, err error) {
	dir, err := os.MkdirTemp("", "seen-redis")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	server := exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait() // it was killed
	}()
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, ReadTimeout: time.Minute})
	defer client.Close()
	ctx := context.Background()
	for deadline := time.Now().Add(time.Minute); client.Ping(ctx).Err() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("redis-server does not answer: %w", client.Ping(ctx).Err())
		}
	}
	before, err := usedMemory(ctx, client)
	if err != nil {
		return 0, err
	}
	add, err := adder(ctx, who, client)
	if err != nil {
		return 0, err
	}
	keys, rng := make([]octopus.Key, part), newSource(5)
	for range n / part {
		rng.fill(keys)
		if err := add(keys); err != nil {
			return 0, err
		}
	}
	after, err := usedMemory(ctx, client)
	return (after - before) / float64(n), err
}

// adder returns what adds a batch of keys.
func adder(ctx context.Context, who string, client *redis.Client) (func([]octopus.Key) error, error) {
	if who == "set of 40 digits" {
		return func(keys []octopus.Key) error {
			members := make([]any, len(keys))
			for i, k := range keys {
				members[i] = hex.EncodeToString(append(k[:], 1, 2, 3, 4))
			}
			return client.SAdd(ctx, "spider:dupefilter", members...).Err()
		}, nil
	}
	_, kind, _ := strings.Cut(who, ", ")
	set, err := redisseen.Open(ctx, redisseen.Options{Client: client, Name: "bench", Kind: redisseen.Kind(kind), Expiry: time.Hour})
	fresh := make([]bool, part)
	return func(keys []octopus.Key) error { return set.Add(ctx, time.Time{}, keys, fresh) }, err
}

func usedMemory(ctx context.Context, c *redis.Client) (bytes float64, err error) {
	text, err := c.Info(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(text, "used_memory:")
	_, err = fmt.Sscan(rest, &bytes)
	return bytes, err
}
