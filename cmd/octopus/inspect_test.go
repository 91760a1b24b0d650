package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// objects decodes JSON lines.
func objects(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		all = append(all, o)
	}
	return all
}

func TestInspectURL(t *testing.T) {
	c := newCLI(t).run("inspect", "url", "--base", "http://Example.com/a/b", "../c?x=1&y", "HTTP://www.EXAMPLE.co.uk:80/#f", "mailto:me").want(exitOK)
	const want = `{"input":"../c?x=1&y","url":"http://example.com/c?x=1&y","host":"example.com","site":"example.com","key":`
	if !strings.HasPrefix(c.stdout, want) {
		t.Errorf("got %s\nwant %s", c.stdout, want)
	}
	got := objects(t, c.stdout)
	if len(got) != 3 || got[1]["site"] != "example.co.uk" || got[1]["surt"] != "uk,co,example)/" || len(got[1]["key"].(string)) != 32 {
		t.Errorf("answers: %v", got)
	}
	if got[2]["input"] != "mailto:me" || !strings.Contains(fmt.Sprint(got[2]["error"]), "not an http or https URL") {
		t.Errorf("bad URL: %v", got[2])
	}
}

// TestInspectStream: every line is answered in its place, bad ones too.
func TestInspectStream(t *testing.T) {
	c := newCLI(t)
	c.stdin = "{\"input\":\"x\",\"base\":\"http://a.test/b/\"}\nnot JSON\n\r\n{\"input\":7}\n{\"input\":\"http://b.test/\"}"
	c.run("inspect", "url", "-").want(exitOK)
	got := objects(t, c.stdout)
	if len(got) != 4 || got[0]["url"] != "http://a.test/b/x" || got[1]["input"] != "not JSON" || got[1]["error"] == nil || got[2]["error"] == nil || got[3]["url"] != "http://b.test/" {
		t.Errorf("answers: %v", got)
	}
	if c.stdin = ""; c.run("inspect", "url", "-").want(exitOK).stdout != "" {
		t.Errorf("no input, answer %s", c.stdout)
	}
}

// TestInspectInteractive asks, waits for the answer, and asks again.
func TestInspectInteractive(t *testing.T) {
	questions, ask := io.Pipe()
	answers, out := io.Pipe()
	go func() {
		newApp(questions, out, io.Discard, nil).main([]string{"inspect", "url", "-"})
		out.Close()
	}()
	lines := bufio.NewScanner(answers)
	for i := range 3 {
		fmt.Fprintf(ask, "{\"input\":\"http://a.test/%d\"}\n", i)
		if want := fmt.Sprintf(`"url":"http://a.test/%d"`, i); !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("answer %q lacks %s", lines.Text(), want)
		}
	}
	ask.Close()
	if lines.Scan() {
		t.Errorf("an answer without a question: %s", lines.Text())
	}
}

