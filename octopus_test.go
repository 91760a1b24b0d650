package octopus_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"octopus"
)

func TestKeySurvivesItsText(t *testing.T) {
	k := octopus.Key{0x4f, 0x84, 0x65, 0xa2, 1, 2, 3, 4, 0xff}
	back, err := octopus.ParseKey(k.String())
	if err != nil || back != k {
		t.Errorf("%s came back as %s, %v", k, back, err)
	}
	if k.Site() != [4]byte{0x4f, 0x84, 0x65, 0xa2} || k.Host() != (octopus.HostKey{0x4f, 0x84, 0x65, 0xa2, 1, 2, 3, 4}) {
		t.Errorf("site %x, host %s of %s", k.Site(), k.Host(), k)
	}
	for _, bad := range []string{"", "4f", strings.Repeat("z", 32), k.String() + "00"} {
		if _, err := octopus.ParseKey(bad); err == nil {
			t.Errorf("ParseKey took %q", bad)
		}
	}
}

func TestKindsSurviveTheWire(t *testing.T) {
	seen := map[string]bool{}
	for k := octopus.KindOther; k <= octopus.KindCanceled; k++ {
		if name := k.String(); octopus.ParseKind(name) != k || seen[name] {
			t.Errorf("kind %d is called %q, which reads back as %d", k, name, octopus.ParseKind(name))
		} else {
			seen[name] = true
		}
	}
	if octopus.ParseKind("from a newer release") != octopus.KindOther || octopus.Kind(200).String() != "other" {
		t.Error("an unknown kind is not other")
	}
}

func TestErrorNamesOperationURLAndCause(t *testing.T) {
	cause := errors.New("refused")
	err := error(&octopus.Error{Op: "fetch", URL: "http://a.test/", Kind: octopus.KindConnect, Err: cause})
	if got := err.Error(); got != "fetch http://a.test/: connect: refused" {
		t.Errorf("error reads %q", got)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is not unwrapped")
	}
	if got := (&octopus.Error{Op: "resolve", Kind: octopus.KindDNS}).Error(); got != "resolve: dns" {
		t.Errorf("error without URL and cause reads %q", got)
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		octopus.Queued.String(): "queued", octopus.Stale.String(): "stale", octopus.VerdictCode(99).String(): "unknown",
		octopus.Nav.String(): "nav", octopus.Data.String(): "data",
		octopus.URL{Text: "http://a.test/"}.String(): "http://a.test/",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if (octopus.URL{}).IsZero() == false || (octopus.URL{Text: "x"}).IsZero() {
		t.Error("IsZero")
	}
}

func TestFingerprint(t *testing.T) {
	f := octopus.Fingerprint{Text: 0xff00, Links: 1}
	for _, tt := range []struct {
		g    octopus.Fingerprint
		near bool
	}{
		{f, true},
		{octopus.Fingerprint{Text: 0xff07, Links: 0xf}, true},
		{octopus.Fingerprint{Text: 0xff0f, Links: 1}, false}, // four bits
		{octopus.Fingerprint{Text: 0xff00, Links: 0x1f}, false},
		{octopus.Fingerprint{}, false},
	} {
		if got := f.Near(tt.g); got != tt.near {
			t.Errorf("%s near %s: %v, want %v", f, tt.g, got, tt.near)
		}
	}
	var none octopus.Fingerprint
	if none.Near(none) {
		t.Error("pages without fingerprints are near")
	}
	for _, f := range []octopus.Fingerprint{f, none, {Links: 1 << 63}} {
		text, err := f.MarshalText()
		g := octopus.Fingerprint{Text: 7}
		if err != nil || g.UnmarshalText(text) != nil || g != f {
			t.Errorf("%v became %q, and that %v", f, text, g)
		}
	}
	for _, bad := range []string{"12", "0000000000000000000000000000000g", "000000000000000000000000000000000"} {
		if none.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q was read", bad)
		}
	}
	rec, err := json.Marshal(octopus.Record{})
	if err != nil || strings.Contains(string(rec), "fingerprint") {
		t.Errorf("a record without a fingerprint is %s, %v", rec, err)
	}
}
