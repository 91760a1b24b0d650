package container

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"octopus/internal/durable"
)

// TestTable holds both kinds of table, in memory and on disk, to a map, through
// growth, removal and checkpoints that are written while it changes.
func TestTable(t *testing.T) {
	for _, slot := range []int{narrowSlot, wideSlot} {
		for _, disk := range []bool{false, true} {
			t.Run(fmt.Sprintf("slot=%d,disk=%v", slot, disk), func(t *testing.T) { testTable(t, slot, disk) })
		}
	}
}

func testTable(t *testing.T, slot int, disk bool) {
	rng := rand.New(rand.NewPCG(uint64(slot), 1))
	tab, want, fsys := newTable(slot, disk), map[uint64][]address{}, durable.Memory()
	check := func(what string) {
		t.Helper()
		count := 0
		for h, w := range want {
			got, err := tab.find(nil, h)
			slices.Sort(got)
			slices.Sort(w)
			if !slices.Equal(got, w) || err != nil {
				t.Fatalf("%s: %x has %x, want %x, %v", what, h, got, w, err)
			}
			count += len(w)
		}
		if n, _ := tab.size(); n != int64(count) {
			t.Fatalf("%s: it counts %d addresses, want %d", what, n, count)
		}
	}
	var shards []diskShard
	write := func() {
		err := durable.WriteFile(fsys, "index", func(w io.Writer) (err error) {
			if _, err = w.Write(make([]byte, headerSize)); err == nil {
				shards, err = tab.writeTo(w, headerSize)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func() durable.File {
		f, err := durable.Open(fsys, "index")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	var hashes []uint64
	for range 3000 {
		// Few shards, so that they grow and wrap around; no two alike in the
		// 44 bits that a narrow slot keeps.
		hashes = append(hashes, rng.Uint64N(2)<<52|rng.Uint64N(1<<52))
	}
	for step := range 30_000 {
		h, a := hashes[rng.IntN(len(hashes))], makeAddress(1+step, int64(step), int64(step))
		var err error
		switch old := want[h]; {
		case len(old) > 0 && rng.IntN(2) == 0:
			i := rng.IntN(len(old))
			err = tab.remove(h, old[i])
			want[h] = slices.Delete(slices.Clone(old), i, i+1)
		case slot == wideSlot:
			err = tab.put(h, a)
			want[h] = []address{a}
		default:
			err = errors.Join(tab.put(h, a), tab.put(h, a)) // the same place counts once
			want[h] = append(slices.Clone(old), a)
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case step%5000 == 0:
			check("under way")
			write()
		case step%5000 == 700 && disk:
			if err := tab.stand(shards, read()); err != nil {
				t.Fatal(err)
			}
			check("on a new checkpoint")
		}
	}
	check("at the end")
	write()
	f := read()
	size, err := durable.Size(f)
	if err != nil {
		t.Fatal(err)
	}
	tab = newTable(slot, disk)
	if err := readTables(f, size, tab); err != nil {
		t.Fatal(err)
	}
	check("read from a checkpoint")
}

// TestTableSize measures what docs/formats/container.md promises of a large
// table, and that shards do not all grow at once.
func TestTableSize(t *testing.T) {
	for slot, most := range map[int]float64{wideSlot: 24, narrowSlot: 16.5} {
		tab, rng := newTable(slot, false), rand.New(rand.NewPCG(1, 1))
		const n = 1 << 18
		for i := range n {
			tab.put(rng.Uint64(), makeAddress(1, int64(i), 1))
		}
		count, size := tab.size()
		if per := float64(size) / float64(count); per > most || count < n-8 {
			t.Errorf("slots of %d bytes: %.1f bytes an address, want at most %.1f; %d of %d addresses", slot, per, most, count, n)
		} else {
			t.Logf("slots of %d bytes: %.2f bytes an address", slot, per)
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
