package board

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"octopus"
	"octopus/canon"
)

// scope is the set of URLs within reach of the entries. It never changes; a
// larger one takes its place.
type scope struct {
	kind     octopus.Scope
	entries  map[string]struct{} // canonical texts, targets of redirects included
	hosts    map[string]struct{} // hosts of the entries
	sites    map[string]struct{} // their registrable domains
	prefixes []string            // their directories, "host/dir/", without scheme
	inside   string              // what Decision.Rule says of a URL inside …
	outside  string              // … and of one outside
}

func newScope(b octopus.Board) (*scope, error) {
	switch b.Scope {
	case octopus.ScopePage, octopus.ScopePrefix, octopus.ScopeHost, octopus.ScopeDomain, octopus.ScopeAny:
	default:
		return nil, fmt.Errorf("scope: %q is none of page, prefix, host, domain, any", b.Scope)
	}
	s := &scope{kind: b.Scope, entries: map[string]struct{}{}, hosts: map[string]struct{}{}, sites: map[string]struct{}{}}
	for i, text := range b.Entry {
		u, err := canon.Parse(text)
		if err != nil {
			return nil, &EntryError{Index: i, Text: text, Err: err}
		}
		s.add(u)
	}
	s.describe()
	return s, nil
}

// with returns a scope that has u as an entry, too.
func (s *scope) with(u octopus.URL) *scope {
	t := &scope{
		kind: s.kind, entries: maps.Clone(s.entries), hosts: maps.Clone(s.hosts),
		sites: maps.Clone(s.sites), prefixes: slices.Clone(s.prefixes),
	}
	t.add(u)
	t.describe()
	return t
}

func (s *scope) add(u octopus.URL) {
	s.entries[u.Text] = struct{}{}
	s.hosts[u.Host] = struct{}{}
	s.sites[u.Site] = struct{}{}
	if p := directory(u.Text); !slices.Contains(s.prefixes, p) {
		s.prefixes = append(s.prefixes, p)
	}
}

// directory returns the text up to its path's last slash, without scheme: http
// and https pages of a directory belong together.
func directory(text string) string {
	text, _, _ = strings.Cut(schemeless(text), "?")
	return text[:strings.LastIndexByte(text, '/')+1]
}

func schemeless(text string) string { return text[strings.Index(text, "://")+3:] }

// contains reports whether u is within reach. It does not allocate.
func (s *scope) contains(u *octopus.URL) (ok bool) {
	switch s.kind {
	case octopus.ScopeAny:
		return true
	case octopus.ScopeHost:
		_, ok = s.hosts[u.Host]
	case octopus.ScopeDomain:
		_, ok = s.sites[u.Site]
	case octopus.ScopePage:
		_, ok = s.entries[u.Text]
	case octopus.ScopePrefix:
		text := schemeless(u.Text)
		for _, p := range s.prefixes {
			if strings.HasPrefix(text, p) {
				return true
			}
		}
	}
	return ok
}

// containsHost reports whether anything on u's host can be within reach. A
// board of single pages reaches no sitemap.
func (s *scope) containsHost(u *octopus.URL) bool {
	if s.kind == octopus.ScopePrefix {
		_, ok := s.hosts[u.Host]
		return ok
	}
	return s.kind != octopus.ScopePage && s.contains(u)
}

// describe writes the words for decisions.
func (s *scope) describe() {
	s.inside = "scope " + string(s.kind)
	var of []string
	switch s.kind {
	case octopus.ScopeHost:
		of = slices.Sorted(maps.Keys(s.hosts))
	case octopus.ScopeDomain:
		of = slices.Sorted(maps.Keys(s.sites))
	case octopus.ScopePrefix:
		of = s.prefixes
	case octopus.ScopePage:
		of = slices.Sorted(maps.Keys(s.entries))
	}
	if n := len(of); n > 3 {
		of = append(slices.Clone(of[:3]), fmt.Sprintf("and %d more", n-3))
	}
	if len(of) > 0 {
		s.inside += " (" + strings.Join(of, ", ") + ")"
	}
	s.outside = "outside " + s.inside
}
