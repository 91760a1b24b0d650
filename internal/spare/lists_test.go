package spare_test

import (
	"testing"

	"octopus/internal/spare"
)

func TestLists(t *testing.T) {
	lists := spare.New[*int](2, 4)
	a := append(lists.Get(3), new(int), new(int))
	if cap(a) != 3 {
		t.Fatalf("a new list has room for %d, want 3", cap(a))
	}
	lists.Put(a)
	b := lists.Get(1)
	if len(b) != 0 || cap(b) != 3 || &b[:1][0] != &a[0] {
		t.Errorf("got another list, of %d and room for %d", len(b), cap(b))
	}
	if a[0] != nil || a[1] != nil {
		t.Error("a list taken back keeps its elements alive")
	}
	lists.Put(make([]*int, 5))
	lists.Put(nil)
	if c := lists.Get(0); cap(c) != 0 {
		t.Errorf("a list of %d was kept, the limit is 4", cap(c))
	}
	for range 3 {
		lists.Put(make([]*int, 4)) // the third is one too many: Put does not wait
	}
	if d := lists.Get(5); cap(d) != 5 {
		t.Errorf("room for %d, want 5", cap(d))
	}
}
