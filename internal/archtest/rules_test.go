package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// shells are the places that own a piece of the outside world. Everything else
// gets it passed in.
var shells = map[string][]string{
	"time.Now":           words("cmd/octopus node fetch fetch/render dns frontier frontier/redisfrontier container warc sink internal/webtest internal/benchweb internal/torture"),
	"time.Sleep":         words("internal/webtest internal/benchweb"),
	"net.Dial":           words("fetch dns internal/webtest"),
	"net.Listen":         words("dns fetch/render internal/webtest internal/benchweb cmd/octopus"),
	"os.Create":          words("cmd/octopus"),
	"os.OpenFile":        words("cmd/octopus node sink seen"),
	"os.Getenv":          words("cmd/octopus"),
	"os.Exit":            words("cmd/octopus"),
	"log.Fatal":          words("cmd/octopus"),
	"flag.Parse":         words("cmd/octopus"),
	"rand.Intn":          nil, // the global source of math/rand; a seeded one is passed in
	"rand.IntN":          nil,
	"rand.Float64":       nil,
	"rand.Int64N":        nil,
	"http.Get":           nil,
	"http.DefaultClient": nil,
}

func TestOutsideWorldOnlyInShells(t *testing.T) {
	for path, src := range load(t) {
		for name, file := range src.Files {
			if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(path, "test") && path != "internal/webtest" || path == "internal/servers" {
				continue // tests, and what only tests import
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := call.X.(*ast.Ident)
				if !ok || pkg.Obj != nil {
					return true
				}
				if owners, ruled := shells[pkg.Name+"."+call.Sel.Name]; ruled && !slices.Contains(owners, path) {
					t.Errorf("%s: %s.%s belongs to %v only", src.Fset.Position(n.Pos()), pkg.Name, call.Sel.Name, owners)
				}
				return true
			})
		}
	}
}

func TestNoSleepInTests(t *testing.T) {
	for _, src := range load(t) {
		for name, file := range src.Files {
			if !strings.HasSuffix(name, "_test.go") {
				continue
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Sleep" {
					if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "time" && !usesSynctest(file) {
						t.Errorf("%s: time.Sleep in a test; use testing/synctest or wait for an event", src.Fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}

// usesSynctest reports whether the file runs in virtual time, where a sleep
// costs nothing.
func usesSynctest(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` })
}

func TestNoInitFunctions(t *testing.T) {
	for _, src := range load(t) {
		for _, file := range src.Files {
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "init" && fn.Recv == nil {
					t.Errorf("%s: func init; wire it up in node", src.Fset.Position(fn.Pos()))
				}
			}
		}
	}
}

func TestEveryPackageHasDoc(t *testing.T) {
	for path, src := range load(t) {
		if len(src.NonTest) == 0 && len(src.Files) > 0 && onlyTests(src) {
			continue
		}
		doc := src.Files["doc.go"]
		if doc == nil || doc.Doc == nil {
			t.Errorf("%s has no doc.go with a package comment", path)
		}
		last := path[strings.LastIndex(path, "/")+1:]
		if slices.Contains(words("util utils common helper helpers model models misc"), last) {
			t.Errorf("%s: name the package after what it does", path)
		}
	}
}

func onlyTests(src *source) bool {
	for name := range src.Files {
		if !strings.HasSuffix(name, "_test.go") {
			return false
		}
	}
	return true
}

// maxLines are the longest file and function there may be; the house style asks
// for far less.
const (
	maxFileLines = 600
	maxFuncLines = 100
)

func TestSizes(t *testing.T) {
	for _, src := range load(t) {
		for name, file := range src.Files {
			if lines := src.Fset.Position(file.End()).Line; lines > maxFileLines {
				t.Errorf("%s has %d lines; the most is %d: is it about one thing?", name, lines, maxFileLines)
			}
			for _, d := range file.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if lines := src.Fset.Position(fn.End()).Line - src.Fset.Position(fn.Pos()).Line + 1; lines > maxFuncLines {
					t.Errorf("%s: %s has %d lines; the most is %d", src.Fset.Position(fn.Pos()), fn.Name.Name, lines, maxFuncLines)
				}
			}
		}
	}
}

// TestExportedNamesAreDocumented asks for a comment on every exported type,
// function and method outside tests and commands.
func TestExportedNamesAreDocumented(t *testing.T) {
	for path, src := range load(t) {
		if strings.HasPrefix(path, "cmd/") {
			continue
		}
		for name, file := range src.Files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, d := range file.Decls {
				if id := undocumented(d); id != nil {
					t.Errorf("%s: %s has no comment", src.Fset.Position(id.Pos()), id.Name)
				}
			}
		}
	}
}

func undocumented(d ast.Decl) *ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || exportedReceiver(d)) && !wellKnown(d.Name.Name) {
			return d.Name
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil && ts.Comment == nil {
				return ts.Name
			}
		}
	}
	return nil
}

// wellKnown are methods whose name says it all.
func wellKnown(name string) bool {
	return slices.Contains(words("Error Unwrap String Len Less Swap MarshalText UnmarshalText"), name)
}

func exportedReceiver(d *ast.FuncDecl) bool {
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}
