package seen

import (
	"context"
	"time"

	"octopus"
	"octopus/kv"
)

// Set remembers keys. All methods may be called by many goroutines at once;
// of many that add the same key at once, exactly one is told that it is fresh.
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
