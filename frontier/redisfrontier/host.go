package redisfrontier

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"octopus"
	"octopus/frontier/manners"
)

// hostState is what decides when a host may be asked again. It is a value; what
// changes it is pure.
type hostState struct {
	manners.Health
	Delays []delay    // Crawl-delays of its authorities, each once
	IP     netip.Addr // that answered last
}

// delay is what the robots.txt of one authority asks for.
type delay struct {
	authority string
	pause     time.Duration
}

// maxDelays bounds the authorities of a host whose Crawl-delay is kept.
const maxDelays = 16

// setDelay notes the Crawl-delay of an authority, 0 for none.
func (s *hostState) setDelay(authority string, pause time.Duration) {
	s.Delays = slices.DeleteFunc(slices.Clone(s.Delays), func(d delay) bool { return d.authority == authority })
	if pause > 0 && len(s.Delays) < maxDelays {
		s.Delays = append(s.Delays, delay{authority, pause})
	}
}

// gap is the pause after a response: the longest that anybody asks for.
func (s *hostState) gap(hostDelay time.Duration) time.Duration {
	longest := time.Duration(0)
	for _, d := range s.Delays {
		longest = max(longest, d.pause)
	}
	return manners.Gap(hostDelay, longest)
}

// encode returns
//
//	| blocked | why unavail fails probes no-host alive | number of Crawl-delays | authority, ms | … | IP |
func (s *hostState) encode() string {
	var w writer
	w.time(s.Blocked)
	alive := byte(0)
	if s.Alive {
		alive = 1
	}
	w = append(w, byte(s.Why), s.Unavail, s.Fails, s.Probes, s.NoHost, alive)
	w.uint(uint64(len(s.Delays)))
	for _, d := range s.Delays {
		w.string(d.authority)
		w.uint(uint64(d.pause / time.Millisecond))
	}
	ip, _ := s.IP.MarshalBinary() // never fails
	w.string(string(ip))
	return string(w)
}

func decodeHost(text string) (s hostState, err error) {
	if text == "" {
		return s, nil
	}
	r := reader{rest: text}
	s.Blocked, s.Why = r.time(), manners.Why(r.byte())
	s.Unavail, s.Fails, s.Probes, s.NoHost, s.Alive = r.byte(), r.byte(), r.byte(), r.byte(), r.byte() != 0
	for n := r.uint(); n > 0 && r.err == nil; n-- {
		s.Delays = append(s.Delays, delay{r.string(), time.Duration(min(r.uint(), 1<<40)) * time.Millisecond})
	}
	if ip := r.string(); r.err == nil {
		r.err = s.IP.UnmarshalBinary([]byte(ip))
	}
	if r.err != nil {
		return s, fmt.Errorf("host: %w", errDamaged)
	}
	return s, nil
}

// after returns the state after an outcome whose response ended at end.
func (s hostState) after(o *octopus.Outcome, end time.Time, r *manners.Rules) hostState {
	if o.IP.IsValid() {
		s.IP = o.IP
	}
	s.After(o, end, r)
	return s
}
