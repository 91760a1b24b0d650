package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// module is the path in go.mod.
const module = "octopus"

// source is what the tests look at of one package.
type source struct {
	NonTest []string // imports of files that are no tests
	Files   map[string]*ast.File
	Fset    *token.FileSet
}

// load parses every package of the module, keyed by its folder; the root is
// "octopus". Nested modules and testdata are left out.
func load(t *testing.T) map[string]*source {
	t.Helper()
	root := filepath.Join("..", "..")
	packages := map[string]*source{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skip(root, path, d.Name())
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		return add(packages, root, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// skip leaves out folders that are not part of the module.
func skip(root, path, name string) error {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	nested := err == nil && path != root
	if nested || name == "testdata" || strings.HasPrefix(name, ".") && path != root && name != ".." {
		return filepath.SkipDir
	}
	return nil
}

func add(packages map[string]*source, root, path string) error {
	dir, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	if dir == "." {
		dir = module
	}
	dir = filepath.ToSlash(dir)
	p := packages[dir]
	if p == nil {
		p = &source{Files: map[string]*ast.File{}, Fset: token.NewFileSet()}
		packages[dir] = p
	}
	f, err := parser.ParseFile(p.Fset, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	p.Files[filepath.Base(path)] = f
	if strings.HasSuffix(path, "_test.go") {
		return nil
	}
	for _, spec := range f.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		p.NonTest = append(p.NonTest, imp)
	}
	return nil
}
