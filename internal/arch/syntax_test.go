package arch

import (
	"go/ast"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// Runs are repeatable because composition has no source of randomness: no order of goroutines, no clock, no random
// numbers. All of these come through the scheduler, so that a run can be repeated, tested with another interleaving, or
// executed by another machine.

// Hermetic are the trees that must obey this, and Apart those below them that need not: drivers and stores are on the
// effect side, where the context and the clock belong.
var (
	Hermetic = []string{"engine", "starlib"}
	Apart    = []string{"engine/llm", "engine/cassette", "engine/journal", "engine/store", "engine/mcp", "engine/telemetry", "engine/grant", "engine/sched/schedtest"}
)

// Excused are the files that may use what others must not: the goroutine scheduler everything; what runs its effects in
// virtual time too; the cooperative schedulers an empty context for handlers and the coroutines that branches are; and
// what gives handlers their clock the machine's.
var Excused = map[string][]string{
	"engine/sched/goroutines.go": {"*"},
	"engine/sched/coop.go":       {"context.Background", "context.WithCancelCause", "iter.Pull", "channel", "select"},
	"engine/sched/trip.go":       {"*"},
	"engine/sched/virtual.go":    {"context.AfterFunc", "channel", "select"},
	"engine/sched/timed.go":      {"time.Now", "time.AfterFunc"},
	"engine/clock/manual.go":     {"go", "channel", "select"},
	"engine/clock/clock.go":      {"time.Now", "time.AfterFunc", "context.WithValue", "channel", "select"},
	// What reserves further attempts at a call travels to its handler in the context, next to the request.
	"engine/internal/flight/flight.go": {"context.WithValue"},
	// So do the secrets of the run, for a handler that truncates what it returns.
	"engine/internal/redact/known.go": {"context.WithValue"},
	// An open run signals by channels that it must stop, as a context does, and that something was sent to it.
	"engine/store.go": {"channel"},
}

// chance lists the functions and types of the standard library that introduce goroutines, waiting, a clock, or a
// context made here instead of by the caller.
var chance = map[string]map[string]bool{
	"time":      set("Now After AfterFunc Sleep NewTimer NewTicker Tick Since Until"),
	"context":   set("Background TODO WithCancel WithCancelCause WithDeadline WithDeadlineCause WithTimeout WithTimeoutCause WithValue WithoutCancel AfterFunc"),
	"sync":      set("WaitGroup Cond NewCond"),
	"runtime":   set("Gosched Goexit"),
	"iter":      set("Pull Pull2"),
	"os/signal": set("Notify NotifyContext"),
}

// random are packages that no hermetic file may import.
var random = set("math/rand math/rand/v2 crypto/rand golang.org/x/sync/errgroup")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// IsHermetic reports whether a file belongs to the trees whose runs must be repeatable.
func IsHermetic(s *Source) bool {
	return !s.Test() && below(Hermetic, s.Dir()) && !below(Apart, s.Dir())
}

func below(trees []string, dir string) bool {
	for _, t := range trees {
		if dir == t || strings.HasPrefix(dir, t+"/") {
			return true
		}
	}
	return false
}

// Chance returns each use of a source of randomness in a file, except those in excused, whose words are "go",
// "channel", "select", or a qualified name like "time.Now"; "*" excuses the file.
func Chance(s *Source, excused []string) []Finding {
	allowed := map[string]bool{}
	for _, w := range excused {
		allowed[w] = true
	}
	if allowed["*"] {
		return nil
	}
	var found []Finding
	report := func(pos token.Pos, word, what string) {
		if !allowed[word] {
			found = append(found, s.at(pos, what))
		}
	}

	names := map[string]string{} // a file's name for a package → its import path
	for _, spec := range s.File.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has rejected it already
		}
		if random[imported] {
			report(spec.Pos(), imported, "imports "+imported)
		}
		if chance[imported] == nil {
			continue
		}
		switch {
		case spec.Name == nil:
			names[path.Base(imported)] = imported
		case spec.Name.Name == ".":
			report(spec.Pos(), ".", "imports "+imported+" with a dot, which hides what it uses")
		default:
			names[spec.Name.Name] = imported
		}
	}

	ast.Inspect(s.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n.Pos(), "go", "starts a goroutine")
		case *ast.ChanType:
			report(n.Pos(), "channel", "uses a channel type")
		case *ast.SendStmt:
			report(n.Pos(), "channel", "sends to a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				report(n.Pos(), "channel", "receives from a channel")
			}
		case *ast.SelectStmt:
			report(n.Pos(), "select", "selects over channels")
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			if imported := names[pkg.Name]; chance[imported][n.Sel.Name] {
				word := imported + "." + n.Sel.Name
				report(n.Pos(), word, "uses "+word)
			}
		}
		return true
	})
	return found
}

// AtStart returns the regular expressions that a package compiles when the program starts, whether they are needed or
// not: sync.OnceValue compiles them on demand.
func AtStart(s *Source) []Finding {
	var found []Finding
	for _, d := range s.File.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		ast.Inspect(g, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "regexp" && strings.HasPrefix(n.Sel.Name, "MustCompile") {
					found = append(found, s.at(n.Pos(), "a regular expression is compiled at the start of every program"))
				}
			}
			return true
		})
	}
	return found
}
