package parse_test

import (
	"strings"
	"testing"

	"octopus/parse"
)

// TestPrintable: what a page says cannot move the cursor of whoever prints it.
func TestPrintable(t *testing.T) {
	page := []byte("<html><body><article><h1>T</h1>" + strings.Repeat("<p>A line of text\x1b[2J that\u009b31m goes on &#27;]0;owned&#7; to its end.</p>", 9) + "<pre>a\tb\nc</pre></article></body></html>")
	in, err := newParser(t, parse.Options{}).Inspect(page, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"text": in.Text, "Markdown": in.Markdown} {
		if !strings.Contains(text, "A line of text") {
			t.Errorf("%s is %q", what, text)
		}
		if i := strings.IndexAny(text, "\x1b\x07\u009b"); i >= 0 {
			t.Errorf("%s has a control character: %q", what, text[i:])
		}
	}
}
