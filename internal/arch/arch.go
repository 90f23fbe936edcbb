// Package arch checks the structure of the repository: who may import whom, where goroutines, clocks and randomness may
// be used, how long a file may be, and which words are not allowed.
//
// A checker is a function from source to findings; what it checks is in tables next to it. The checkers are tested on
// small fakes under testdata, the repository by the promises of repository_test.go.
package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Root returns the directory of the module that contains the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = up
	}
}

// outputs are directories for what tools produce, not for what people write.
var outputs = map[string]bool{".git": true, "bin": true, "dist": true, "node_modules": true}

// Files calls visit for each file below root that belongs to the repository, with its slash-separated path relative to
// root. It leaves out build output and editors' files.
func Files(root string, visit func(rel string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && outputs[d.Name()] {
				return filepath.SkipDir
			}
			return nil
		}
		name := d.Name()
		if !d.Type().IsRegular() || name == ".git" || strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".prof") ||
			strings.HasSuffix(name, "~") || strings.HasPrefix(name, ".#") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel))
	})
}

// Source is a parsed Go file.
type Source struct {
	Rel  string // slash-separated path relative to the root
	Fset *token.FileSet
	File *ast.File
	Text []byte
}

// Test reports whether the file is compiled only for tests.
func (s *Source) Test() bool { return strings.HasSuffix(s.Rel, "_test.go") }

// Dir returns the directory of the file, slash-separated and relative to the root; "." for the root.
func (s *Source) Dir() string {
	if i := strings.LastIndexByte(s.Rel, '/'); i >= 0 {
		return s.Rel[:i]
	}
	return "."
}

// Sources parses every Go file below root except those under a testdata directory, which the go command ignores too.
func Sources(root string) ([]*Source, error) {
	var all []*Source
	err := Files(root, func(rel string) error {
		if !strings.HasSuffix(rel, ".go") || strings.Contains("/"+rel, "/testdata/") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
		if err != nil {
			return err
		}
		s, err := Parse(rel, text)
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// Parse reads one Go file.
func Parse(rel string, text []byte) (*Source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &Source{Rel: rel, Fset: fset, File: file, Text: text}, nil
}
