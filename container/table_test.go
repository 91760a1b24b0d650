package container

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable holds both kinds of table to a map, through growth, removal and a
// checkpoint.
func TestTable(t *testing.T) {
	for _, words := range []int{3, 4} {
		rng := rand.New(rand.NewPCG(uint64(words), 1))
		tab, want := newTable(words), map[uint64][]address{}
		check := func(what string) {
			t.Helper()
			for h, w := range want {
				got := tab.find(nil, h)
				slices.Sort(got)
				slices.Sort(w)
				if !slices.Equal(got, w) {
					t.Fatalf("%d words, %s: %x has %x, want %x", words, what, h, got, w)
				}
			}
		}
		var hashes []uint64
		for range 3000 {
			// Few shards, so that they grow and wrap around; no two alike in the
			// 44 bits that a narrow slot keeps.
			hashes = append(hashes, rng.Uint64N(2)<<52|rng.Uint64N(1<<52))
		}
		for step := range 30_000 {
			h, a := hashes[rng.IntN(len(hashes))], makeAddress(1+step, int64(step), int64(step))
			switch old := want[h]; {
			case len(old) > 0 && rng.IntN(2) == 0:
				i := rng.IntN(len(old))
				tab.remove(h, old[i])
				want[h] = slices.Delete(slices.Clone(old), i, i+1)
			case words == 4:
				tab.put(h, a)
				want[h] = []address{a}
			default:
				tab.add(h, a)
				tab.add(h, a) // the same place counts once
				want[h] = append(slices.Clone(old), a)
			}
			if step%5000 == 0 {
				check("under way")
			}
		}
		check("at the end")
		var out bytes.Buffer
		tab.writeTo(&out)
		size := int64(out.Len())
		again := newTable(words)
		if err := readTables(&out, size, again); err != nil {
			t.Fatal(err)
		}
		tab = again
		check("read from a checkpoint")
	}
}

// TestTableSize measures what docs/formats/container.md promises of a large
// table, and that shards do not all grow at once.
func TestTableSize(t *testing.T) {
	for words, most := range map[int]float64{4: 24, 3: 16.5} {
		tab, rng := newTable(words), rand.New(rand.NewPCG(1, 1))
		const n = 1 << 18
		for i := range n {
			tab.put(rng.Uint64(), makeAddress(1, int64(i), 1))
		}
		count, size := tab.size()
		if per := float64(size) / float64(count); per > most || count < n-8 {
			t.Errorf("%d words: %.1f bytes an address, want at most %.1f; %d of %d addresses", words, per, most, count, n)
		} else {
			t.Logf("%d words: %.2f bytes an address", words, per)
		}
	}
}

func TestAddress(t *testing.T) {
	last := int64(0)
	for n := int64(1); n < 1<<31; n += 1 + n/1000 {
		a := makeAddress(1<<20-1, 1<<30-1, n)
		if a.segment() != 1<<20-1 || a.offset() != 1<<30-1 || a.late() {
			t.Fatalf("%x of %d", a, n)
		}
		if l := a.length(); l < n || l > max(256, n+n/250) || l < last {
			t.Fatalf("length %d came back as %d", n, l)
		} else {
			last = l
		}
	}
}

func TestKeyEntry(t *testing.T) {
	e := keyEntry{key: [16]byte{1, 2, 15: 9}, digest: [20]byte{3, 19: 4}, prev: 1 << 63, target: 77, offset: 1<<30 - 1, length: 1<<32 - 1,
		time: -5_000_000, kind: Same, flags: flagLate | flagMeta}
	p := e.append(nil)
	if len(p) != keyEntrySize {
		t.Fatal(len(p))
	}
	if got, ok := parseKeyEntry(p); !ok || got != e {
		t.Errorf("%+v, %v", got, ok)
	}
	for i := range p {
		for bit := range 8 {
			p[i] ^= 1 << bit
			if _, ok := parseKeyEntry(p); ok {
				t.Fatalf("bit %d of byte %d changed unnoticed", bit, i)
			}
			p[i] ^= 1 << bit
		}
	}
	if _, ok := parseKeyEntry(make([]byte, keyEntrySize)); ok {
		t.Error("zeros are an entry")
	}
}
