package arch

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
)

// A durable workflow executes a run again and again and must do the same each time. The code [Inside] therefore
// determines no order by a Go map, whose order is random, and holds no lock while the scheduler lets another branch
// continue: branches are coroutines of one goroutine there, which would block forever on a lock held by another
// coroutine.

// Inside are the packages, or files of a package by pattern, that run within the workflow of a run.
var Inside = []string{
	"temporal/*.go", "temporal/internal/world/*", "temporal/internal/record/*", "temporal/internal/eventlog/*",
	"engine/journal/*", "engine/run/*", "engine/internal/exec/*", "engine/internal/interp/*", "engine/internal/conversation/*",
	"engine/internal/quiet/*", "engine/internal/flight/*", "engine/sched/coop*.go", "engine/sched/world.go",
	"engine/store/memory*.go", "engine/store/whole.go",
}

// AnyOrder are the inside functions whose ranges over maps have the same result in any order, and why. What is sorted
// afterwards needs no row.
var AnyOrder = map[string]string{
	"engine/journal/acted.go actedAt":           "it makes a set",
	"engine/journal/journal.go Worked":          "it is a sum",
	"engine/journal/journal.go step":            "it is a maximum",
	"engine/journal/signals.go Refuse":          "it is a maximum",
	"engine/internal/exec/memory.go Begin":      "no two entries have one key",
	"temporal/internal/eventlog/reader.go Take": "it is a maximum",
	"engine/store/memorystore.go DeleteRun":     "it asks whether there is one",
	"engine/store/memorystore.go Close":         "each run is given up by itself, and nobody sees when",
}

// IsInside reports whether a file runs within a workflow.
func IsInside(s *Source) bool {
	return !s.Test() && slices.ContainsFunc(Inside, func(p string) bool {
		is, _ := path.Match(p, s.Rel)
		return is
	})
}

// mapNames recognizes maps by their names, since it only sees syntax. It does not recognize an exported field if a
// field with the same name in another package is something else.
type mapNames struct {
	types, funcs map[string]bool            // in all packages
	vars         map[string]map[string]bool // in a package, by its directory
	fields       map[string]map[string]bool // likewise; "" has the exported ones of all packages
	others       map[string]bool            // exported fields that are something else elsewhere
}

// namesOf collects the maps of a repository.
func namesOf(all []*Source) *mapNames {
	m := &mapNames{types: map[string]bool{}, funcs: map[string]bool{}, vars: map[string]map[string]bool{}, fields: map[string]map[string]bool{"": {}}, others: map[string]bool{}}
	for _, s := range all {
		m.vars[s.Dir()], m.fields[s.Dir()] = map[string]bool{}, map[string]bool{}
	}
	each := func(do func(s *Source, n ast.Node)) {
		for _, s := range all {
			if !s.Test() {
				ast.Inspect(s.File, func(n ast.Node) bool { do(s, n); return true })
			}
		}
	}
	each(func(_ *Source, n ast.Node) {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if _, is := spec.Type.(*ast.MapType); is {
				m.types[spec.Name.Name] = true
			}
		}
	})
	each(func(s *Source, n ast.Node) {
		switch n := n.(type) {
		case *ast.StructType:
			for _, f := range n.Fields.List {
				for _, name := range f.Names {
					switch is := m.isType(f.Type); {
					case is && name.IsExported():
						m.fields[""][name.Name] = true
					case is:
						m.fields[s.Dir()][name.Name] = true
					case name.IsExported():
						m.others[name.Name] = true
					}
				}
			}
		case *ast.FuncDecl:
			if r := n.Type.Results; r != nil && m.isType(r.List[0].Type) {
				m.funcs[n.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					m.declared(s.Dir(), v, m.vars[s.Dir()])
				}
			}
		}
	})
	return m
}

func (m *mapNames) isType(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.MapType:
		return true
	case *ast.Ident:
		return m.types[t.Name]
	case *ast.SelectorExpr:
		return m.types[t.Sel.Name]
	case *ast.IndexExpr:
		return m.isType(t.X)
	}
	return false
}

// isMap reports whether an expression is a map, given the names of map variables.
func (m *mapNames) isMap(dir string, x ast.Expr, vars map[string]bool) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return m.isMap(dir, x.X, vars)
	case *ast.Ident:
		return vars[x.Name]
	case *ast.SelectorExpr:
		return m.fields[dir][x.Sel.Name] || m.fields[""][x.Sel.Name] && !m.others[x.Sel.Name]
	case *ast.CompositeLit:
		return m.isType(x.Type)
	case *ast.CallExpr:
		switch f := x.Fun.(type) {
		case *ast.Ident:
			return f.Name == "make" && m.isType(x.Args[0]) || m.funcs[f.Name]
		case *ast.SelectorExpr:
			return m.funcs[f.Sel.Name] || types.ExprString(f) == "maps.Clone"
		}
	}
	return false
}

// declared adds the variables of a declaration that are maps.
func (m *mapNames) declared(dir string, v *ast.ValueSpec, vars map[string]bool) {
	for i, name := range v.Names {
		if v.Type != nil && m.isType(v.Type) || i < len(v.Values) && m.isMap(dir, v.Values[i], vars) {
			vars[name.Name] = true
		}
	}
}

