package redisseen

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"octopus/internal/redisx"
)

// Sizes of the work of Maintain.
const (
	cleanPart = 500             // entries of one call
	cleanMost = 200             // calls of one Maintain
	passMax   = 6 * time.Hour   // a pass over all entries takes no longer, below cleanMost
	callEvery = 1 * time.Second // how often Maintain is called
)

// Maintain implements seen.Maintainer: it takes expired entries out of an
// expiring set, a few thousand at each call, so that a pass over all of them
// takes a quarter of the expiry. Where several processes do it they share the
// pass. Of filters it looks every few minutes whether they hold more than they
// were made for, and says so with ErrFull.
func (s *Set) Maintain(ctx context.Context, now time.Time) error {
	switch s.opt.Kind {
	case Exact:
		return nil
	case Bloom, Window:
		return s.checkFull(ctx, now)
	}
	total, err := s.cleanStep(ctx, now)
	if err != nil {
		return err
	}
	pass := min(max(s.opt.Expiry/4, callEvery), passMax)
	steps := min(total*int64(callEvery)/int64(pass)/cleanPart, cleanMost)
	for range steps {
		if _, err := s.cleanStep(ctx, now); err != nil {
			return err
		}
	}
	return nil
}

// ErrFull says that a filter holds more entries than it was made for: it does
// not grow, so it errs more often than asked for.
var ErrFull = errors.New("the filter is past its capacity")

// fullEvery is the pause between two looks at the fill.
const fullEvery = 5 * time.Minute

// checkFull returns ErrFull, with figures, while a filter is.
func (s *Set) checkFull(ctx context.Context, now time.Time) error {
	s.mu.Lock()
	last, full := s.looked, s.full
	due := last.IsZero() || now.Sub(last) >= fullEvery || now.Before(last)
	if due {
		s.looked = now
	}
	s.mu.Unlock()
	if !due {
		return full
	}
	st, err := s.Stats(ctx)
	if err != nil {
		return err
	}
	if st.Full {
		err = fmt.Errorf("redisseen %s: %w of %d: it takes %.2g of new entries for known, asked for is %.2g; give the next crawl a larger capacity, under another name",
			s.opt.Name, ErrFull, s.opt.Capacity, st.ErrorRate, st.Target)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = err
	return err
}

// cleanStep looks at the next entries, and returns how many there are in all.
func (s *Set) cleanStep(ctx context.Context, now time.Time) (total int64, err error) {
	call := &redisx.Call{Script: cleanScript, Keys: []string{s.base(0), s.planKey()}, Args: []any{s.clock(now), cleanPart}}
	if err := redisx.Run(ctx, s.client, []*redisx.Call{call}); err != nil {
		return 0, fmt.Errorf("redisseen %s: clean: %w", s.opt.Name, err)
	}
	reply, ok := call.Reply.([]any)
	if !ok || len(reply) != 2 {
		return 0, fmt.Errorf("redisseen %s: clean: unexpected answer %v", s.opt.Name, call.Reply)
	}
	total, _ = reply[0].(int64)
	return total, nil
}

// Import adds the members of a Redis set that Scrapy-Redis made, such as
// spider:dupefilter: fingerprints of 40 hexadecimal digits, stored here as their
// 20 bytes. It reads the set a part at a time, may be repeated, and returns how
// many members there were. The set is left as it is.
func (s *Set) Import(ctx context.Context, now time.Time, key string) (n int64, err error) {
	var cursor uint64
	for {
		texts, next, err := s.client.SScan(ctx, key, cursor, "", 1000).Result()
		if err != nil {
			return n, fmt.Errorf("redisseen %s: import %s: %w", s.opt.Name, key, redisx.Explain(err))
		}
		members := make([][]byte, len(texts))
		for i, text := range texts {
			if members[i], err = hex.DecodeString(strings.TrimSpace(text)); err != nil || len(members[i]) != 20 {
				return n, fmt.Errorf("redisseen %s: import %s: member %q is no fingerprint of 40 hexadecimal digits", s.opt.Name, key, text)
			}
		}
		if err := s.AddMembers(ctx, now, members, make([]bool, len(members))); err != nil {
			return n, err
		}
		n += int64(len(members))
		if cursor = next; cursor == 0 {
			return n, nil
		}
	}
}
