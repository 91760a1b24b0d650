package redisseen

import (
	"context"
	"crypto/md5"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/internal/redisx"
	"octopus/seen"
)

// The scripts. contrib/scrapy has copies of the first three.
var (
	//go:embed filter.lua
	filterText string
	//go:embed exact.lua
	exactText string
	//go:embed expiring.lua
	expiringText string
	//go:embed clean.lua
	cleanText string

	filterScript   = redisx.NewScript(filterText)
	exactScript    = redisx.NewScript(exactText)
	expiringScript = redisx.NewScript(expiringText)
	cleanScript    = redisx.NewScript(cleanText)
)

// Set is a seen.Set in Redis. All methods may be called by many goroutines, and
// by many processes on the same server.
type Set struct {
	opt    Options
	size   size
	client redis.UniversalClient
	own    bool // client was dialled here

	mu      sync.Mutex
	windows windows   // guarded by mu: those in use
	looked  time.Time // guarded by mu: when the fill was looked at last
	full    error     // guarded by mu: what that said
}

var (
	_ seen.Set        = (*Set)(nil)
	_ seen.Maintainer = (*Set)(nil)
)

// Open attaches to the set of opt.Name, or makes it. It fails where the set was
// made with other settings, where these cannot meet their error rate, and where
// Redis does not answer.
func Open(ctx context.Context, opt Options) (*Set, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Set{opt: opt, client: opt.Client}
	if s.size, err = opt.plan(); err != nil {
		return nil, err
	}
	if s.client == nil {
		if s.client, err = redisx.Dial(ctx, opt.URL); err != nil {
			return nil, fmt.Errorf("redisseen %s: %w", opt.Name, err)
		}
		s.own = true
	}
	if err := s.attach(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("redisseen %s: %w", opt.Name, err), s.Close())
	}
	return s, nil
}

// Close closes the client, where Open dialled it. The set stays in Redis.
func (s *Set) Close() error {
	if !s.own {
		return nil
	}
	return s.client.Close()
}

// attach compares the settings with those that the set was made with, and
// writes them where it is new.
func (s *Set) attach(ctx context.Context) error {
	if err := redisx.CheckEviction(ctx, s.client, s.opt.Kind == Window); err != nil {
		return err
	}
	want := s.settings()
	key := s.planKey()
	have, err := s.client.HGetAll(ctx, key).Result()
	if err == nil && have["kind"] == "" {
		if err := s.checkForeign(ctx); err != nil {
			return err
		}
		for _, f := range want {
			_ = s.client.HSetNX(ctx, key, f.name, f.value).Err() // reading it back tells
		}
		have, err = s.client.HGetAll(ctx, key).Result()
	}
	if err != nil {
		return redisx.Explain(err)
	}
	for _, f := range want {
		if have[f.name] != f.value {
			return fmt.Errorf("the set was made with %s %s, asked for is %s: take the same, or another name (key %s)", f.name, have[f.name], f.value, key)
		}
	}
	return nil
}

// checkForeign refuses to attach to a set of fingerprints as text: they would
// never match.
func (s *Set) checkForeign(ctx context.Context) error {
	if s.opt.Kind != Exact {
		return nil
	}
	member, err := s.client.SRandMember(ctx, s.base(0)).Result()
	if _, bad := hex.DecodeString(member); err == nil && len(member) == 40 && bad == nil {
		return fmt.Errorf("key %s holds fingerprints of Scrapy-Redis, as text: import it into a set of another name", s.base(0))
	}
	return nil // an error shows with the first call
}

type setting struct{ name, value string }

// settings are what has to be the same for everybody who shares the set. kind
// comes first: it is the one that a new set is told by.
func (s *Set) settings() []setting {
	list := []setting{{"kind", string(s.opt.Kind)}}
	switch s.opt.Kind {
	case Expiring:
		list = append(list, setting{"expiry", s.opt.Expiry.String()})
	case Window:
		list = append(list, setting{"granularity", string(s.opt.Granularity)},
			setting{"windows", strconv.Itoa(s.opt.Windows)}, setting{"zone", s.opt.Zone.String()})
		fallthrough
	case Bloom:
		list = append(list, setting{"bits", strconv.FormatInt(s.size.bits, 10)},
			setting{"hashes", strconv.Itoa(s.size.hashes)}, setting{"blocks", strconv.Itoa(s.size.blocks)})
	}
	return list
}

// base returns the beginning of the keys of a block; all keys of one call share
// it, so that they share a slot.
func (s *Set) base(block int) string {
	name := s.opt.Name
	if s.size.blocks > 1 {
		name += ":" + strconv.Itoa(block)
	}
	if redisx.IsCluster(s.client) {
		name = "{" + name + "}"
	}
	return name
}

// planKey is the key of the settings, in the slot of the first block.
func (s *Set) planKey() string {
	if redisx.IsCluster(s.client) {
		return "{" + s.opt.Name + "}:plan"
	}
	return s.opt.Name + ":plan"
}

// Add implements seen.Set. The time counts only with Options.CallerTime.
func (s *Set) Add(ctx context.Context, now time.Time, keys []octopus.Key, fresh []bool) error {
	return s.ask(ctx, "add", now, keyMembers(keys), fresh)
}

// Contains implements seen.Set. The time counts only with Options.CallerTime.
func (s *Set) Contains(ctx context.Context, now time.Time, keys []octopus.Key, known []bool) error {
	return s.ContainsMembers(ctx, now, keyMembers(keys), known)
}

// AddMembers is Add for other entries than URL keys, such as Scrapy's
// fingerprints (see ScrapyFingerprint). A set should hold one sort only.
func (s *Set) AddMembers(ctx context.Context, now time.Time, members [][]byte, fresh []bool) error {
	return s.ask(ctx, "add", now, members, fresh)
}

