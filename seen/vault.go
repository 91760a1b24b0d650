package seen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"octopus/internal/durable"
	"octopus/kv"
)

// Place is where a filter is kept: a journal in the user's store, and files
// beside it that take the journal's place now and then.
type Place struct {
	Store  kv.Store
	Prefix []byte     // of the keys in the store
	Dir    string     // directory of the files; it must exist
	FS     durable.FS // nil means the disk

	// SnapshotKeys is the number of keys in the journal that Maintain waits for
	// before it writes the files anew. 0 means 1 M or an eighth of the capacity,
	// whichever is more. It bounds the journal, 8 bytes a key, and so the time
	// to open: 1 M keys take about 0.2 s.
	SnapshotKeys int64
}

func (p Place) fs() durable.FS {
	if p.FS == nil {
		return durable.Disk()
	}
	return p.FS
}

// vault is a filter that survives: layers, their files, and the journal of what
// came since the files were written.
//
// Only what is committed enters the layers, so a snapshot never holds a key
// whose batch was lost.
type vault struct {
	*layers
	place   Place
	name    string // of its files, before "-0.filter"
	mapped  bool
	journal *journal

	mu     sync.Mutex
	failed error // why a layer could not be mapped; Maintain returns it
}

// openVault opens what is kept under a name, or begins anew.
func openVault(p Place, name string, s sizing, mapped bool) (*vault, error) {
	v := &vault{place: p, name: name, mapped: mapped, journal: newJournal(p.Store, p.Prefix)}
	if mapped && p.FS != nil {
		return nil, errors.New("seen: a mapped filter is on the disk: leave FS out")
	}
	all, err := v.load()
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		v.layers = &layers{build: v.build}
		v.list.Store(&all)
	} else {
		v.layers = newLayers(s, v.build)
	}
	return v, v.journal.replay(v.fill)
}

// file returns the name of the file of a layer.
func (v *vault) file(number int) string {
	return filepath.Join(v.place.Dir, fmt.Sprintf("%s-%d.filter", v.name, number))
}

// load reads the layers on disk.
func (v *vault) load() (all []*layer, err error) {
	for number := 0; ; number++ {
		name := v.file(number)
		if _, err := v.place.fs().Stat(name); errors.Is(err, os.ErrNotExist) {
			return all, nil
		}
		var l *layer
		if v.mapped {
			l, err = openMapped(name)
		} else {
			l, err = loadLayer(v.place.fs(), name)
		}
		if err != nil {
			return nil, err
		}
		l.saved = l.count.Load()
		all = append(all, l)
	}
}

// build gives a new layer its filter. Where its file cannot be mapped the layer
// is in memory, and Maintain tells why.
func (v *vault) build(number int, l *layer) {
	if !v.mapped {
		inMemory(number, l)
		return
	}
	kind, perKey := pick(l.err)
	l.filter = &filter{layout: kind, lines: linesFor(l.capacity, perKey)}
	if err := l.createMapped(v.file(number)); err != nil {
		v.mu.Lock()
		v.failed = fmt.Errorf("seen: %w", err)
		v.mu.Unlock()
		inMemory(number, l)
	}
}

// due reports whether the journal is long enough to be replaced by files.
func (v *vault) due() bool {
	limit := v.place.SnapshotKeys
	if limit == 0 {
		limit = max(1<<20, v.all()[0].capacity/8)
	}
	records, keys := v.journal.size()
	return keys >= limit || int64(records) >= limit
}

// snapshot writes the layers that changed, and drops what they now hold from
// the journal. The records to drop are chosen first, so whatever enters the
// layers later stays in the journal. A crash in between repeats records, which
// changes nothing.
func (v *vault) snapshot() error {
	numbers := v.journal.take()
	err := v.saveAll()
	if err == nil {
		var b kv.Batch
		v.journal.drop(&b, numbers[:len(numbers):len(numbers)])
		err = v.place.Store.Apply(&b, kv.NoSync)
	}
	if err != nil {
		for _, n := range numbers {
			v.journal.note(n, 1)
		}
	}
	return err
}

func (v *vault) saveAll() error {
	v.mu.Lock()
	err := v.failed
	v.failed = nil
	v.mu.Unlock()
	if err != nil {
		return err
	}
	for number, l := range v.all() {
		count := l.count.Load()
		if count == l.saved && number < len(v.all())-1 {
			continue
		}
		if l.flush != nil {
			err = l.flush()
		} else {
			err = l.save(v.place.fs(), v.file(number), v.settle)
		}
		if err != nil {
			return err
		}
		l.saved = count
	}
	return nil
}

// settle returns when everything committed so far survives a crash: a snapshot
// that outlived the batches of its keys would have them known and never queued.
func (v *vault) settle() error { return v.place.Store.Apply(&kv.Batch{}, kv.Sync) }

// remove forgets everything: the journal, then the files, the last one first,
// so that a crash in between leaves layers that open.
func (v *vault) remove() error {
	var b kv.Batch
	b.DeleteRange(v.place.Prefix, kv.PrefixEnd(v.place.Prefix))
	if err := v.place.Store.Apply(&b, kv.NoSync); err != nil {
		return err
	}
	for number := len(v.all()) - 1; number >= 0; number-- {
		if err := v.place.fs().Remove(v.file(number)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
