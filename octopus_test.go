package octopus_test

import (
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
