package frontier

import (
	"fmt"

	"octopus"
	"octopus/kv"
)

// Verify reads everything that a job's frontier keeps in a store, recomputes the
// counters and compares: every URL stands where its record says, and nowhere
// else. The first difference is the error. Nothing may write meanwhile.
func Verify(store kv.Store, job uint32) error {
	v := verifier{store: store, keys: newKeyspace(job), hosts: map[octopus.HostKey]*hostState{}, read: map[octopus.HostKey]*host{}}
	for _, step := range []func() error{v.heads, v.urls, v.queues, v.due, v.hostRecords, v.aliases, v.totals} {
		if err := step(); err != nil {
			return fmt.Errorf("frontier: verify: %w", err)
		}
	}
	return nil
}

// verifier counts again what the store has.
type verifier struct {
	store kv.Store
	keys  keyspace
	hosts map[octopus.HostKey]*hostState // counted
	read  map[octopus.HostKey]*host      // as recorded
	gone  int64                          // URLs of cleared lanes
	sum   totals                         // counted
}

func (v *verifier) host(k octopus.HostKey) *hostState {
	if v.hosts[k] == nil {
		v.hosts[k] = new(hostState)
	}
	return v.hosts[k]
}

func (v *verifier) scan(table byte, visit func(key, value []byte) error) error {
	lo := v.keys.table(table)
	return v.store.Scan(lo, after(lo), func(key, value []byte) error { return visit(key[5:], value) })
}

// heads reads the host records.
func (v *verifier) heads() error {
	return v.scan(tableHost, func(k, value []byte) error {
		h, _, err := decodeHost(octopus.HostKey(k), value)
		if err == nil {
			v.read[h.key] = h
		}
		return err
	})
}

// urls counts the records, and looks each up where it says it stands.
func (v *verifier) urls() error {
	return v.scan(tableURL, func(k, value []byte) error {
		key := octopus.Key(k)
		r, err := decodeRecord(value)
		if err != nil {
			return fmt.Errorf("URL %s: %w", key, err)
		}
		h := v.host(key.Host())
		h.Known++
		v.sum.Known++
		if read := v.read[key.Host()]; read != nil && read.cleared(r) {
			h.Parked++
			v.sum.Parked++
			v.gone++
			return nil
		}
		var place []byte
		switch r.state {
		case stateQueued:
			h.Queued[r.pos.lane()]++
			v.sum.Queued++
			place = v.keys.queue(key.Host(), r.pos)
		case stateLater:
			h.Later++
			v.sum.Later++
			if r.tries == 0 {
				v.sum.Again++
			}
			v.sum.Queued++
			place = v.keys.due(r.due, key)
		case stateParked:
			h.Parked++
			v.sum.Parked++
			place = v.keys.parked(key)
		case stateFailed:
			h.Failed++
			v.sum.Failed++
			h.Done++
			v.sum.Done++
			place = v.keys.bad(key)
		case stateDone:
			h.Done++
			v.sum.Done++
			return nil
		}
		if _, err := v.store.Get(place); err != nil {
			return fmt.Errorf("URL %s is %s, but not in that table: %w", key, r.state, err)
		}
		return nil
	})
}

// queues checks that the queues hold nothing else, and nothing before the head.
func (v *verifier) queues() error {
	var n int64
	if err := v.scan(tableQueue, func(k, value []byte) error {
		n++
		host, pos := octopus.HostKey(k[:8]), queuePosition(k)
		if v.read[host] == nil {
			return fmt.Errorf("host %s has a queue but no record", host)
		}
		if head := v.read[host].Head[pos.lane()]; pos.compare(head) < 0 {
			return fmt.Errorf("queue of host %s has an entry at %x, before its head %x", host, pos, head)
		}
		return nil
	}); err != nil {
		return err
	}
	if want := v.sum.Queued - v.sum.Later; n != want {
		return fmt.Errorf("the queues hold %d entries, %d URLs are queued", n, want)
	}
	return nil
}

// due checks that the other tables hold nothing else.
func (v *verifier) due() error {
	for _, t := range []struct {
		table byte
		name  string
		want  int64
	}{{tableDue, "due", v.sum.Later}, {tableParked, "parked", v.sum.Parked - v.gone}, {tableBad, "bad", v.sum.Failed}} {
		var n int64
		if err := v.scan(t.table, func(_, _ []byte) error { n++; return nil }); err != nil {
			return err
		}
		if n != t.want {
			return fmt.Errorf("table %s holds %d entries, the URL records say %d", t.name, n, t.want)
		}
	}
	return nil
}

func (v *verifier) hostRecords() error {
	for _, h := range v.read {
		want := v.host(h.key)
		if h.queued() > 0 {
			v.sum.Hosts++
		}
		got := hostState{Known: h.Known, Later: h.Later, Done: h.Done, Parked: h.Parked, Failed: h.Failed, Queued: h.Queued}
		if got != *want {
			return fmt.Errorf("host %s counts %+v, there are %+v", h.name, got, *want)
		}
	}
	return nil
}

// aliases checks that following them ends, at a host that is recorded.
func (v *verifier) aliases() error {
	all, err := readAliases(v.store, v.keys)
	if err != nil {
		return err
	}
	named := map[string]octopus.HostKey{}
	for key, h := range v.read {
		named[h.name] = key
	}
	for alias := range all {
		at, steps := alias, 0
		for host, ok := all[at]; ok; host, ok = all[at] {
			if at, ok = named[host]; !ok {
				return fmt.Errorf("host %s stands for %s, and has no record", host, alias)
			}
			if steps++; steps > len(all) {
				return fmt.Errorf("host %s stands for itself by way of others", host)
			}
		}
	}
	return nil
}

func (v *verifier) totals() error {
	value, err := v.store.Get(v.keys.stats(totalsName))
	if err != nil {
		return fmt.Errorf("totals: %w", err)
	}
	var t totals
	if err := t.decode(value); err != nil {
		return err
	}
	got := t.Counts
	got.Pages = 0
	if got != v.sum.Counts {
		return fmt.Errorf("totals are %+v, there are %+v", got, v.sum.Counts)
	}
	return nil
}
