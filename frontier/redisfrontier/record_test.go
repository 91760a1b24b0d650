package redisfrontier

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/robots"
)

func sample() *record {
	l := octopus.Link{URL: octopus.URL{Text: "https://a.com:8443/x?y"}, Via: "https://a.com:8443/", Board: "news", Kind: octopus.Anchor,
		Depth: 7, Hop: 2, Lane: octopus.Data, Precedence: 3, Weight: 9, Method: "POST", Body: []byte("a=\x00b")}
	return &record{state: stateParked, flags: flagLinks, tries: 2, hop: 2, visits: 5, lease: 1<<40 + 7, pos: newPosition(&l), link: partOf(&l),
		reason: octopus.ReasonRobots, detail: "robots.txt line 3", last: visit{time.UnixMilli(1234), 200, "sha1:X", `"e"`, "Mon"}}
}

func TestRecord(t *testing.T) {
	r := sample()
	got, err := decodeRecord(string(r.encode()))
	if err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v, %v\nwant %+v", got, err, r)
	}
	l := got.asLink(octopus.URL{Text: r.link.text})
	if l.Lane != octopus.Data || l.Depth != 7 || l.Hop != 2 || l.Weight != 9 || l.Precedence != 3 || string(l.Body) != "a=\x00b" {
		t.Errorf("link %+v", l)
	}
	text := string(r.encode())
	for n := range len(text) {
		if _, err := decodeRecord(text[:n]); err == nil {
			t.Fatalf("a record cut to %d of %d bytes is taken", n, len(text))
		}
	}
}

func TestAuthority(t *testing.T) {
	for text, want := range map[string]string{
		"http://a.com/": "h", "https://a.com/x:80": "s", "http://a.com:8080/x": "h8080", "https://[::1]/": "s", "https://[::1]:81/?": "s81",
		"http://a.com:1234567890/": "h12345",
	} {
		if got := authorityOf(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestManners(t *testing.T) {
	m := manners{Blocked: time.UnixMilli(99), Why: whyBreaker, Unavail: 1, Fails: 2, Probes: 3, NoHost: 4, Alive: true,
		Delay: 5 * time.Second, IP: netip.MustParseAddr("2001:db8::1")}
	got, err := decodeManners(m.encode())
	if err != nil || got != m {
		t.Errorf("%+v, %v, want %+v", got, err, m)
	}
	if got, err := decodeManners((&manners{}).encode()); err != nil || got != (manners{}) {
		t.Errorf("%+v, %v, want none", got, err)
	}
}

func TestRetryPause(t *testing.T) {
	o := Options{RetryBase: time.Second}
	rng := rand.New(rand.NewPCG(1, 2))
	for n, most := range map[int]time.Duration{1: time.Second, 2: 4 * time.Second, 3: 16 * time.Second, 30: retryMax} {
		longest := time.Duration(0)
		for range 1000 {
			longest = max(longest, o.retryPause(n, rng.Int64N))
		}
		if longest > most || longest < most*9/10 {
			t.Errorf("attempt %d: pauses up to %s, want up to %s", n, longest, most)
		}
	}
}

func TestClocks(t *testing.T) {
	var c clocks
	now := time.Unix(1000, 0)
	for i, step := range []struct{ wait, look, want time.Duration }{
		{0, -500, -500},                  // the first is believed
		{1, -700, -500},                  // one that travelled longer says less
		{1, -490, -490},                  // one that travelled less says more
		{10 * time.Second, -3000, -490},  // ours was set forward:
		{11 * time.Second, -3001, -3000}, // it takes up to twenty seconds
	} {
		now = now.Add(step.wait)
		if got := c.look(now, step.look); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(string(sample().encode()))
	m := manners{Why: whyDead, IP: netip.MustParseAddr("192.0.2.1")}
	f.Add(m.encode())
	f.Add(encodePolicy(&robots.Policy{Mode: robots.Rules, Text: []byte("User-agent: *"), Failures: 3}))
	f.Add("")
	f.Add(strings.Repeat("\xff", 64))
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := decodeRecord(text); err == nil && len(r.link.text) < maxLink/2 && len(r.link.via) < maxLink/8 {
			again, err := decodeRecord(string(r.encode()))
			if err != nil {
				t.Fatalf("what was decoded does not decode again: %v", err)
			}
			if again.link.text != r.link.text || again.link.via != r.link.via || again.pos != r.pos || again.reason != r.reason {
				t.Errorf("%+v is %+v after another turn", r, again)
			}
		}
		if m, err := decodeManners(text); err == nil {
			if again, err := decodeManners(m.encode()); err != nil || again.Why != m.Why || again.IP != m.IP {
				t.Errorf("%+v is %+v after another turn, %v", m, again, err)
			}
		}
		if p, err := decodePolicy(text); err == nil {
			if again, err := decodePolicy(encodePolicy(&p)); err != nil || again.Mode != p.Mode || string(again.Text) != string(p.Text) {
				t.Errorf("%+v is %+v after another turn, %v", p, again, err)
			}
		}
	})
}
