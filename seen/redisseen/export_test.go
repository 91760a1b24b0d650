package redisseen

// CutIntoBlocks makes a filter of several blocks of what would fit into one, so
// that tests need no gigabytes.
func (s *Set) CutIntoBlocks(n int) { s.size.blocks, s.size.bits = n, s.size.bits/int64(n) }
