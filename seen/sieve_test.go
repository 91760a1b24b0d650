package seen_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octopus"
	"octopus/kv"
	"octopus/kv/pebblekv/crashtest"
	"octopus/seen"
	"octopus/seen/seentest"
)

func openSieve(t testing.TB, p seen.Place, o seen.SieveOptions) *seen.Sieve {
	t.Helper()
	s, err := seen.OpenSieve(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// offer commits offers of the keys [from, to) with a payload that names round.
func offer(t testing.TB, p seen.Place, s *seen.Sieve, round, from, to int) {
	t.Helper()
	var payloads [][]byte
	for n := from; n < to; n++ {
		payloads = append(payloads, fmt.Appendf(nil, "%d in round %d", n, round))
	}
	var b kv.Batch
	if err := s.Offer(&b, seentest.Keys(from, to), payloads); err != nil {
		t.Fatal(err)
	}
	if err := p.Store.Apply(&b, kv.Sync); err != nil {
		t.Fatal(err)
	}
}

// TestSieve offers overlapping ranges with little memory and reopens in
// between: each key is told once, with the payload of its first offer.
func TestSieve(t *testing.T) {
	for _, memory := range []int{1000, 100_000, 0} {
		p := place(t)
		s := openSieve(t, p, seen.SieveOptions{MemoryBytes: memory})
		told := map[string]bool{}
		for round := range 12 {
			from := round * 300
			for at := from; at < from+600; at += 50 {
				offer(t, p, s, round, at, at+50)
			}
			if s.Waiting() != 600 {
				t.Fatalf("%d offers wait, want 600", s.Waiting())
			}
			if round%3 == 1 {
				s = openSieve(t, p, seen.SieveOptions{MemoryBytes: memory})
			}
			fresh := 0
			err := s.Flush(t.Context(), func(keys []octopus.Key, payloads [][]byte) error {
				for i, k := range keys {
					var n, r int
					fmt.Sscanf(string(payloads[i]), "%d in round %d", &n, &r)
					if k != seentest.Key(n) || r != round || told[k.String()] {
						t.Fatalf("round %d: told of %v with %q, before %v", round, k, payloads[i], told[k.String()])
					}
					told[k.String()] = true
					fresh++
				}
				return nil
			})
			if want := 300; err != nil || round > 0 && fresh != want || s.Waiting() != 0 {
				t.Fatalf("round %d: %d fresh, want %d; %d wait; %v", round, fresh, want, s.Waiting(), err)
			}
		}
		if len(told) != 12*300+300 {
			t.Errorf("%d keys told, want %d", len(told), 12*300+300)
		}
		info, err := p.FS.Stat(filepath.Join("files", "sieve.sorted"))
		if err != nil || info.Size() > int64(9*len(told)) {
			t.Errorf("the file has %v bytes for %d keys; %v", info.Size(), len(told), err)
		}
	}
}

func TestSieveErrors(t *testing.T) {
	p := place(t)
	s := openSieve(t, p, seen.SieveOptions{})
	if err := s.Offer(&kv.Batch{}, seentest.Keys(0, 2), make([][]byte, 1)); err == nil {
		t.Error("more keys than payloads are taken")
	}
	offer(t, p, s, 0, 0, 10)
	down := errors.New("down")
	if err := s.Flush(t.Context(), func([]octopus.Key, [][]byte) error { return down }); !errors.Is(err, down) {
		t.Errorf("Flush whose user fails: %v", err)
	}
	n := 0
	count := func(keys []octopus.Key, _ [][]byte) error { n += len(keys); return nil }
	if err := s.Flush(t.Context(), count); err != nil || n != 10 {
		t.Errorf("after the user recovered %d keys are told, want 10; %v", n, err)
	}
	for _, bad := range []string{"short", strings.Repeat("k", 16) + "\x05abc"} {
		p := place(t)
		var b kv.Batch
		b.Set([]byte("seen/o12345678"), []byte(bad))
		p.Store.Apply(&b, kv.NoSync)
		if _, err := seen.OpenSieve(p, seen.SieveOptions{}); err == nil {
			t.Errorf("the offer %q is taken", bad)
		}
	}
}

// TestSieveDamaged: every flipped byte and every cut of the sorted file is an
// error that names it.
func TestSieveDamaged(t *testing.T) {
	p := seen.Place{Store: kv.NewMemory(), Dir: t.TempDir()}
	s := openSieve(t, p, seen.SieveOptions{})
	ignore := func([]octopus.Key, [][]byte) error { return nil }
	offer(t, p, s, 0, 0, 20)
	if err := s.Flush(t.Context(), ignore); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(p.Dir, "sieve.sorted")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	offer(t, p, s, 1, 0, 20)
	check := func(what string, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(t.Context(), ignore); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x10
		check(fmt.Sprint("byte ", i, " flipped"), bad)
		check(fmt.Sprint("cut at ", i), good[:i])
	}
}

// TestSieveCrash: after a crash at any write, every offer that was synced is
// told, at least once, and nothing that the user made durable is lost.
func TestSieveCrash(t *testing.T) {
	const rounds, per = 12, 30
	at := func(w crashtest.World) seen.Place {
		return seen.Place{Store: w, Prefix: []byte("seen/"), Dir: "files", FS: w.FS}
	}
	// keep stores what is told as a frontier would.
	keep := func(w crashtest.World) seen.Fresh {
		return func(keys []octopus.Key, _ [][]byte) error {
			var b kv.Batch
			for _, k := range keys {
				b.Set(append([]byte("url/"), k[:]...), nil)
			}
			return w.Apply(&b, kv.Sync)
		}
	}
	crashtest.Crash(t, crashtest.Scenario{
		Run: func(t *testing.T, w crashtest.World, acked func(int)) {
			s := openSieve(t, at(w), seen.SieveOptions{MemoryBytes: 3000})
			for n := 1; n <= rounds; n++ {
				offer(t, at(w), s, n, (n-1)*per, n*per+per/2)
				acked(n)
				if n%3 == 0 {
					if err := s.Flush(t.Context(), keep(w)); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
		Check: func(t *testing.T, w crashtest.World, acked int) {
			s := openSieve(t, at(w), seen.SieveOptions{})
			if err := s.Flush(t.Context(), keep(w)); err != nil {
				t.Fatal(err)
			}
			for n := range acked*per + per/2*min(acked, 1) {
				k := seentest.Key(n)
				if _, err := w.Get(append([]byte("url/"), k[:]...)); err != nil {
					t.Fatalf("key %d of %d offers was never told: %v", n, acked, err)
				}
			}
		},
	})
}
