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
	// only during the call; visit may use the store. An error of visit ends
	// the scan and is returned, but for ErrStop.
	Scan(lo, hi []byte, visit func(key, value []byte) error) error

	// Apply commits the batch atomically, and then calls its OnCommit
	// functions. With Sync it returns once the batch survives a power cut; with
	// NoSync the batch survives when a later Sync does (a store loses a suffix
	// of its commits, never one in the middle). The batch is the caller's again
	// when Apply returns. After an error other than a refused batch the caller
	// must treat the store as failed: close it and open it again.
	Apply(b *Batch, d Durability) error

	// Close releases the store. No other call may be running or follow.
	Close() error
}

// Durability says what Apply waits for.
type Durability bool

const (
	NoSync Durability = false
	Sync   Durability = true
)

// PrefixEnd returns the smallest key above every key that begins with prefix:
// the hi of a Scan or DeleteRange over the prefix. It is nil, which a Scan
// takes as the end, where there is none (an empty prefix, or only 0xff bytes).
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
