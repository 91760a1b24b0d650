package pebblekv_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"octopus/kv"
	"octopus/kv/pebblekv"
)

// BenchmarkApply commits batches of 1000 changes of 16 + 150 bytes, beside a
// Pebble of the same settings that is given its own batches. Per change.
func BenchmarkApply(b *testing.B) {
	const size = 1000
	value := make([]byte, 150)
	key := func(i int) []byte {
		return binary.BigEndian.AppendUint64(make([]byte, 8, 16), uint64(i)*0x9e3779b97f4a7c15)
	}
	for _, d := range []kv.Durability{kv.Sync, kv.NoSync} {
		b.Run(fmt.Sprintf("kv/sync=%v", d), func(b *testing.B) {
			s, err := pebblekv.Open(b.TempDir(), pebblekv.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var batch kv.Batch
			b.ResetTimer()
			for at := 0; at < b.N; at += size {
				batch.Reset()
				for i := range size {
					batch.Set(key(at+i), value)
				}
				if err := s.Apply(&batch, d); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("plain/sync=%v", d), func(b *testing.B) {
			db, err := pebblekv.OpenPlain(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			b.ResetTimer()
			for at := 0; at < b.N; at += size {
				batch := db.NewBatch()
				for i := range size {
					if err := batch.Set(key(at+i), value, nil); err != nil {
						b.Fatal(err)
					}
				}
				if err := batch.Commit(&pebble.WriteOptions{Sync: bool(d)}); err != nil {
					b.Fatal(err)
				}
				if err := batch.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
