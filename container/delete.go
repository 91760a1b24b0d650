package container

import (
	"context"
	"fmt"
	"time"

	"octopus"
	"octopus/warc"
)

// Fields of the metadata record that is a tombstone: what it is, and the
// capture time up to which versions are deleted.
const (
	tombstoneField = "octopus-state"
	untilField     = "octopus-until"
)

// Delete stores a tombstone: the URL is not found any more, nor any version of
// it that was captured up to the newest one, even if it is stored again. The
// versions stay on disk until compaction. Deleting what is not there is
// ErrNotFound.
func (c *Container) Delete(ctx context.Context, u octopus.URL) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	newest, _, err := c.newest(u)
	if err != nil {
		return err
	}
	until := newest.Time
	b := &batch{wake: make(chan bool, 1), units: make([]unit, 1)}
	b.units[0].entry = keyEntry{key: u.Key, time: until.UnixMilli(), kind: Tombstone}
	rec := &warc.Record{
		Type: warc.Metadata, ID: warc.NewID(), Date: c.opt.Now(), TargetURI: u.Text, ContentType: warc.WARCFields,
		Other: []warc.Field{{Name: keyField, Value: u.Key.String()}},
	}
	block := warc.Fields(warc.Field{Name: tombstoneField, Value: "deleted"}, warc.Field{Name: untilField, Value: warc.FormatDate(until)})
	if err := c.encode(&b.units[0], rec, block, nil, nil); err != nil {
		return err
	}
	return c.submit(b)
}

// tombstoneTime sets the time of a tombstone's entry from the record's block.
func tombstoneTime(e *keyEntry, block []byte) error {
	for _, f := range warc.ParseFields(block) {
		if f.Name != untilField {
			continue
		}
		t, err := time.Parse(time.RFC3339Nano, f.Value)
		e.time = t.UnixMilli()
		return err
	}
	return fmt.Errorf("%w: a tombstone without %s", warc.ErrFormat, untilField)
}
