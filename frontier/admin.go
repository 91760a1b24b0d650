package frontier

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"time"

	"octopus"
	"octopus/kv"
)

// List names one of the lists of URLs that are not simply known.
type List byte

const (
	ListQueued List = tableQueue  // waiting in the queues
	ListParked List = tableParked // kept aside with a reason
	ListBad    List = tableBad    // no attempt left
)

// Filter selects URLs; an empty field matches all.
type Filter struct {
	Host   octopus.URL    // any URL of the host
	Site   octopus.URL    // any URL of the registrable domain
	Board  string         // name of the board
	Match  *regexp.Regexp // the URL matches
	Reason string         // of parked and bad URLs
}

// Item is a URL of a list.
type Item struct {
	URL      string
	Host     string
	Depth    int
	Lane     octopus.Lane
	Board    string
	Via      string
	Attempts int    // failed ones of the coming visit
	Reason   string // of parked and bad URLs
	Detail   string

	key   octopus.Key
	entry *entry
}

// Walk calls visit for every URL of a list that passes the filter, in the order
// of the keys (a queue in the order of dispatch), until visit returns an error;
// kv.ErrStop ends it without one. It sees one consistent state of the store.
func (f *Frontier) Walk(_ context.Context, list List, filter Filter, visit func(Item) error) error {
	_, err := f.walk(list, filter, nil, visit)
	return err
}

// walk is Walk from a key on; it returns the key where visit stopped it.
func (f *Frontier) walk(list List, filter Filter, from []byte, visit func(Item) error) (stopped []byte, err error) {
	prefix := filter.prefix(f.keys, byte(list))
	if from == nil {
		from = prefix
	}
	var h *host
	err = f.opt.Store.Scan(from, after(prefix), func(key, value []byte) error {
		hk := octopus.HostKey(key[5:])
		if h == nil || h.key != hk {
			if h, err = f.hostRecord(hk); err != nil {
				return err
			} else if h == nil {
				return fmt.Errorf("frontier: host %s has URLs but no record", hk)
			}
		}
		item, err := decodeItem(list, h, key, value)
		if err != nil {
			return err
		}
		if ok, err := f.passes(filter, list, &item); !ok || err != nil {
			return err
		}
		if err := visit(item); err != nil {
			stopped = bytes.Clone(key)
			return err
		}
		return nil
	})
	return stopped, err
}

// prefix returns the narrowest prefix of a table that holds what passes.
func (f Filter) prefix(k keyspace, table byte) []byte {
	switch {
	case !f.Host.IsZero():
		host := f.Host.Key.Host()
		return k.table(table, host[:])
	case !f.Site.IsZero():
		site := f.Site.Key.Site()
		return k.table(table, site[:])
	}
	return k.table(table)
}

func decodeItem(list List, h *host, key, value []byte) (Item, error) {
	var e *entry
	var err error
	if list == ListQueued {
		e, err = decodeEntry(queuePosition(key), h.name, value)
	} else {
		e, err = decodeDue(h.name, value)
	}
	if err != nil {
		return Item{}, err
	}
	return Item{
		URL: e.text, Host: h.name, Depth: e.pos.depth(), Lane: e.pos.lane(), Board: e.board, Via: e.via,
		Attempts: int(e.tries), key: e.key(h), entry: e,
	}, nil
}

// passes completes the item and reports whether it passes the filter.
func (f *Frontier) passes(filter Filter, list List, i *Item) (bool, error) {
	if filter.Board != "" && filter.Board != i.Board || filter.Match != nil && !filter.Match.MatchString(i.URL) {
		return false, nil
	}
	if list == ListQueued {
		return filter.Reason == "", nil
	}
	r, err := f.recordOf(i.key)
	if err != nil || r == nil {
		return false, err
	}
	i.Reason, i.Detail = r.reason, r.detail
	return filter.Reason == "" || filter.Reason == r.reason, nil
}

// adminStep is how many URLs one commit of Revive or Drop changes.
const adminStep = 256

// Revive queues the URLs of ListParked or ListBad that pass the filter again,
// and returns how many. What parked them may do so again: robots.txt is asked at
// dispatch. A dead host is given another chance.
func (f *Frontier) Revive(ctx context.Context, list List, filter Filter) (int, error) {
	return f.change(ctx, list, filter, f.inCore(func(i Item, old *record) bool { return f.core.Revive(f.opt.Now(), i.key, i.entry, old) }))
}

// Drop parks the URLs of ListQueued that pass the filter, with the reason
// ReasonDropped, and returns how many. What is handed out stays. Walk with the
// same filter shows beforehand which.
func (f *Frontier) Drop(ctx context.Context, filter Filter) (int, error) {
	return f.change(ctx, ListQueued, filter, f.inCore(func(i Item, old *record) bool {
		return f.core.Drop(f.opt.Now(), i.key, i.entry, old, ReasonDropped, "taken out of the queue by an operator")
	}))
}

// ReasonDropped is the reason of URLs that an operator took out of the queue.
const ReasonDropped = "dropped"

// changer changes one URL of a list, with its record in the store, and reports
// whether it did. It is called with write held, and the URL's host in memory.
type changer func(i Item, old *record) (bool, error)

