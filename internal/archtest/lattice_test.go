package archtest

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// lattice says which packages of this module, and which client libraries, a
// package may import beside the standard library. "internal" stands for all
// packages below internal/. A package that is not here fails the test: its
// author must say where it belongs.
var lattice = map[string]struct{ own, libraries []string }{
	"octopus": {},
	"canon":   {own: words("octopus internal"), libraries: words("github.com/nlnwa/whatwg-url golang.org/x/net")},
	"robots":  {},
	"kv":      {},

	"kv/kvtest":   {own: words("kv")},
	"kv/pebblekv": {own: words("kv"), libraries: words("github.com/cockroachdb/pebble/v2")},

	// A store whose disk fails on demand, for the crash tests of others.
	"kv/pebblekv/crashtest": {own: words("kv kv/pebblekv internal"), libraries: words("github.com/cockroachdb/pebble/v2")},

	"board":    {own: words("octopus canon kv internal")},
	"queue":    {own: words("octopus kv internal")},
	"sink":     {own: words("octopus kv queue internal")},
	"frontier": {own: words("octopus canon kv robots frontier/manners internal")},
	"stats":    {own: words("octopus kv internal")},
	"seen":     {own: words("octopus kv internal"), libraries: words("golang.org/x/sys")},

	// How a host is treated; every frontier keeps it.
	"frontier/manners": {own: words("octopus robots")},

	"queue/queuetest":       {own: words("octopus kv queue")},
	"sink/sinktest":         {own: words("octopus kv sink")},
	"seen/seentest":         {own: words("octopus kv seen")},
	"frontier/frontiertest": {own: words("octopus canon")},

	"dns": {own: words("octopus internal"), libraries: words("github.com/miekg/dns")},
	"fetch": {own: words("octopus canon internal"),
		libraries: words("github.com/andybalholm/brotli github.com/klauspost/compress golang.org/x/net")},

	// A browser for the pages that need one.
	"fetch/render": {libraries: words("github.com/chromedp/chromedp github.com/chromedp/cdproto golang.org/x/net")},

	"parse":     {own: words("octopus canon internal parse/article parse/charset parse/classify parse/feed parse/scan parse/simhash")},
	"warc":      {own: words("octopus internal"), libraries: words("github.com/andybalholm/brotli github.com/klauspost/compress")},
	"container": {own: words("octopus canon warc internal"), libraries: words("golang.org/x/sys")},

	// What others read of a container: replay tools over HTTP, analysts as a table.
	"container/cdxserver":     {own: words("octopus canon warc container")},
	"container/parquetexport": {own: words("canon warc"), libraries: words("github.com/parquet-go/parquet-go")},
	"crawl":                   {own: words("octopus")},

	// What parse is made of: each takes bytes and returns values.
	"parse/scan":     {},
	"parse/simhash":  {},
	"parse/feed":     {},
	"parse/charset":  {libraries: words("github.com/gogs/chardet golang.org/x/text")},
	"parse/classify": {own: words("parse/scan")},
	"parse/article": {own: words("parse/scan parse/classify"), libraries: words("golang.org/x/net github.com/JohannesKaufmann/html-to-markdown/v2 " +
		"github.com/markusmobius/go-trafilatura github.com/markusmobius/go-domdistiller codeberg.org/readeck/go-readability")},

	// Adapters, with their client libraries.
	"sink/mongosink":         {own: words("octopus sink"), libraries: words("go.mongodb.org/mongo-driver/v2")},
	"sink/parquetsink":       {own: words("octopus sink internal"), libraries: words("github.com/parquet-go/parquet-go")},
	"sink/sqlsink":           {own: words("octopus sink"), libraries: words("modernc.org/sqlite github.com/jackc/pgx/v5 github.com/go-sql-driver/mysql")},
	"seen/redisseen":         {own: words("octopus seen internal"), libraries: words("github.com/redis/go-redis/v9")},
	"frontier/redisfrontier": {own: words("octopus canon robots frontier/manners internal"), libraries: words("github.com/redis/go-redis/v9")},

	"internal/archtest": {},
	"internal/inflate":  {},
	"internal/spare":    {},
	"internal/servers":  {},
	"internal/redisx":   {libraries: words("github.com/redis/go-redis/v9")},
	"internal/torture":  {own: words("octopus internal")},
	"internal/durable":  {libraries: words("github.com/cockroachdb/pebble/v2/vfs")},
	"internal/benchweb": {},
	"internal/webtest":  {own: words("octopus canon robots"), libraries: words("github.com/miekg/dns github.com/andybalholm/brotli github.com/klauspost/compress golang.org/x/net golang.org/x/text")},

	// node knows every implementation, cmd/octopus only node and what its
	// inspection verbs show.
	"node":        {own: words("*"), libraries: words("golang.org/x/sync")},
	"cmd/octopus": {own: words("*"), libraries: words("github.com/spf13 github.com/pelletier/go-toml/v2 golang.org/x/term golang.org/x/sys")},
}

func TestImportLattice(t *testing.T) {
	packages := load(t)
	for path, imports := range packages {
		rule, known := lattice[path]
		if !known {
			t.Errorf("%s is not in the lattice: say in internal/archtest which packages it may import", path)
			continue
		}
		for _, imp := range imports.NonTest {
			if err := allowed(imp, rule.own, rule.libraries); err != nil {
				t.Errorf("%s imports %s: %v", path, imp, err)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(lattice)) {
		if _, exists := packages[path]; !exists {
			t.Errorf("the lattice names %s, which does not exist", path)
		}
	}
}

// TestArchitectureNamesPackages: whoever reads docs/architecture.md meets every
// package.
func TestArchitectureNamesPackages(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range lattice {
		if !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "`"+path.Base(name)+"`") {
			t.Errorf("docs/architecture.md does not name %s", name)
		}
	}
}

// allowed reports why imp is not among what a rule grants.
func allowed(imp string, own, libraries []string) error {
	if !strings.Contains(imp, ".") && imp != module && !strings.HasPrefix(imp, module+"/") {
		return nil // standard library
	}
	if rest, ours := strings.CutPrefix(imp, module+"/"); ours || imp == module {
		if imp == module {
			rest = module
		}
		for _, o := range own {
			if o == "*" || o == rest || o == "internal" && strings.HasPrefix(rest, "internal/") {
				return nil
			}
		}
		return fmt.Errorf("only %v are granted", own)
	}
	for _, lib := range libraries {
		if imp == lib || strings.HasPrefix(imp, lib+"/") {
			return nil
		}
	}
	return fmt.Errorf("a library outside %v", libraries)
}

func words(s string) []string { return strings.Fields(s) }