// within returns the names of maps visible in a function: of its package, its parameters and its variables.
func (m *mapNames) within(dir string, fn *ast.FuncDecl) map[string]bool {
	vars := map[string]bool{}
	for name := range m.vars[dir] {
		vars[name] = true
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				vars[name.Name] = m.isType(n.Type)
			}
		case *ast.ValueSpec:
			m.declared(dir, n, vars)
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if name, ok := to.(*ast.Ident); ok && n.Tok.String() == ":=" {
					vars[name.Name] = len(n.Rhs) == len(n.Lhs) && m.isMap(dir, n.Rhs[i], vars) || len(n.Rhs) < len(n.Lhs) && i == 0 && m.isMap(dir, n.Rhs[0], vars)
				}
			}
		}
		return true
	})
	return vars
}

// Unordered returns the places in a file where something is done in the order of a map. It excludes maps whose elements
// are sorted at once, or gathered in a slice that a later statement of the block sorts, and the functions in allowed.
func (m *mapNames) Unordered(s *Source, allowed map[string]string) []Finding {
	var found []Finding
	for _, decl := range s.File.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil || allowed[s.Rel+" "+fn.Name.Name] != "" {
			continue
		}
		vars := m.within(s.Dir(), fn)
		ordered := map[ast.Node]bool{}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			for i, stmt := range block(n) {
				for _, later := range block(n)[i+1:] {
					if of := sorted(later); of != "" && gathers(stmt, of) {
						ordered[stmt] = true
					}
				}
			}
			if ordered[n] {
				return false
			}
			switch n := n.(type) {
			case *ast.RangeStmt:
				if m.isMap(s.Dir(), n.X, vars) && n.Key != nil {
					found = append(found, s.at(n.Pos(), "goes through the map "+types.ExprString(n.X)+" in an order that is chance"))
				}
			case *ast.CallExpr:
				switch name := types.ExprString(n.Fun); {
				case strings.HasPrefix(name, "slices.Sorted"):
					return false
				case name == "maps.Keys" || name == "maps.Values" || name == "maps.All":
					found = append(found, s.at(n.Pos(), "takes "+types.ExprString(n)+" in an order that is chance"))
				}
			}
			return true
		})
	}
	return found
}

// block returns the statements of a node, if it has some.
func block(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	}
	return nil
}

// sorted returns the slice that a statement sorts, or "".
func sorted(stmt ast.Stmt) string {
	x, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return ""
	}
	call, ok := x.X.(*ast.CallExpr)
	if name := ""; ok && len(call.Args) > 0 {
		if name = types.ExprString(call.Fun); strings.HasPrefix(name, "slices.Sort") || strings.HasPrefix(name, "sort.") || strings.HasPrefix(name, "sorting.") {
			return types.ExprString(call.Args[0])
		}
	}
	return ""
}

// gathers reports whether a statement only fills a slice.
func gathers(stmt ast.Stmt, slice string) bool {
	switch stmt := stmt.(type) {
	case *ast.AssignStmt:
		return len(stmt.Lhs) == 1 && types.ExprString(stmt.Lhs[0]) == slice
	case *ast.RangeStmt:
		return gathers(stmt.Body, slice)
	case *ast.IfStmt:
		return stmt.Else == nil && gathers(stmt.Body, slice)
	case *ast.BlockStmt:
		return !slices.ContainsFunc(stmt.List, func(s ast.Stmt) bool { return !gathers(s, slice) })
	case *ast.BranchStmt:
		return stmt.Tok.String() == "continue"
	}
	return false
}

func TestUnordered(t *testing.T) {
	all := fakes(t, "inside")
	names := namesOf(all)
	for _, s := range all {
		if got, want := rendered(names.Unordered(s, map[string]string{"maps.go allowed": "for a reason"})), wanted(s.Rel, s.Text); s.Rel == "maps.go" && !slices.Equal(got, want) {
			t.Errorf("%s\n got:\n\t%s\nwant:\n\t%s", s.Rel, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
}

// No order inside a workflow is that of a map.
func TestNoMapDecidesAnOrderInside(t *testing.T) {
	all := sources(t)
	names := namesOf(all)
	used := map[string]bool{}
	for _, s := range all {
		if !IsInside(s) {
			continue
		}
		fail(t, names.Unordered(s, AnyOrder))
		for row := range AnyOrder {
			if file, fn, _ := strings.Cut(row, " "); file == s.Rel && len(names.Unordered(only(s, fn), nil)) > 0 {
				used[row] = true
			}
		}
	}
	for row := range AnyOrder {
		if !used[row] {
			t.Errorf("%s is excused and does nothing that needs it", row)
		}
	}
	for _, p := range Inside {
		if !slices.ContainsFunc(all, func(s *Source) bool { is, _ := path.Match(p, s.Rel); return is && !s.Test() }) {
			t.Errorf("%s is no file", p)
		}
	}
}

// only returns a file with only one of its functions.
func only(s *Source, fn string) *Source {
	file := *s.File
	file.Decls = slices.DeleteFunc(slices.Clone(file.Decls), func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Name.Name != fn
	})
	return &Source{Rel: s.Rel, Fset: s.Fset, File: &file, Text: s.Text}
}
