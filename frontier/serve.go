package frontier

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"

	"octopus"
	"octopus/kv"
	"octopus/robots"
)

// Sizes of one step of what serve does.
const (
	dueStep  = 512 // due entries moved at once
	coldStep = 512 // host records read at once
	coldWait = time.Second
)

// serve does what a turn asks of the store. worked is false where there was
// nothing to do.
func (f *Frontier) serve(t Turn) (worked bool, err error) {
	if len(t.Parks) == 0 && len(t.Refills) == 0 && !t.Due && !t.Cold {
		return false, nil
	}
	f.write.Lock()
	defer f.write.Unlock()
	for _, p := range t.Parks {
		if err := f.park(p); err != nil {
			return true, err
		}
	}
	for _, r := range t.Refills {
		if err := f.refill(r); err != nil {
			return true, err
		}
	}
	if t.Due {
		if err := f.wakeDue(); err != nil {
			return true, err
		}
		if f.opt.OnEmpty != nil && f.Idle() { // what was due has moved meanwhile
			f.opt.OnEmpty()
		}
	}
	if t.Cold {
		return true, f.warm()
	}
	return true, nil
}

func (f *Frontier) park(p Park) error {
	old, err := f.recordOfLeased(p.Key())
	if err != nil {
		return err
	}
	park := func() bool {
		f.signal()
		return f.core.Park(f.opt.Now(), p, old)
	}
	if !p.to.URL.IsZero() {
		_, err := f.divert(context.Background(), p.Key(), p.to, park)
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	park()
	return nil
}

// refill reads the front of a host's queue. The caller holds write. What the turn
// asked for is asked again: an entry may have moved in front of it since, in a
// commit that is no longer pending.
func (f *Frontier) refill(r Refill) (err error) {
	f.mu.Lock()
	r = f.core.refill(f.core.hosts[r.Host])
	f.mu.Unlock()
	var s stored
	if r.Robots {
		if s.robots, err = f.scanRobots(r.Host); err != nil {
			return err
		}
		if s.yields, err = f.scanOf(tableYield, r.Host); err != nil {
			return err
		}
	}
	for lane := range r.Want {
		if r.Want[lane] == 0 {
			continue
		}
		if err := f.readQueue(r, octopus.Lane(lane), &s.lanes[lane]); err != nil {
			return fmt.Errorf("read queue of host %s: %w", r.Host, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.core.Refilled(f.opt.Now(), r, &s)
}

// scanRobots reads what is stored of a host's robots.txt, one for each of its
// authorities.
func (f *Frontier) scanRobots(h octopus.HostKey) ([]keyValue, error) {
	return f.scanOf(tableRobots, h)
}

// scanOf reads what a table has of a host.
func (f *Frontier) scanOf(table byte, h octopus.HostKey) (list []keyValue, err error) {
	lo := f.keys.table(table, h[:])
	err = f.opt.Store.Scan(lo, after(lo), func(key, value []byte) error {
		list = append(list, keyValue{bytes.Clone(key), bytes.Clone(value)})
		return nil
	})
	if err != nil {
		err = fmt.Errorf("read table %d of host %s: %w", table, h, err)
	}
	return list, err
}

// readQueue reads up to Want entries of one lane.
func (f *Frontier) readQueue(r Refill, lane octopus.Lane, into *found) error {
	lo := f.keys.queue(r.Host, r.From[lane])
	if !r.Open[lane] {
		lo = append(lo, 0) // behind it
	}
	hi := after(f.keys.table(tableQueue, r.Host[:], []byte{byte(lane)}))
	into.end = true
	return f.opt.Store.Scan(lo, hi, func(key, value []byte) error {
		if len(into.values) == r.Want[lane] {
			into.end = false
			return kv.ErrStop
		}
		into.values = append(into.values, queueValue{queuePosition(key), bytes.Clone(value)})
		return nil
	})
}

// wakeDue moves the URLs whose time has come to the queues of their hosts.
func (f *Frontier) wakeDue() error {
	list, next, err := f.scanDue(f.opt.Now(), dueStep)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].old, err = f.cachedRecord(list[i].Key); err != nil {
			return err
		}
		if err := f.warmHost(list[i].Key.Host(), nil); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.signal()
	return f.core.Woken(f.opt.Now(), list, next)
}

// scanDue returns up to most entries of the due table that are due at now, and
// the time of the first entry behind them.
func (f *Frontier) scanDue(now time.Time, most int) (list []Due, next time.Time, err error) {
	lo := f.keys.table(tableDue)
	err = f.opt.Store.Scan(lo, after(lo), func(key, value []byte) error {
		at, url := dueTime(key)
		if at.After(now) || len(list) == most {
			next = at
			return kv.ErrStop
		}
		list = append(list, Due{At: at, Key: url, value: bytes.Clone(value)})
		return nil
	})
	if err != nil {
		err = fmt.Errorf("frontier: read due table: %w", err)
	}
	return list, next, err
}

// warmHost brings a host that has a record into memory; value is the record, nil
// where it is to be read.
func (f *Frontier) warmHost(h octopus.HostKey, value []byte) (err error) {
	f.mu.Lock()
	has := f.core.Has(h)
	f.mu.Unlock()
	if has {
		return nil
	}
	if value == nil {
		if value, err = f.get(f.keys.host(h)); err != nil {
			return err
		}
	}
	if value == nil {
		return fmt.Errorf("host %s has URLs but no record; the store is damaged; start anew with `octopus crawl --fresh`", h)
	}
	site, err := f.get(f.keys.site([4]byte(h[:4])))
	if err != nil {
		return err
	}
	var u octopus.URL
	copy(u.Key[:], h[:])
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.core.Load(f.opt.Now(), u, value, site)
}

// warm reads the next host records and brings hosts with URLs into memory. At
// the end of the table it starts again, a while later.
func (f *Frontier) warm() error {
	type hostFound struct {
		key   octopus.HostKey
		value []byte
	}
	var list []hostFound
	start := f.keys.table(tableHost)
	n, next := 0, start
	err := f.opt.Store.Scan(f.cold, after(start), func(key, value []byte) error {
		if n++; n > coldStep {
			next = bytes.Clone(key)
			return kv.ErrStop
		}
		list = append(list, hostFound{octopus.HostKey(key[5:]), bytes.Clone(value)})
		return nil
	})
	if err != nil {
		return fmt.Errorf("read hosts: %w", err)
	}
	f.cold = next
	for _, h := range list {
		if d, _, err := decodeHost(h.key, h.value); err != nil {
			return err
		} else if d.queued() == 0 {
			continue
		}
		if err := f.warmHost(h.key, h.value); err != nil {
			return err
		}
	}
	if n <= coldStep {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.core.WarmAfter(f.opt.Now().Add(coldWait))
	}
	return nil
}

// fillIndex reads the keys of all known URLs into x. Links that are offered
// meanwhile are looked up in the store. It ends with Close. A store that cannot
// be read leaves x incomplete: the next look-up reports the error.
func (f *Frontier) fillIndex(x *index) {
	lo := f.keys.table(tableURL)
	var at octopus.HostKey
	var h *host // of at, where it has a record
	err := f.opt.Store.Scan(lo, after(lo), func(key, value []byte) error {
		select {
		case <-f.closed:
			return ErrClosed
		default:
		}
		r, err := decodeRecord(value)
		if err != nil {
			return err
		}
		k := octopus.Key(key[5:])
		if k.Host() != at || h == nil {
			if h, err = f.hostRecord(k.Host()); err != nil {
				return err
			}
			at = k.Host()
		}
		c := r.cost()
		if r.elsewhere() || h != nil && h.cleared(r) {
			c = costOf(math.MaxInt, 0) // any offer costs less: it is taken again
		}
		x.set(k, c)
		if r.visits > 0 {
			x.leave(k)
		}
		return nil
	})
	x.filled.Store(err == nil)
}

// hostRecord reads the state of a host, nil where it has none.
func (f *Frontier) hostRecord(key octopus.HostKey) (*host, error) {
	value, err := f.get(f.keys.host(key))
	if value == nil || err != nil {
		return nil, err
	}
	h, _, err := decodeHost(key, value)
	return h, err
}

// sitemaps returns the sitemaps that a robots.txt names, of its own site, as
// links.
func (f *Frontier) sitemaps(o *octopus.Outcome) (links []octopus.Link) {
	from := o.Lease.Link.URL
	for _, text := range robots.Parse(o.Robots).Sitemaps() {
		u, err := f.opt.Sitemaps(text)
		if err != nil || u.Site != from.Site {
			continue
		}
		links = append(links, octopus.Link{URL: u, Via: from.Text, Kind: octopus.Sitemap, Board: o.Lease.Link.Board})
	}
	return links
}
