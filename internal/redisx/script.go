package redisx

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Script is a Lua script and its name in the server's cache.
type Script struct{ Text, SHA string }

// NewScript returns the script that its parts make up.
func NewScript(parts ...string) *Script {
	text := strings.Join(parts, "\n")
	sum := sha1.Sum([]byte(text))
	return &Script{Text: text, SHA: hex.EncodeToString(sum[:])}
}

// Call is one run of a script, and what became of it. All its keys must be in
// one slot.
type Call struct {
	Script *Script
	Keys   []string
	Args   []any

	Reply any   // as go-redis returns it: int64, string, []any, nil
	Err   error // explained (see Explain)
}

// tripCalls bounds the calls of one round trip, so that its answer comes within
// the client's time-out also where many calls are made on a busy server.
const tripCalls = 32

// Run sends calls, up to 32 in one round trip (a cluster: one for each node). A
// call whose script the server has forgotten is sent again with its text: it has
// not run. Each call has its own error; Run returns the first. After a round trip
// that failed on the way no more are made, and the calls left have its error.
func Run(ctx context.Context, c redis.UniversalClient, calls []*Call) error {
	for at := 0; at < len(calls); at += tripCalls {
		trip := calls[at:min(at+tripCalls, len(calls))]
		if err := runTrip(ctx, c, trip); err != nil && !answered(err) {
			for _, call := range calls[at+len(trip):] {
				call.Err = err
			}
			return err
		}
	}
	for _, call := range calls {
		if call.Err != nil {
			return call.Err
		}
	}
	return nil
}

// answered reports whether err is the server's word.
func answered(err error) bool {
	var server redis.Error
	return errors.As(err, &server)
}

// runTrip makes one round trip and returns the first error.
func runTrip(ctx context.Context, c redis.UniversalClient, calls []*Call) error {
	forgotten := send(ctx, c, calls, func(p redis.Pipeliner, call *Call) *redis.Cmd {
		return p.EvalSha(ctx, call.Script.SHA, call.Keys, call.Args...)
	})
	if len(forgotten) > 0 {
		send(ctx, c, forgotten, func(p redis.Pipeliner, call *Call) *redis.Cmd {
			return p.Eval(ctx, call.Script.Text, call.Keys, call.Args...)
		})
	}
	for _, call := range calls {
		if call.Err != nil {
			return call.Err
		}
	}
	return nil
}

// send runs the calls and returns those whose script is not in the cache.
func send(ctx context.Context, c redis.UniversalClient, calls []*Call, command func(redis.Pipeliner, *Call) *redis.Cmd) (forgotten []*Call) {
	commands := make([]*redis.Cmd, len(calls))
	_, _ = c.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its error
		for i, call := range calls {
			commands[i] = command(p, call)
		}
		return nil
	})
	for i, call := range calls {
		reply, err := commands[i].Result()
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			forgotten = append(forgotten, call)
			continue
		}
		if err == redis.Nil {
			reply, err = nil, nil
		}
		call.Reply, call.Err = reply, Explain(err)
	}
	return forgotten
}
