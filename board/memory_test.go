package board_test

import (
	"errors"
	"slices"
	"testing"

	"octopus"
	"octopus/board"
	"octopus/kv"
)

func TestMemory(t *testing.T) {
	store := kv.NewMemory()
	m := board.NewMemory(store, "entries/")
	other := board.NewMemory(store, "entries/a")
	for _, e := range [][2]string{{"a", "http://x/2"}, {"a", "http://x/1"}, {"ab", "http://y/"}, {"", "http://z/"}, {"a", "http://x/1"}} {
		if err := m.SaveEntry(e[0], e[1]); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{"a": {"http://x/1", "http://x/2"}, "ab": {"http://y/"}, "": {"http://z/"}, "b": nil} {
		if got, err := m.LoadEntries(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("board %q: %v, %v; want %v", name, got, err, want)
		}
	}
	if got, err := other.LoadEntries("c"); err != nil || got != nil {
		t.Errorf("another prefix: %v, %v", got, err)
	}
}

// A gate on the same store knows the redirects of the one before.
func TestGateRemembersInStore(t *testing.T) {
	store := kv.NewMemory()
	b := octopus.Board{Name: "b", Entry: []string{"http://example.com/"}, Depth: 1}
	for restart := range 2 {
		g := newGate(t, &recorder{}, board.NewMemory(store, "p/"), b)
		if got := g.Judge(mustURL(t, "https://www.example.com/x"), 1)[0].Accept; got != (restart == 1) {
			t.Errorf("run %d: accepted %v", restart, got)
		}
		l := octopus.Link{URL: mustURL(t, "https://www.example.com/"), Kind: octopus.Redirect, Via: "http://example.com/"}
		if _, err := g.Add(t.Context(), []octopus.Link{l}); err != nil {
			t.Fatal(err)
		}
	}
}

// The store's errors come out.
func TestMemoryErrors(t *testing.T) {
	m := board.NewMemory(brokenStore{}, "p/")
	if err := m.SaveEntry("b", "http://x/"); !errors.Is(err, errStore) {
		t.Errorf("SaveEntry: %v", err)
	}
	if _, err := m.LoadEntries("b"); !errors.Is(err, errStore) {
		t.Errorf("LoadEntries: %v", err)
	}
}

var errStore = errors.New("store is closed")

type brokenStore struct{ kv.Store }

func (brokenStore) Apply(*kv.Batch, kv.Durability) error                     { return errStore }
func (brokenStore) Scan([]byte, []byte, func(key, value []byte) error) error { return errStore }
