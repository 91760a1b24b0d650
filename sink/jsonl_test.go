package sink_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"octopus"
	"octopus/sink"
	"octopus/sink/sinktest"
)

func TestJSONL(t *testing.T) {
	sinktest.Run(t, false, func(t *testing.T) (sink.Sink, func() []string) {
		path := filepath.Join(t.TempDir(), "out.jsonl")
		s := sink.NewJSONL(path)
		if err := s.Resume(nil); err != nil {
			t.Fatal(err)
		}
		return s, func() []string {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return names(t, data)
		}
	})
}

func TestWriter(t *testing.T) {
	sinktest.Run(t, false, func(t *testing.T) (sink.Sink, func() []string) {
		var buf bytes.Buffer
		return sink.NewWriter(&buf), func() []string { return names(t, buf.Bytes()) }
	})
}

// names parses lines as a user would.
func names(t *testing.T, data []byte) []string {
	t.Helper()
	if len(data) > 0 && data[len(data)-1] != '\n' {
		t.Errorf("the last line has no end: %.100q", data[max(0, len(data)-100):])
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		var r octopus.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Errorf("line %d: %v", len(all)+1, err)
		}
		all = append(all, sinktest.Name(r))
	}
	return all
}

func TestEncode(t *testing.T) {
	line, err := sink.Encode(&octopus.Record{URL: "http://h/?a=1&b=<2>", Title: "bad \xff\xfe utf-8\nline"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"url":"http://h/?a=1&b=<2>"`, `"links":[]`, `\n`} {
		if !strings.Contains(string(line), want) {
			t.Errorf("%s lacks %s", line, want)
		}
	}
	if bytes.ContainsRune(line, '\n') || !utf8.Valid(line) {
		t.Errorf("%q is not one line of UTF-8", line)
	}
}

// TestResume shows what becomes of a file that is as state says, or is not.
func TestResume(t *testing.T) {
	for _, c := range []struct {
		name, before, state, after string
	}{
		{"new", "", "", "NEW\n"},
		{"existing content stays", "old\n", "", "old\nNEW\n"},
		{"a line without end is ended", "old", "", "old\nNEW\n"},
		{"torn tail is cut", "one\ntwo\n{\"v\":1,", `{"length":8,"open":true}`, "one\ntwo\nNEW\n"},
		{"whole but uncounted lines are cut", "one\ntwo\n", `{"length":4,"open":true}`, "one\nNEW\n"},
		{"closed in order, added to by others", "one\nother\n", `{"length":4,"open":false}`, "one\nother\nNEW\n"},
		{"shortened by its owner", "o\n", `{"length":8,"open":true}`, "o\nNEW\n"},
		{"moved away by its owner", "", `{"length":8,"open":true}`, "NEW\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.jsonl")
			if c.before != "" {
				if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := sink.NewJSONL(path)
			var state json.RawMessage
			if c.state != "" {
				state = json.RawMessage(c.state)
			}
			if err := s.Resume(state); err != nil {
				t.Fatal(err)
			}
			if err := s.WriteLines(t.Context(), [][]byte{[]byte("NEW")}); err != nil {
				t.Fatal(err)
			}
			if got := string(s.State()); !strings.Contains(got, `"open":true`) {
				t.Errorf("state while open: %s", got)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := string(s.State()); !strings.Contains(got, `"open":false`) {
				t.Errorf("state after Close: %s", got)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != c.after {
				t.Errorf("the file is %q, want %q; %v", got, c.after, err)
			}
		})
	}
}

func TestResumeErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ path, state string }{
		{filepath.Join(dir, "none", "out.jsonl"), ""},
		{dir, ""},
		{filepath.Join(dir, "ok.jsonl"), "not json"},
	} {
		s := sink.NewJSONL(c.path)
		var state json.RawMessage
		if c.state != "" {
			state = json.RawMessage(c.state)
		}
		if err := s.Resume(state); err == nil || !strings.Contains(err.Error(), c.path) {
			t.Errorf("Resume of %s: %v", c.path, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close after a failed Resume: %v", err)
		}
	}
}
