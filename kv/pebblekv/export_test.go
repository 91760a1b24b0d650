package pebblekv

import "github.com/cockroachdb/pebble/v2"

// OpenPlain opens a Pebble with the settings of a Store.
func OpenPlain(dir string) (*pebble.DB, error) {
	o := Options{}.withDefaults()
	lock, err := pebble.LockDirectory(dir, o.FS)
	if err != nil {
		return nil, err
	}
	return pebble.Open(dir, o.pebble(lock, &watcher{dir: dir}))
}