// TestStreamOrder: many lines are answered at once, and written in order.
func TestStreamOrder(t *testing.T) {
	var in, out bytes.Buffer
	for i := range 1000 {
		fmt.Fprintln(&in, i)
	}
	want := in.String()
	if err := stream(&in, &out, func(line []byte) any { return json.RawMessage(line) }); err != nil || out.String() != want {
		t.Errorf("%v: %q", err, out.String())
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestStreamWriteError: an endless input ends when nobody reads the answers.
func TestStreamWriteError(t *testing.T) {
	err := stream(endless{}, failingWriter{}, func([]byte) any { return 1 })
	if err == nil || !strings.Contains(err.Error(), "closed pipe") {
		t.Errorf("got %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, "{}\n"), nil }

func TestInspectRobots(t *testing.T) {
	c := newCLI(t)
	c.file("robots.txt", "User-agent: *\nDisallow: /\n\nUser-agent: octopus\nDisallow: /private/\nCrawl-delay: 2.5\n")
	c.run("inspect", "robots", "robots.txt", "http://a.test/private/x", "http://a.test/").want(exitOK)
	const want = `{"robots":"robots.txt","agent":"octopus","url":"http://a.test/private/x","allowed":false,"line":5,"rule":"Disallow: /private/","crawl_delay":2.5}
{"robots":"robots.txt","agent":"octopus","url":"http://a.test/","allowed":true,"line":0,"rule":"","crawl_delay":2.5}
`
	if c.stdout != want {
		t.Errorf("got\n%swant\n%s", c.stdout, want)
	}
	c.run("inspect", "robots", "--agent", "Other/1.0 (+http://x.test/)", "robots.txt", "http://a.test/").want(exitOK)
	if got := objects(t, c.stdout); got[0]["allowed"] != false || got[0]["line"] != 2.0 || got[0]["crawl_delay"] != nil {
		t.Errorf("other agent: %v", got)
	}
	c.run("inspect", "robots", "missing.txt", "http://a.test/").want(exitFailure, "missing.txt")
}

// TestInspectRobotsCorpus feeds the collected cases, where they are there.
func TestInspectRobotsCorpus(t *testing.T) {
	spec, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "testdata", "robots", "spec.jsonl"))
	if err != nil {
		t.Skipf("no collected robots.txt cases: %v", err)
	}
	c := newCLI(t)
	c.stdin = string(spec)
	c.run("inspect", "robots", "-").want(exitOK)
	asked, got := objects(t, string(spec)), objects(t, c.stdout)
	if len(asked) != len(got) {
		t.Fatalf("%d cases, %d answers", len(asked), len(got))
	}
	for i, want := range asked {
		if want["google"] != nil && got[i]["allowed"] != want["google"] {
			t.Errorf("line %d, %v: allowed %v, Google says %v", i+1, want["test"], got[i]["allowed"], want["google"])
		}
	}
}

const samplePage = `<html><head><title>Sample</title><meta name=robots content=nofollow></head><body><p><a href="x">Link</a> text</body></html>`

func TestInspectPage(t *testing.T) {
	c := newCLI(t)
	c.file("page.html", samplePage)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, samplePage)
	z.Close()
	c.file("page.html.gz", packed.String())
	c.file("bad.gz", "not packed")
	c.file("shell.html", `<body><div id=root></div><script src=/app.js></script>`)
	c.run("inspect", "page", "--url", "http://a.test/d/", "page.html", "page.html.gz", "bad.gz", "missing").want(exitOK)
	got := objects(t, c.stdout)
	if len(got) != 4 {
		t.Fatalf("answers: %s", c.stdout)
	}
	for i, file := range []string{"page.html", "page.html.gz"} {
		if got[i]["file"] != file || got[i]["title"] != "Sample" || fmt.Sprint(got[i]["links"]) != "[http://a.test/d/x]" || got[i]["error"] != nil {
			t.Errorf("%s: %v", file, got[i])
		}
	}
	for i, file := range []string{"bad.gz", "missing"} {
		if g := got[i+2]; g["file"] != file || !strings.Contains(fmt.Sprint(g["error"]), file) {
			t.Errorf("%s: %v", file, g)
		}
	}
	c.run("inspect", "page", "shell.html").want(exitOK)
	if why := objects(t, c.stdout)[0]["needs_browser"]; why != "empty root #root" || got[0]["needs_browser"] != nil {
		t.Errorf("the shell needs a browser: %v; the page with text: %v", why, got[0]["needs_browser"])
	}
}

func TestInspectPageLines(t *testing.T) {
	c := newCLI(t)
	c.stdin = fmt.Sprintf(`{"id":7,"url":"http://a.test/","content_type":"text/html","html_base64":%q}`+"\n"+`{"id":"b","html_base64":"?"}`+"\n{\n",
		base64.StdEncoding.EncodeToString([]byte(samplePage)))
	c.run("inspect", "page", "-").want(exitOK)
	got := objects(t, c.stdout)
	if len(got) != 3 || got[0]["id"] != 7.0 || got[0]["title"] != "Sample" || got[1]["id"] != "b" || got[1]["error"] == nil || got[2]["error"] == nil {
		t.Errorf("answers: %s", c.stdout)
	}
	for _, field := range strings.Fields("charset kind title author date description abstract image tags language text markdown links robots sources") {
		if _, ok := got[0][field]; !ok {
			t.Errorf("answer lacks %q", field)
		}
	}
}
