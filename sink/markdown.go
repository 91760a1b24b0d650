package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"octopus"
	"octopus/internal/durable"
)

// Markdown is a Sink that keeps one file per page in a folder: the newest visit
// that had content, its metadata as YAML in front. It is idempotent; each file
// is replaced as a whole.
type Markdown struct {
	dir string
	fs  durable.FS
}

// NewMarkdown returns the sink of a folder, which is made where it is missing.
func NewMarkdown(dir string) *Markdown { return &Markdown{dir: dir, fs: durable.Disk()} }

// Resume implements Resumer. It makes the folder, so that one that cannot be made
// is told before anything is fetched.
func (s *Markdown) Resume(json.RawMessage) error { return durable.MkdirAll(s.fs, s.dir) }

// State implements Resumer: there is nothing to remember.
func (s *Markdown) State() json.RawMessage { return nil }

// Write implements Sink.
func (s *Markdown) Write(_ context.Context, recs []octopus.Record) error {
	for i := range recs {
		r := &recs[i]
		if content(r) == "" {
			continue
		}
		name := filepath.Join(s.dir, filepath.FromSlash(PagePath(r.URL)))
		if err := durable.MkdirAll(s.fs, filepath.Dir(name)); err != nil {
			return err
		}
		if err := durable.WriteFile(s.fs, name, func(w io.Writer) error {
			_, err := w.Write(markdownFile(r))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Sink.
func (s *Markdown) Close() error { return nil }

// content is what a page has for people; empty for redirects, errors and copies
// of other pages.
func content(r *octopus.Record) string {
	switch {
	case r.Status/100 != 2 || r.Error != "" || r.Skip != "" || r.DuplicateOf != "":
		return ""
	case r.Markdown != "":
		return r.Markdown
	}
	return r.Text
}

// markdownFile is the content behind its metadata. JSON texts are YAML texts.
func markdownFile(r *octopus.Record) []byte {
	var b bytes.Buffer
	b.WriteString("---\n")
	for _, f := range []struct{ name, value string }{
		{"url", r.URL}, {"title", r.Title}, {"author", r.Author}, {"published", r.Published}, {"description", r.Description},
		{"language", r.Language}, {"image", r.Image}, {"canonical", r.Canonical}, {"board", r.Board}, {"kind", r.Kind},
		{"fetched_at", r.FetchedAt.UTC().Format(time.RFC3339)}, {"digest", r.Digest},
	} {
		if f.value != "" {
			b.WriteString(f.name + ": " + jsonText(f.value) + "\n")
		}
	}
	if len(r.Tags) > 0 {
		b.WriteString("tags:\n")
	}
	for _, tag := range r.Tags {
		b.WriteString("  - " + jsonText(tag) + "\n")
	}
	b.WriteString("---\n\n" + strings.TrimSpace(content(r)) + "\n")
	return b.Bytes()
}

func jsonText(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be said
	return strings.TrimSuffix(b.String(), "\n")
}

// longestName bounds a folder or file name in bytes; file systems take 255.
const longestName = 120

// PagePath returns the file of a canonical URL below a folder, with slashes:
// HOST/PATH.md, and index.md for a path that ends in a slash. Where something
// of the URL cannot be told by such a name, ten digits of URLKey follow it: a
// query, odd characters, capitals (which some file systems take for small
// letters), https on a port of its own. No two URLs share a file.
func PagePath(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "other/" + URLKey(text) + ".md" // not canonical
	}
	exact := u.RawQuery == "" && (u.Port() == "" || u.Scheme == "http" && u.Port() != "443")
	host, same := fileName(strings.ReplaceAll(u.Host, ":", "_"))
	exact = exact && same && (u.Scheme == "https" || u.Port() != "" || !strings.Contains(u.Host, "_"))
	parts := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	names := []string{host}
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		last := i == len(parts)-1
		switch {
		case last && plain == "":
			names = append(names, "index")
			continue
		case last && plain == "index", err != nil, url.PathEscape(plain) != part:
			exact = false
		}
		name, same := fileName(plain)
		if !last && strings.HasSuffix(name, ".md") { // /a is the file a.md, /a.md/b lies in a folder
			name, same = name+"_", false
		}
		exact = exact && same
		names = append(names, name)
	}
	if u.Scheme == "http" && u.Port() == "" {
		names[0] += "_80"
	}
	path := strings.Join(names, "/")
	if len(path) > 1000 {
		path, exact = host+"/long", false
	}
	if !exact {
		path += "-" + URLKey(text)[:10]
	}
	return path + ".md"
}

// fileName makes a name that every file system takes; same tells whether it is
// the name that was given.
func fileName(name string) (out string, same bool) {
	out = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.~+,=@()", r):
			return '-'
		}
		return unicode.ToLower(r)
	}, name)
	if strings.HasPrefix(out, ".") || out == "" {
		out = "_" + out
	}
	out, _ = portable(out, longestName)
	out = strings.TrimRight(out, ".")
	return out, out == name
}