// inCore is a changer that needs the Core alone.
func (f *Frontier) inCore(do func(i Item, old *record) bool) changer {
	return func(i Item, old *record) (bool, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.err == nil && do(i, old), nil
	}
}

// change applies do to the URLs of a list, step by step.
func (f *Frontier) change(ctx context.Context, list List, filter Filter, do changer) (n int, err error) {
	if err := f.settled(ctx); err != nil {
		return 0, err
	}
	var from []byte
	for {
		var items []Item
		next, err := f.walk(list, filter, from, func(i Item) error {
			if len(items) == adminStep {
				return kv.ErrStop
			}
			items = append(items, i)
			return nil
		})
		if err != nil {
			return n, err
		}
		done, err := f.changeStep(ctx, items, do)
		n += done
		if err != nil || next == nil {
			return n, err
		}
		from = next
	}
}

// settled returns once everything changed so far is in the store.
func (f *Frontier) settled(ctx context.Context) error {
	f.mu.Lock()
	c := f.ticket()
	f.mu.Unlock()
	return f.await(ctx, c)
}

func (f *Frontier) changeStep(ctx context.Context, items []Item, do changer) (n int, err error) {
	c, err := func() (*commit, error) {
		f.write.Lock()
		defer f.write.Unlock()
		for _, i := range items {
			old, err := f.cachedRecord(i.key)
			if err != nil {
				return nil, err
			}
			if err := f.warmHost(i.key.Host(), nil); err != nil {
				return nil, err
			}
			changed, err := do(i, old)
			if err != nil {
				return nil, err
			}
			if changed {
				n++
			}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.changed()
		return f.ticket(), f.usable()
	}()
	if err != nil {
		return n, err
	}
	return n, f.await(ctx, c)
}

// ClearLane empties one lane of all hosts and returns how many URLs went. They
// stay known, count as parked, and are queued again when they are offered again.
// What is handed out stays.
func (f *Frontier) ClearLane(ctx context.Context, lane octopus.Lane) (n int64, err error) {
	if err := f.settled(ctx); err != nil {
		return 0, err
	}
	lo := f.keys.table(tableHost)
	for from := lo; from != nil; {
		var keys []octopus.HostKey
		var next []byte
		if err := f.opt.Store.Scan(from, after(lo), func(key, _ []byte) error {
			if len(keys) == adminStep {
				next = bytes.Clone(key)
				return kv.ErrStop
			}
			keys = append(keys, octopus.HostKey(key[5:]))
			return nil
		}); err != nil {
			return n, fmt.Errorf("frontier: read hosts: %w", err)
		}
		from = next
		for _, k := range keys {
			gone, err := f.clearHost(k, lane)
			n += gone
			if err != nil {
				return n, err
			}
		}
	}
	return n, f.renewIndex(ctx)
}

func (f *Frontier) clearHost(key octopus.HostKey, lane octopus.Lane) (int64, error) {
	f.write.Lock()
	defer f.write.Unlock()
	if err := f.warmHost(key, nil); err != nil {
		return 0, err
	}
	f.mu.Lock()
	leased := f.core.LeasedOf(key)
	f.mu.Unlock()
	records := map[octopus.Key]*record{}
	for _, k := range leased {
		var err error
		if records[k], err = f.recordOfLeased(k); err != nil {
			return 0, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed()
	return f.core.ClearLane(f.opt.Now(), key, lane, records), f.usable()
}

// renewIndex starts the index of known URLs anew: it has cleared ones.
func (f *Frontier) renewIndex(ctx context.Context) error {
	x := newIndex(f.opt.IndexBytes)
	f.write.Lock()
	f.index.Store(x)
	f.write.Unlock()
	if err := f.settled(ctx); err != nil { // what was offered before is in the store
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return err
	}
	f.done.Go(func() { f.fillIndex(x) })
	return nil
}

// Block keeps the host of u from being asked before a time; a time in the past
// lets it go again, whatever blocked it.
func (f *Frontier) Block(ctx context.Context, u octopus.URL, until time.Time) error {
	return f.changeHost(ctx, u, func(now time.Time, h octopus.HostKey) error {
		f.core.Block(now, h, until)
		return nil
	})
}

// SetPrecedence has the host of u go before hosts that may be asked, too, and have
// a greater precedence; 0 is what every host has at first. It is durable.
func (f *Frontier) SetPrecedence(ctx context.Context, u octopus.URL, precedence int8) error {
	return f.changeHost(ctx, u, func(now time.Time, h octopus.HostKey) error {
		f.core.SetPrecedence(now, h, precedence)
		return nil
	})
}

// changeHost has do change the host of u, under both locks, and waits for the
// commit.
func (f *Frontier) changeHost(ctx context.Context, u octopus.URL, do func(time.Time, octopus.HostKey) error) error {
	c, err := func() (*commit, error) {
		f.write.Lock()
		defer f.write.Unlock()
		if err := f.loadHost(u); err != nil {
			return nil, err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if err := do(f.opt.Now(), u.Key.Host()); err != nil {
			return nil, err
		}
		f.changed()
		return f.ticket(), f.usable()
	}()
	if err != nil {
		return err
	}
	return f.await(ctx, c)
}
