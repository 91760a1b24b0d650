package frontier

// IndexHeap returns what the index of known URLs takes of the heap, in bytes.
func (f *Frontier) IndexHeap() (n int64) {
	x := f.index.Load()
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		n += int64(len(s.slots))*(8+2) + int64(len(s.rest))*8
		s.mu.Unlock()
	}
	return n
}
