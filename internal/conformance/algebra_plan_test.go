package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// methods returns the functions of a package's files, except tests, by receiver and name.
func methods(t *testing.T, dir string) map[string]*ast.FuncDecl {
	t.Helper()
	out := map[string]*ast.FuncDecl{}
	files, err := filepath.Glob(filepath.Join(repository(dir), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			key := fn.Name.Name
			if fn.Recv != nil {
				typ := fn.Recv.List[0].Type
				if star, ok := typ.(*ast.StarExpr); ok {
					typ = star.X
				}
				if id, ok := typ.(*ast.Ident); ok {
					key = id.Name + "." + key
				}
			}
			out[key] = fn
		}
	}
	return out
}

// called lists the names that a body calls; for methods only the name.
func called(body ast.Node) (names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch f := c.Fun.(type) {
		case *ast.Ident:
			names = append(names, f.Name)
		case *ast.SelectorExpr:
			names = append(names, f.Sel.Name)
		}
		return true
	})
	return names
}

// arms returns the cases of the first switch over an expression with that text in a function.
func arms(fn *ast.FuncDecl, over string) map[string]*ast.CaseClause {
	out := map[string]*ast.CaseClause{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.SwitchStmt)
		if !ok || s.Tag == nil || len(out) > 0 {
			return true
		}
		tag := s.Tag
		if call, ok := tag.(*ast.CallExpr); ok {
			tag = call.Fun
		}
		if sel, ok := tag.(*ast.SelectorExpr); !ok || sel.Sel.Name != over {
			return true
		}
		for _, stmt := range s.Body.List {
			c := stmt.(*ast.CaseClause)
			for _, e := range c.List {
				switch e := e.(type) {
				case *ast.Ident:
					out[e.Name] = c
				case *ast.SelectorExpr:
					out[e.Sel.Name] = c
				}
			}
		}
		return true
	})
	return out
}

// constants returns the names of a type's constants, in their order.
func constants(t *testing.T, file, typ string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), repository(file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range f.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		of := ""
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if id, ok := v.Type.(*ast.Ident); ok {
				of = id.Name
			}
			if of == typ {
				names = append(names, v.Names[0].Name)
			}
		}
	}
	return names
}

// Promise 15.25 (algebra): every kind of node is lowered to a step of the plan, one interpreter runs all steps, and
// nothing else runs a step.
func TestPromise_15_25_OneInterpreter(t *testing.T) {
	engine := methods(t, "engine/internal/interp")
	kinds := constants(t, "engine/flow/node.go", "NodeKind")
	if len(kinds) < 19 {
		t.Fatalf("the kinds are %v", kinds)
	}
	lowered, performed := arms(engine["lower"], "Kind"), arms(engine["perform"], "Kind")
	for _, k := range kinds {
		if k == "FixNode" { // a place for a node that is called when a tool fails, and not a step
			continue
		}
		if lowered[k] == nil {
			t.Errorf("%s is not lowered", k)
		}
		if performed[k] == nil && k != "FnNode" && k != "ApprovalNode" { // a call of a function is after the switch
			t.Errorf("the interpreter does not perform %s", k)
		}
	}
	if !slices.Contains(called(engine["enter"].Body), "perform") || !slices.Contains(called(engine["Run"].Body), "enter") {
		t.Error("Run does not lead to perform")
	}
	// A step is run by the interpreter, which is entered by a run and by a call of a callback, and by what it reaches
	// from the operations.
	reached := map[string]bool{"Run": true, "enter": true, "watched": true, "perform": true, "Interp.Call": true}
	walk := []string{"perform"}
	for len(walk) > 0 {
		fn := engine[walk[0]]
		walk = walk[1:]
		for _, name := range called(fn.Body) {
			if engine[name] != nil && !reached[name] {
				reached[name] = true
				walk = append(walk, name)
			}
		}
	}
	for key, fn := range engine {
		for _, name := range called(fn.Body) {
			if (name == "Run" || name == "perform" || name == "enter") && !reached[key] {
				t.Errorf("%s runs steps, and is no part of the interpreter", key)
			}
		}
	}
}
