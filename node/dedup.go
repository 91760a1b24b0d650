package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/kv"
	"octopus/seen"
	"octopus/seen/redisseen"
)

// SeenInfo is what a seen set holds.
type SeenInfo struct {
	Kind      string       `json:"kind"`
	Entries   int64        `json:"entries"`    // URLs known now; of filters in Redis an estimate
	Bytes     int64        `json:"bytes"`      // of memory, here or in Redis; 0 for exact, which is the frontier's own records
	PerEntry  float64      `json:"per_entry"`  // bytes
	ErrorRate float64      `json:"error_rate"` // measured: the share of new URLs taken for met
	Target    float64      `json:"target"`     // what was asked for
	Full      bool         `json:"full"`       // a filter in Redis holds more than it was made for; it does not grow
	Windows   []SeenWindow `json:"windows,omitempty"`
}

// SeenWindow is one filter of a window set.
type SeenWindow struct {
	Name      string    `json:"name"`
	Expires   time.Time `json:"expires"`
	Capacity  int64     `json:"capacity"`
	Entries   int64     `json:"entries"`
	Bytes     int64     `json:"bytes"`
	ErrorRate float64   `json:"error_rate"`
}

// SeenInfo tells what the seen set holds.
func (n *Node) SeenInfo(ctx context.Context) (SeenInfo, error) {
	info := SeenInfo{Kind: n.cfg.Seen.Kind}
	switch set := n.seen.(type) {
	case nil:
		info.Entries = n.queue.Counts().Known
	case *seen.Bloom:
		fill := set.Fill()
		info.Entries, info.Bytes, info.ErrorRate = fill.Keys, fill.Bytes, fill.ErrorRate
		info.Target = n.cfg.Seen.ErrorRate
	case *seen.Window:
		info.Target = n.cfg.Seen.ErrorRate
		info.windows(set.Fill())
	case *seen.Expiring:
		info.Entries = set.Len()
		info.Bytes = info.Entries * expiringBytes
	case *redisseen.Set:
		if err := info.shared(ctx, set, n.cfg.Seen.Capacity); err != nil {
			return info, err
		}
	}
	if info.Entries > 0 {
		info.PerEntry = float64(info.Bytes) / float64(info.Entries)
	}
	return info, nil
}

// expiringBytes is what a key of an expiring set takes; see seen.Expiring.
const expiringBytes = 21

func (info *SeenInfo) windows(fills []seen.WindowFill) {
	for _, w := range fills {
		info.Windows = append(info.Windows, SeenWindow{w.Start.Format(time.RFC3339), w.Expires, w.Capacity, w.Keys, w.Bytes, w.ErrorRate})
		info.Entries += w.Keys
		info.Bytes += w.Bytes
		info.ErrorRate += w.ErrorRate - info.ErrorRate*w.ErrorRate // in any of them
	}
}

func (info *SeenInfo) shared(ctx context.Context, set *redisseen.Set, capacity int64) error {
	st, err := set.Stats(ctx)
	if err != nil {
		return err
	}
	info.Entries, info.Bytes, info.ErrorRate, info.Target, info.Full = st.Entries, st.Bytes, st.ErrorRate, st.Target, st.Full
	for _, f := range st.Filters {
		w := SeenWindow{Name: f.Key, Capacity: capacity, Entries: f.Entries, Bytes: f.Bytes}
		if f.TTL > 0 {
			w.Expires = time.Now().Add(f.TTL)
		}
		info.Windows = append(info.Windows, w)
	}
	return nil
}

// errExact is returned where the frontier's records are the set.
var errExact = errors.New("seen.kind is exact: the URL records of the frontier decide, there is no set beside them")

// SeenAdd puts URLs into the seen set, as if they had been met: the crawl does
// not fetch them. fresh[i] tells that urls[i] was not known.
func (n *Node) SeenAdd(ctx context.Context, urls []string) (fresh []bool, err error) {
	if n.seen == nil {
		return nil, fmt.Errorf("%w; leave URLs out with crawl.reject", errExact)
	}
	keys, err := keysOf(urls)
	if err != nil {
		return nil, err
	}
	fresh = make([]bool, len(keys))
	now := time.Now()
	if err := n.seen.Add(ctx, now, keys, fresh); err != nil {
		return nil, err
	}
	var staged []octopus.Key
	for i, k := range keys {
		if fresh[i] {
			staged = append(staged, k)
		}
	}
	return fresh, n.stage(now, staged)
}

// stage makes keys durable that the set has just called fresh. Those of a
// filter are noted beside it: what it may have is confirmed, and the frontier
// has no record of them.
func (n *Node) stage(now time.Time, keys []octopus.Key) error {
	s, ok := n.seen.(seen.Stager)
	if !ok || len(keys) == 0 {
		return nil // Redis has them
	}
	var b kv.Batch
	s.Stage(&b, now, keys)
	if _, ok := s.(*seen.Bloom); ok {
		for _, k := range keys {
			b.Set(addedKey(k), nil)
		}
	}
	return n.store.Apply(&b, kv.Sync)
}

func addedKey(k octopus.Key) []byte { return append([]byte(prefixAdded), k[:]...) }

// added reports whether a URL was put into a filter by hand.
func (n *Node) added(k octopus.Key) (bool, error) {
	_, err := n.store.Get(addedKey(k))
	if errors.Is(err, kv.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// SeenCheck tells which URLs are known now.
func (n *Node) SeenCheck(ctx context.Context, urls []string) (known []bool, err error) {
	keys, err := keysOf(urls)
	if err != nil {
		return nil, err
	}
	known = make([]bool, len(keys))
	if n.seen != nil {
		return known, n.seen.Contains(ctx, time.Now(), keys, known)
	}
	for i, text := range urls {
		ex, err := n.Explain(ctx, text)
		if err != nil {
			return nil, err
		}
		known[i] = ex.State != "unknown"
	}
	return known, nil
}

// SeenAllow has URLs taken as new once more, whatever a filter says.
func (n *Node) SeenAllow(urls []string) error {
	set, ok := n.seen.(*seen.Bloom)
	if !ok {
		return fmt.Errorf("seen.kind is %s: the white list is one of bloom in a state directory", n.cfg.Seen.Kind)
	}
	keys, err := keysOf(urls)
	if err != nil {
		return err
	}
	return set.Allow(keys)
}

// SeenRotate makes now the present of the windows at once: they take a jump of
// the clock for true only after a while. Those in Redis follow its clock.
func (n *Node) SeenRotate(ctx context.Context) error {
	set, ok := n.seen.(*seen.Window)
	if !ok {
		return fmt.Errorf("seen.kind is %s: only the windows in a state directory rotate", n.cfg.Seen.Kind)
	}
	now := time.Now()
	if err := set.Believe(now); err != nil {
		return err
	}
	return set.Maintain(ctx, now)
}

func keysOf(urls []string) ([]octopus.Key, error) {
	keys := make([]octopus.Key, len(urls))
	for i, text := range urls {
		u, err := canon.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		keys[i] = u.Key
	}
	return keys, nil
}
