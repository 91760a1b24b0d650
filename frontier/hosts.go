package frontier

import (
	"context"
	"net/netip"
	"time"

	"octopus"
	"octopus/frontier/manners"
)

// HostInfo is what the frontier knows of a host.
type HostInfo struct {
	Name, Site string

	Known, Later, Done, Parked, Failed int64 // URLs, as in octopus.Counts
	Nav, Data                          int64 // queued, per lane

	Precedence int8 // of hosts that may be asked, those of a smaller one go first

	Address netip.Addr    // that answered last
	Gap     time.Duration // after each response: the host delay, or a longer Crawl-delay
	Blocked time.Duration // how long it is not asked at all; 0 where it is
	Why     string        // it is blocked, in words
	AliasOf string        // the host that stands for it; empty where none does
	// ETA is the least time until its queue is empty, if every answer took no
	// time: what a slow host costs.
	ETA time.Duration
}

// Hosts calls visit for every host, in the order of the keys, until visit
// returns an error; kv.ErrStop ends it without one. It sees one consistent state
// of the store.
func (f *Frontier) Hosts(_ context.Context, visit func(HostInfo) error) error {
	now := f.opt.Now()
	all, lo := *f.alias.Load(), f.keys.table(tableHost)
	return f.opt.Store.Scan(lo, after(lo), func(key, value []byte) error {
		h, site, err := decodeHost(octopus.HostKey(key[len(lo):]), value)
		if err != nil {
			return err
		}
		info := h.info(site, f.opt.HostDelay, now)
		info.AliasOf = all[h.key]
		return visit(info)
	})
}

// Host returns what the frontier knows of the host of u; ok is false where that
// is nothing.
func (f *Frontier) Host(ctx context.Context, u octopus.URL) (info HostInfo, ok bool, err error) {
	if err := f.settled(ctx); err != nil {
		return info, false, err
	}
	key := u.Key.Host()
	value, err := f.get(f.keys.host(key))
	if value == nil || err != nil {
		return info, false, err
	}
	h, site, err := decodeHost(key, value)
	if err != nil {
		return info, false, err
	}
	info = h.info(site, f.opt.HostDelay, f.opt.Now())
	info.AliasOf = (*f.alias.Load())[key]
	return info, true, nil
}

func (h *host) info(site string, delay time.Duration, now time.Time) HostInfo {
	i := HostInfo{
		Name: h.name, Site: site, Known: h.Known, Later: h.Later, Done: h.Done, Parked: h.Parked, Failed: h.Failed,
		Nav: h.Queued[octopus.Nav], Data: h.Queued[octopus.Data],
		Precedence: h.Rank, Address: h.IP, Gap: manners.Gap(delay, h.Delay),
	}
	if h.Blocked.After(now) {
		i.Blocked, i.Why = h.Blocked.Sub(now), h.Why.String()
	}
	if n := h.queued(); n > 0 {
		i.ETA = max(i.Blocked, h.Next.Sub(now), 0) + time.Duration(n-1)*i.Gap
	}
	return i
}
