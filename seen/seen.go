package seen

import (
	"context"
	"fmt"
	"time"

	"octopus"
	"octopus/kv"
)

// Set remembers keys. All methods may be called by many goroutines at once;
// of many that add the same key at once, exactly one is told that it is fresh.
// After an error of Add the answers mean nothing, and some of the keys may be
// recorded.
type Set interface {
	// Add records keys as met at now, and sets fresh[i] where keys[i] was not
	// in the set. len(fresh) must be len(keys). A key that occurs twice in keys
	// is fresh once.
	Add(ctx context.Context, now time.Time, keys []octopus.Key, fresh []bool) error

	// Contains sets known[i] where keys[i] is in the set at now.
	Contains(ctx context.Context, now time.Time, keys []octopus.Key, known []bool) error
}

// Stager is a Set whose memory is made durable by its user: what Add recorded
// survives a crash once a batch with it has been committed. A Set without
// Stage is durable, or not, as its documentation says.
type Stager interface {
	Set

	// Stage puts the keys, which Add has just called fresh, into the batch of
	// the commit that stores what belongs to them.
	Stage(b *kv.Batch, now time.Time, keys []octopus.Key)
}

// Maintainer is a Set with work to do now and then: it folds its log, writes a
// snapshot, drops what expired. Answers are right without it; memory and disk
// grow.
type Maintainer interface {
	Set

	// Maintain does the work that is due at now, and returns at once where
	// there is none. Its owner calls it about once a second, from one
	// goroutine, while other calls go on.
	Maintain(ctx context.Context, now time.Time) error
}

// check refuses a call before it changes anything.
func check(ctx context.Context, keys []octopus.Key, answers []bool) error {
	if len(keys) != len(answers) {
		return fmt.Errorf("seen: %d keys, but room for %d answers", len(keys), len(answers))
	}
	return ctx.Err()
}