// ContainsMembers is Contains for other entries than URL keys.
func (s *Set) ContainsMembers(ctx context.Context, now time.Time, members [][]byte, known []bool) error {
	if err := s.ask(ctx, "has", now, members, known); err != nil {
		return err
	}
	for i := range known {
		known[i] = !known[i]
	}
	return nil
}

func keyMembers(keys []octopus.Key) [][]byte {
	members := make([][]byte, len(keys))
	for i := range keys {
		members[i] = keys[i][:]
	}
	return members
}

// batch is the number of entries of one call: so many that Redis is held for
// about 2 ms, and 5 at most on a slow machine.
func (s *Set) batch() int {
	if s.opt.Kind == Exact || s.opt.Kind == Expiring {
		return 1000
	}
	// A new entry costs about two look-ups in each window and the setting of
	// its bits, a known one all its bits in the window that has it.
	return max(2500/(3*s.opt.Windows+s.size.hashes), 10)
}

// ask sends the entries and sets fresh[i] where the set did not have members[i].
func (s *Set) ask(ctx context.Context, mode string, now time.Time, members [][]byte, fresh []bool) error {
	if len(members) != len(fresh) {
		return fmt.Errorf("redisseen %s: %d entries, but room for %d answers", s.opt.Name, len(members), len(fresh))
	}
	if err := ctx.Err(); err != nil || len(members) == 0 {
		return err
	}
	parts := s.split(members)
	for len(parts) > 0 {
		w, err := s.current(ctx, now)
		if err != nil {
			return err
		}
		calls := make([]*redisx.Call, len(parts))
		for i, p := range parts {
			calls[i] = s.call(mode, now, w, p)
		}
		if err := redisx.Run(ctx, s.client, calls); err != nil {
			return fmt.Errorf("redisseen %s: %w", s.opt.Name, err)
		}
		if parts, err = s.answers(calls, parts, fresh); err != nil {
			return err
		}
	}
	return nil
}

// part is the entries of one call, and where their answers go.
type part struct {
	block   int
	members [][]byte // entries as they are stored, or their hashes
	at      []int
}

// split cuts entries into calls, by block and by size.
func (s *Set) split(members [][]byte) (parts []*part) {
	filter := s.opt.Kind == Bloom || s.opt.Kind == Window
	open := make(map[int]*part, s.size.blocks)
	for i, m := range members {
		block := 0
		if filter {
			sum := md5.Sum(m)
			m = sum[:]
			block = int(binary.BigEndian.Uint32(sum[12:])>>8) % s.size.blocks
		}
		p := open[block]
		if p == nil || len(p.at) == s.batch() {
			p = &part{block: block}
			open[block] = p
			parts = append(parts, p)
		}
		p.members = append(p.members, m)
		p.at = append(p.at, i)
	}
	return parts
}

// call returns the script call of a part.
func (s *Set) call(mode string, now time.Time, w windows, p *part) *redisx.Call {
	base := s.base(p.block)
	clock := s.clock(now)
	switch s.opt.Kind {
	case Exact:
		return &redisx.Call{Script: exactScript, Keys: []string{base}, Args: args(p.members, mode)}
	case Expiring:
		return &redisx.Call{Script: expiringScript, Keys: []string{base}, Args: args(p.members, mode, clock, s.opt.Expiry.Milliseconds())}
	}
	c := &redisx.Call{Script: filterScript}
	for _, n := range w.names {
		c.Keys = append(c.Keys, base+n)
	}
	hashes := make([]byte, 0, md5.Size*len(p.members))
	for _, m := range p.members {
		hashes = append(hashes, m...)
	}
	c.Args = []any{mode, clock, millis(w.end), millis(w.expire), s.size.bits, s.size.hashes, hashes, millis(w.doubt)}
	return c
}

func args(members [][]byte, first ...any) []any {
	list := make([]any, 0, len(first)+len(members))
	list = append(list, first...)
	for _, m := range members {
		list = append(list, m)
	}
	return list
}

// clock is the time that a script is told; "" is the server's.
func (s *Set) clock(now time.Time) any {
	if s.opt.CallerTime {
		return now.UnixMilli()
	}
	return ""
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// answers reads the replies, and returns the parts that have to be asked again
// because their window was over.
func (s *Set) answers(calls []*redisx.Call, parts []*part, fresh []bool) (again []*part, err error) {
	for i, c := range calls {
		switch reply := c.Reply.(type) {
		case int64:
			s.advance(time.UnixMilli(reply))
			again = append(again, parts[i])
		case string:
			if len(reply) != len(parts[i].at) {
				return nil, fmt.Errorf("redisseen %s: %d answers for %d entries", s.opt.Name, len(reply), len(parts[i].at))
			}
			for j, at := range parts[i].at {
				fresh[at] = reply[j] == '1'
			}
		default:
			return nil, fmt.Errorf("redisseen %s: unexpected answer %v", s.opt.Name, reply)
		}
	}
	return again, nil
}

// current returns the windows in use. The first are those of the server's clock.
func (s *Set) current(ctx context.Context, now time.Time) (windows, error) {
	s.mu.Lock()
	known := s.windows.names != nil
	s.mu.Unlock()
	if !known {
		if !s.opt.CallerTime && s.opt.Kind == Window {
			var err error
			if now, err = s.client.Time(ctx).Result(); err != nil {
				return windows{}, fmt.Errorf("redisseen %s: %w", s.opt.Name, redisx.Explain(err))
			}
		}
		s.advance(now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.windows, nil
}

// advance takes in that the clock says t.
func (s *Set) advance(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.windows = s.opt.follow(s.windows, t)
}
