package parse

// hashes is a set of 64-bit hashes, which stand for what they were made of: two
// of n members are taken for one with probability n²/2^65. It forgets all of
// them in no time, so that one page after the other can use it. The zero value
// is empty.
type hashes struct {
	slots []hashSlot // a power of two of them, at most half with members
	round uint32     // members are what was added in this round
	used  int
}

type hashSlot struct {
	hash  uint64
	round uint32
}

// add puts h in and reports whether it is new.
func (s *hashes) add(h uint64) bool {
	if 2*s.used >= len(s.slots) {
		s.grow()
	}
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := &s.slots[i]
		if slot.round != s.round {
			*slot = hashSlot{h, s.round}
			s.used++
			return true
		}
		if slot.hash == h {
			return false
		}
	}
}

func (s *hashes) grow() {
	old := *s
	*s = hashes{slots: make([]hashSlot, max(2*len(old.slots), 128)), round: 1}
	for _, slot := range old.slots {
		if slot.round == old.round {
			s.add(slot.hash)
		}
	}
}

// reset forgets all members.
func (s *hashes) reset() {
	s.used = 0
	if s.round++; s.round == 0 { // after four billion pages
		clear(s.slots)
		s.round = 1
	}
}
