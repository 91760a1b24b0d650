package kv

import "errors"

// ErrNotFound is what Get returns for a key that is not there.
var ErrNotFound = errors.New("kv: not found")

// ErrStop returned by a visit function ends a Scan early; Scan then returns nil.
var ErrStop = errors.New("kv: stop")

// Store is an ordered map from keys to values. All methods may be called by
// many goroutines at once; a batch is seen whole or not at all.
type Store interface {
	// Get returns the value of key, a copy the caller owns, or ErrNotFound.
	Get(key []byte) ([]byte, error)

	// Scan calls visit for every key in [lo, hi) in ascending order, from one
	// consistent view. An empty hi means to the end. Key and value are valid
	// only during the call. An error of visit ends the scan and is returned,
	// but for ErrStop.
	Scan(lo, hi []byte, visit func(key, value []byte) error) error

	// Apply commits the batch atomically. With Sync it returns once the batch
	// survives a power cut; with NoSync the batch survives when a later Sync
	// does (a store loses a suffix of its commits, never one in the middle).
	Apply(b *Batch, d Durability) error

	// Close releases the store after the last call has returned.
	Close() error
}

// Durability says what Apply waits for.
type Durability bool

const (
	NoSync Durability = false
	Sync   Durability = true
)
