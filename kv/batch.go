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
	OpSet         OpKind = iota // store Value under Key
	OpDelete                    // remove Key
	OpDeleteRange               // remove every key in [Key, Value)
)

// Batch collects changes, applied in the order they were made. It copies what
// it is given. The zero value is an empty batch; it is not safe for concurrent
// use.
type Batch struct {
	ops    []Op
	data   []byte   // backs the keys and values of ops
	onDone []func() // called once the batch is committed
}

// Set stores value under key.
func (b *Batch) Set(key, value []byte) { b.add(OpSet, key, value) }

// Delete removes key; a missing one is no error.
func (b *Batch) Delete(key []byte) { b.add(OpDelete, key, nil) }

// DeleteRange removes every key in [lo, hi). An empty hi removes nothing.
func (b *Batch) DeleteRange(lo, hi []byte) { b.add(OpDeleteRange, lo, hi) }

// OnCommit has f called once the batch is committed, or the batch it was
// appended to. So a package that stages changes into somebody else's batch
// learns when they count, without a second call. f runs in the goroutine that
// applies the batch, after the commit and before Apply returns; it must be
// short and must not use the store. It is not called where Apply fails.
func (b *Batch) OnCommit(f func()) { b.onDone = append(b.onDone, f) }

// Append adds the changes of other, after those of b, and its OnCommit calls.
func (b *Batch) Append(other *Batch) {
	for _, op := range other.ops {
		b.add(op.Kind, op.Key, op.Value)
	}
	b.onDone = append(b.onDone, other.onDone...)
}

// Len returns the number of changes.
func (b *Batch) Len() int { return len(b.ops) }

// Size returns the bytes of all keys and values.
func (b *Batch) Size() int { return len(b.data) }

// Ops returns the changes in order; the caller must not alter them.
func (b *Batch) Ops() []Op { return b.ops }

// Committed makes the calls that OnCommit asked for, each once. A Store calls
// it at the end of every Apply that succeeded; nobody else does.
func (b *Batch) Committed() {
	done := b.onDone
	b.onDone = nil
	for _, f := range done {
		f()
	}
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.ops, b.data, b.onDone = b.ops[:0], b.data[:0], nil }

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
