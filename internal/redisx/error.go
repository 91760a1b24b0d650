package redisx

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// causes are the beginnings of Redis' own messages, and what to do about them.
var causes = []struct{ prefix, advice string }{
	{"WRONGTYPE", "a key of this name holds something else; choose another name, or delete the key"},
	{"OOM", "Redis is out of memory: raise its maxmemory, or free some; work goes on by itself then"},
	{"MISCONF", "Redis cannot write its snapshot and refuses changes: look at its log and its disk"},
	{"NOAUTH", "Redis wants a password: write redis://:PASSWORD@host:port"},
	{"WRONGPASS", "the user name or the password is wrong"},
	{"NOPERM", "the Redis user may not run this command: give it the rights for scripts, hashes, sets and publish"},
	{"READONLY", "this Redis is a replica: name its master"},
	{"LOADING", "Redis is loading its data; work goes on by itself when it is done"},
	{"BUSY", "Redis is busy with a script of somebody else"},
	{"CROSSSLOT", "the keys of one set lie in different slots: put a {tag} into the name"},
	{"CLUSTERDOWN", "the cluster has slots that no node serves"},
}

// Explain returns err with what it means and what to do, nil for nil. Errors
// wrap the original.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := message(err)
	for _, c := range causes {
		if strings.HasPrefix(text, c.prefix) {
			return fmt.Errorf("redis: %s (%w)", c.advice, err)
		}
	}
	var server redis.Error
	if errors.As(err, &server) {
		return fmt.Errorf("redis: %w", err)
	}
	return fmt.Errorf("redis does not answer: %w", err)
}

// message returns the server's words. Errors inside a script come wrapped:
// "ERR user_script:7: WRONGTYPE Operation…", or with "script: …" behind them.
func message(err error) string {
	text := err.Error()
	if rest, ok := strings.CutPrefix(text, "ERR "); ok {
		for _, c := range causes {
			if i := strings.Index(rest, c.prefix+" "); i >= 0 {
				return rest[i:]
			}
		}
	}
	return text
}

// Has reports whether err, explained or not, is an error of the server that
// begins with prefix.
func Has(err error, prefix string) bool {
	var server redis.Error
	return errors.As(err, &server) && strings.HasPrefix(message(server), prefix)
}
