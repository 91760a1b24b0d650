package board

import (
	"octopus/kv"
)

// Memory keeps the entries that redirects added, by board.
type Memory interface {
	// LoadEntries returns what SaveEntry was given for a board.
	LoadEntries(board string) ([]string, error)
	// SaveEntry adds an entry; one that is there already is no error. It is
	// durable when the call returns.
	SaveEntry(board, url string) error
}

// SharedMemory is a Memory that other processes write, too.
type SharedMemory interface {
	Memory
	// Version grows with the entries that this process has heard of. It is a
	// look at memory; LoadEntries asks.
	Version() int64
}

// kvMemory is a Memory in a store.
type kvMemory struct {
	store  kv.Store
	prefix string
}

// NewMemory keeps entries in a store, under keys that begin with prefix; doc.go
// draws them.
func NewMemory(store kv.Store, prefix string) Memory { return kvMemory{store, prefix} }

func (m kvMemory) key(board, url string) []byte {
	return []byte(m.prefix + board + "\x00" + url)
}

func (m kvMemory) LoadEntries(board string) ([]string, error) {
	lo := m.key(board, "")
	hi := append([]byte(m.prefix+board), 1)
	var urls []string
	err := m.store.Scan(lo, hi, func(key, _ []byte) error {
		urls = append(urls, string(key[len(lo):]))
		return nil
	})
	return urls, err
}

func (m kvMemory) SaveEntry(board, url string) error {
	var b kv.Batch
	b.Set(m.key(board, url), nil)
	return m.store.Apply(&b, kv.Sync)
}
