package redisfrontier

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"octopus"
	"octopus/internal/redisx"
)

// askAddress asks for the turn of an address; where it is not granted the URL
// goes back, and its host waits.
func (f *Frontier) askAddress(ctx context.Context, g *grant, ip string) (bool, error) {
	c := f.addressCall(ip, "")
	if _, err := f.do(ctx, []*redisx.Call{c}); err != nil {
		return false, err
	}
	at, _ := c.Reply.(int64)
	if at == 0 {
		return true, nil
	}
	if g.kind == "R" {
		return false, f.giveBackRobots(ctx, g, time.UnixMilli(at))
	}
	r := *g.rec
	r.state, r.flags = stateQueued, r.flags&^flagFreed
	return false, f.giveBack(ctx, g, &r, time.UnixMilli(at))
}

// giveBackRobots ends a robots.txt lease without a request.
func (f *Frontier) giveBackRobots(ctx context.Context, g *grant, notBefore time.Time) error {
	lease := g.lease(time.Time{})
	s, err := f.look(ctx, &octopus.Outcome{Lease: lease, Deferred: true})
	if err != nil {
		return err
	}
	m, err := decodeHost(s.manners)
	if err != nil {
		return fmt.Errorf("redisfrontier: %s: %w", g.host, err)
	}
	c := f.applyCall(&application{kind: "R", link: &lease.Link, lease: g.id, old: s.manners, host: m, notBefore: notBefore})
	if _, err := f.do(ctx, []*redisx.Call{c}); err != nil {
		return err
	}
	_, err = f.reply(f.bucketOf(g.key), c) // "again": the lease ends by itself
	return err
}

// freeAddresses starts the gap of the address that answered, and ends the turn
// of the one that was expected to.
func (f *Frontier) freeAddresses(ctx context.Context, s *settlement) error {
	if f.opt.IPDelay <= 0 {
		return nil
	}
	before, _ := decodeHost(s.manners) // decided upon already
	var calls []*redisx.Call
	for i, ip := range []netip.Addr{before.IP, s.o.IP} {
		if !ip.IsValid() || i == 1 && ip == before.IP {
			continue
		}
		end := "0"
		if !s.o.NoRequest {
			end = fmt.Sprint(millis(f.endOf(s.o.End, f.serverNow())))
		}
		calls = append(calls, f.addressCall(ip.String(), end))
	}
	_, err := f.do(ctx, calls)
	return err
}

func (f *Frontier) addressCall(ip, end string) *redisx.Call {
	return &redisx.Call{Script: ipScript, Keys: []string{"{" + f.opt.Job + ":ip:" + ip + "}"},
		Args: []any{f.clock(), end, f.opt.LeaseTime.Milliseconds(), f.opt.IPDelay.Milliseconds()}}
}
