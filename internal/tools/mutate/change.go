package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/internal/text"
)

// change is one way to make a file wrong.
type change struct {
	file  string // its path
	line  int
	what  string
	text  []byte   // of the whole file, changed
	tests []string // the packages whose tests run the line
}

// order sorts the tests of the own package first, then the others by their time.
func (c change) order(own string, took map[string]time.Duration) {
	slices.SortStableFunc(c.tests, func(a, b string) int {
		switch own {
		case a:
			return -1
		case b:
			return 1
		}
		return cmp.Compare(took[a], took[b])
	})
}

func (c change) String() string { return fmt.Sprintf("%s:%d: %s", c.file, c.line, c.what) }

// swapped maps operators to their replacements.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// changesOf returns the possible changes to the covered lines of a package.
func changesOf(dir string, covered map[string]map[int][]string) ([]change, error) {
	var all []change
	for _, name := range slices.Sorted(maps.Keys(covered)) {
		file := filepath.Join(dir, name)
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := changesIn(file, content, covered[name])
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// changesIn returns the possible changes to lines of a file.
func changesIn(file string, text []byte, lines map[int][]string) ([]change, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(tree.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
		return nil, nil // a suite, which is not tested itself
	}
	var all []change
	add := func(from, to token.Pos, with, what string) {
		at := fset.Position(from)
		if lines[at.Line] == nil {
			return
		}
		a, b := at.Offset, fset.Position(to).Offset
		changed := append(append(append([]byte(nil), text[:a]...), with...), text[b:]...)
		all = append(all, change{file: file, line: at.Line, what: what, text: changed, tests: slices.Clone(lines[at.Line])})
	}
	source := func(n ast.Node) string {
		return string(text[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
	}
	var capacity ast.Node // the capacity of the enclosing make call: only the time would show a change
	ast.Inspect(tree, func(n ast.Node) bool {
		if n != nil && n == capacity {
			return false
		}
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if with, ok := swapped[n.Op]; ok && !isText(n.X) && !isText(n.Y) {
				add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), with.String(), n.Op.String()+" becomes "+with.String()+" in "+clipped(source(n)))
			}
		case *ast.IfStmt:
			add(n.Cond.Pos(), n.Cond.End(), "!("+source(n.Cond)+")", "the condition "+clipped(source(n.Cond))+" is negated")
		case *ast.CallExpr:
			if fun, ok := n.Fun.(*ast.Ident); ok && fun.Name == "make" && len(n.Args) > 1 {
				if _, isMap := n.Args[0].(*ast.MapType); isMap || len(n.Args) == 3 {
					capacity = n.Args[len(n.Args)-1]
				}
			}
		case *ast.BasicLit:
			if n.Kind == token.INT {
				add(n.Pos(), n.End(), "("+n.Value+"+1)", n.Value+" becomes one more")
			}
		case *ast.BlockStmt:
			for _, s := range n.List {
				switch s := s.(type) {
				case *ast.ExprStmt, *ast.DeferStmt, *ast.IncDecStmt:
					add(s.Pos(), s.End(), "", clipped(source(s))+" is left out")
				case *ast.AssignStmt:
					if s.Tok == token.ASSIGN {
						add(s.Pos(), s.End(), "", clipped(source(s))+" is left out")
					}
				}
			}
		}
		return true
	})
	return all, nil
}

// isText reports whether an operand of + is a text literal.
func isText(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING
}

func clipped(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return text.Clip(s, 60)
}
