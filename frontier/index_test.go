package frontier

import (
	"encoding/binary"
	"testing"

	"octopus"
)

func numbered(n int) (k octopus.Key) {
	binary.BigEndian.PutUint64(k[8:], uint64(n+1)*0x9e3779b97f4a7c15)
	return k
}

// TestIndexPastItsMemory: with four times as many URLs as the table has room for,
// the index forgets none, stays within its memory, and nearly always tells that a
// URL was never met.
func TestIndexPastItsMemory(t *testing.T) {
	const size, keys = 1 << 20, 200_000
	x := newIndex(size)
	x.filled.Store(true)
	for n := range keys {
		x.set(numbered(n), costOf(n%5, 0))
	}
	bytes, wrong := 0, 0
	for i := range x.shards {
		bytes += 10*len(x.shards[i].slots) + 8*len(x.shards[i].rest)
	}
	for n := range keys {
		if c, found, sure := x.get(numbered(n)); !found || sure && c != costOf(n%5, 0) {
			t.Fatalf("key %d: cost %d, found %t, sure %t", n, c, found, sure)
		}
		if _, found, _ := x.get(numbered(keys + n)); found {
			wrong++
		}
	}
	t.Logf("%d keys in %d bytes, %.1f %% of fresh ones have to be looked up", keys, bytes, 100*float64(wrong)/keys)
	if bytes > size || !x.complete() || wrong > keys/3 {
		t.Errorf("%d bytes of %d, complete %t, %d of %d fresh keys are taken for known", bytes, size, x.complete(), wrong, keys)
	}
	none := newIndex(-1)
	none.filled.Store(true)
	if none.set(numbered(1), 0); none.complete() {
		t.Error("an index without memory says that it is complete")
	}
}
