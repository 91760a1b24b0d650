package sink_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"octopus"
	"octopus/sink"
	"octopus/sink/sinktest"
)

// TestColumns holds the columns against the JSON of a record: the same names,
// the same values, and nothing where JSON leaves a field out.
func TestColumns(t *testing.T) {
	rec := sinktest.Records(0, 1)[0]
	rec.Rendered, rec.Tags, rec.Size, rec.Fingerprint = true, []string{"a", "b"}, 1<<40, octopus.Fingerprint{}
	for f, v := range reflect.ValueOf(&rec.Fingerprint).Elem().Fields() {
		if f.IsExported() {
			v.SetUint(1<<63 + 5) // above the largest int64
		}
	}
	line, err := sink.Encode(&rec)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatal(err)
	}
	for _, c := range sink.Columns() {
		got, want := c.Value(&rec), fields[c.Name]
		delete(fields, c.Name)
		switch c.Kind {
		case sink.Time:
			want = rec.FetchedAt
		case sink.Integer:
			switch w := want.(type) {
			case float64:
				want = int64(w)
			case bool:
				want = int64(1)
			}
		case sink.JSON:
			if want != nil {
				text, _ := json.Marshal(want)
				want = string(text)
				if raw, ok := c.Raw(&rec).([]string); !ok || fmt.Sprint(want) != fmt.Sprint(jsonOf(raw)) {
					t.Errorf("%s: raw %v", c.Name, raw)
				}
			}
		}
		if got != want {
			t.Errorf("%s: %v (%T), JSON says %v (%T)", c.Name, got, got, want, want)
		}
	}
	if len(fields) > 0 {
		t.Errorf("no columns for %v", fields)
	}
	if lists := slices.DeleteFunc(sink.Columns(), func(c sink.Column) bool { return !c.List() }); len(lists) < 3 {
		t.Errorf("lists: %v", lists)
	}
}

func jsonOf(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
