package kv

// Op is one change of a batch.
type Op struct {
	Kind  OpKind
	Key   []byte
	Value []byte // Set: the value; DeleteRange: the end of the range, exclusive
}

// OpKind names a change.
type OpKind uint8

const (
	OpSet OpKind = iota
	OpDelete
	OpDeleteRange
)

// Batch collects changes, applied in the order they were made. It copies what
// it is given. The zero value is an empty batch; it is not safe for concurrent
// use.
type Batch struct {
	ops  []Op
	data []byte // backs the keys and values of ops
}

// Set stores value under key.
func (b *Batch) Set(key, value []byte) { b.add(OpSet, key, value) }

// Delete removes key; a missing one is no error.
func (b *Batch) Delete(key []byte) { b.add(OpDelete, key, nil) }

// DeleteRange removes every key in [lo, hi).
func (b *Batch) DeleteRange(lo, hi []byte) { b.add(OpDeleteRange, lo, hi) }

// Append adds the changes of other, after those of b.
func (b *Batch) Append(other *Batch) {
	for _, op := range other.ops {
		b.add(op.Kind, op.Key, op.Value)
	}
}

// Len returns the number of changes.
func (b *Batch) Len() int { return len(b.ops) }

// Size returns the bytes of all keys and values.
func (b *Batch) Size() int { return len(b.data) }

// Ops returns the changes in order; the caller must not alter them.
func (b *Batch) Ops() []Op { return b.ops }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.ops, b.data = b.ops[:0], b.data[:0] }

func (b *Batch) add(kind OpKind, key, value []byte) {
	b.ops = append(b.ops, Op{Kind: kind, Key: b.copy(key), Value: b.copy(value)})
}

// copy stores p in data. Slices made before data moved keep the old array
// alive, so they stay valid.
func (b *Batch) copy(p []byte) []byte {
	at := len(b.data)
	b.data = append(b.data, p...)
	return b.data[at:len(b.data):len(b.data)]
}
