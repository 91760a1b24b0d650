package redisfrontier

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/frontier/manners"
	"octopus/robots"
)

func sample() *record {
	l := octopus.Link{URL: octopus.URL{Text: "https://a.com:8443/x?y"}, Via: "https://a.com:8443/", Board: "news", Kind: octopus.Anchor,
		Depth: 7, Hop: 2, Lane: octopus.Data, Precedence: 3, Weight: 9, Method: "POST", Body: []byte("a=\x00b")}
	return &record{state: stateParked, flags: flagLinks, tries: 2, hop: 2, visits: 5, lease: 1<<40 + 7, pos: newPosition(&l), link: partOf(&l),
		reason: octopus.ReasonRobots, detail: "robots.txt line 3", last: visit{time.UnixMilli(1234), 200, "sha1:X", `"e"`, "Mon", time.Hour}}
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

func TestHostState(t *testing.T) {
	full := hostState{Health: manners.Health{Blocked: time.UnixMilli(99), Why: manners.Breaker, Unavail: 1, Fails: 2, Probes: 3, NoHost: 4, Alive: true},
		Delays: []delay{{"s", 5 * time.Second}, {"h8080", time.Second}}, IP: netip.MustParseAddr("2001:db8::1")}
	for _, s := range []hostState{full, {}} {
		if got, err := decodeHost(s.encode()); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v, %v, want %+v", got, err, s)
		}
	}
}

func TestLongestDelay(t *testing.T) {
	var s hostState
	for i, step := range []struct {
		authority   string
		pause, want time.Duration
	}{
		{"h", 5 * time.Second, 5 * time.Second},
		{"s", 0, 5 * time.Second}, // one authority's silence does not undo what another asks for
		{"s", 9 * time.Second, 9 * time.Second},
		{"s", 2 * time.Second, 5 * time.Second},
		{"h", 0, 2 * time.Second},
		{"s", 0, time.Second},
	} {
		if s.setDelay(step.authority, step.pause); s.gap(time.Second) != step.want {
			t.Errorf("step %d: gap %s, want %s", i, s.gap(time.Second), step.want)
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
	m := hostState{Health: manners.Health{Why: manners.Dead}, Delays: []delay{{"s", time.Second}}, IP: netip.MustParseAddr("192.0.2.1")}
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
		if m, err := decodeHost(text); err == nil {
			if again, err := decodeHost(m.encode()); err != nil || again.Why != m.Why || again.IP != m.IP || !slices.Equal(again.Delays, m.Delays) {
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
