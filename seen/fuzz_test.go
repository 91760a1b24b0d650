package seen_test

import (
	"bytes"
	"testing"

	"octopus"
	"octopus/internal/durable"
	"octopus/kv"
	"octopus/seen"
	"octopus/seen/seentest"
)

// sample returns a file that a set wrote.
func sample(f *testing.F, name string, write func(seen.Place)) []byte {
	p := place(f)
	p.SnapshotKeys = 1
	write(p)
	file, err := durable.Open(p.FS, "files/"+name)
	if err != nil {
		f.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(file); err != nil {
		f.Fatal(err)
	}
	return buf.Bytes()
}

// with returns a place that holds a file.
func with(t *testing.T, name string, data []byte) seen.Place {
	p := place(t)
	f, err := durable.Create(p.FS, "files/"+name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

// FuzzFilterFile: whatever lies in a filter's file, it is refused, or a set
// that works.
func FuzzFilterFile(f *testing.F) {
	good := sample(f, "bloom-0.filter", func(p seen.Place) {
		b := openBloom(f, p, seen.BloomOptions{Capacity: 10})
		var batch kv.Batch
		b.Stage(&batch, seentest.Now, seentest.Keys(0, 5))
		if err := p.Store.Apply(&batch, kv.Sync); err != nil {
			f.Fatal(err)
		}
		if err := b.Maintain(f.Context(), seentest.Now); err != nil {
			f.Fatal(err)
		}
	})
	f.Add(good)
	f.Add(good[:len(good)-4])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := seen.OpenBloom(with(t, "bloom-0.filter", data), seen.BloomOptions{Capacity: 10})
		if err != nil {
			return
		}
		r := &records{Memory: kv.NewMemory()}
		r.commit(t, b, seentest.Keys(0, 50))
		if n := seentest.Count(seentest.Contains(t, b, seentest.Keys(0, 50))); n != 50 {
			t.Errorf("%d of 50 keys known", n)
		}
	})
}

// FuzzSortedFile: whatever lies in a sieve's file, it is refused or used.
func FuzzSortedFile(f *testing.F) {
	good := sample(f, "sieve.sorted", func(p seen.Place) {
		s := openSieve(f, p, seen.SieveOptions{})
		offer(f, p, s, 0, 0, 5)
		if err := s.Flush(f.Context(), func([]octopus.Key, [][]byte) error { return nil }); err != nil {
			f.Fatal(err)
		}
	})
	f.Add(good)
	f.Add(good[:20])
	f.Fuzz(func(t *testing.T, data []byte) {
		p := with(t, "sieve.sorted", data)
		s := openSieve(t, p, seen.SieveOptions{})
		offer(t, p, s, 0, 0, 10)
		told := 0
		err := s.Flush(t.Context(), func(keys []octopus.Key, _ [][]byte) error { told += len(keys); return nil })
		if err == nil && told > 10 || err != nil && s.Waiting() != 10 {
			t.Errorf("%d keys told, %d wait, %v", told, s.Waiting(), err)
		}
	})
}
