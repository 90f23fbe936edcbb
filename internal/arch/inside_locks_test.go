package arch

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// parking are the calls that may let another branch of the run continue: methods of the scheduler, of a branch and of a
// workflow, and the functions with which handlers wait.
var parking = set("Par First Within Timed DoOrAbandon Wait SleepUntil Yield WaitFor Approve Approved " +
	"clock.Await clock.Sleep clock.Turn clock.Last workflow.Await workflow.Sleep Rest Pause Sched.Do World.Do world.Do")

// parks reports whether a call may let another branch continue, directly or through a function of its package.
func parks(call *ast.CallExpr, own map[string]bool) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return own[f.Name]
	case *ast.SelectorExpr:
		name := types.ExprString(f)
		parts := strings.Split(name, ".")
		return parking[f.Sel.Name] || parking[strings.Join(parts[max(0, len(parts)-2):], ".")] || own[f.Sel.Name]
	}
	return false
}

// parkingOf returns the functions and methods of a package that may let another branch continue.
func parkingOf(files []*Source) map[string]bool {
	own := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, s := range files {
			for _, decl := range s.File.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Body == nil || own[fn.Name.Name] {
					continue
				}
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.FuncLit:
						return false // called by others
					case *ast.CallExpr:
						if parks(n, own) {
							own[fn.Name.Name], grown = true, true
						}
					}
					return true
				})
			}
		}
	}
	return own
}

// Held returns the places in a file where a lock is held while another branch may continue.
func Held(s *Source, own map[string]bool) []Finding {
	h := &holding{s: s, own: own}
	for _, decl := range s.File.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
			h.stmts(fn.Body.List, map[string]bool{})
		}
	}
	return h.found
}

type holding struct {
	s     *Source
	own   map[string]bool
	found []Finding
}

// stmts visits statements that begin with some locks held, and updates held to those held after them.
func (h *holding) stmts(list []ast.Stmt, held map[string]bool) {
	for _, stmt := range list {
		switch stmt := stmt.(type) {
		case *ast.DeferStmt:
			if lit, ok := stmt.Call.Fun.(*ast.FuncLit); ok {
				h.stmts(lit.Body.List, map[string]bool{})
			}
			continue // a lock released by defer is held until the end
		case *ast.ExprStmt:
			if call, ok := stmt.X.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.SelectorExpr); ok {
					lock := types.ExprString(f.X)
					switch f.Sel.Name {
					case "Lock", "RLock":
						held[lock] = true
						continue
					case "Unlock", "RUnlock":
						delete(held, lock)
						continue
					}
				}
			}
		}
		h.node(stmt, held)
	}
}

// node visits a statement. What its blocks lock and unlock stays inside them.
func (h *holding) node(n ast.Node, held map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			h.stmts(n.Body.List, map[string]bool{})
			return false
		case *ast.BlockStmt:
			h.stmts(n.List, maps.Clone(held))
			return false
		case *ast.CaseClause:
			h.stmts(n.Body, maps.Clone(held))
			return false
		case *ast.CommClause:
			h.stmts(n.Body, maps.Clone(held))
			return false
		case *ast.CallExpr:
			if len(held) > 0 && parks(n, h.own) {
				locks := slices.Sorted(maps.Keys(held))
				h.found = append(h.found, h.s.at(n.Pos(), types.ExprString(n.Fun)+" has another branch go on while "+strings.Join(locks, " and ")+" is held"))
			}
		}
		return true
	})
}

func TestHeld(t *testing.T) {
	for _, s := range fakes(t, "inside") {
		if s.Rel != "locks.go" {
			continue
		}
		got, want := rendered(Held(s, parkingOf([]*Source{s}))), wanted(s.Rel, s.Text)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s\n got:\n\t%s\nwant:\n\t%s", s.Rel, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
}

// No lock is held inside a workflow while the scheduler lets another branch continue.
func TestNoLockIsHeldWhileBranchesChange(t *testing.T) {
	all := sources(t)
	packages := map[string][]*Source{}
	for _, s := range all {
		if IsInside(s) {
			packages[s.Dir()] = append(packages[s.Dir()], s)
		}
	}
	for _, files := range packages {
		own := parkingOf(files)
		for _, s := range files {
			fail(t, Held(s, own))
		}
	}
}
