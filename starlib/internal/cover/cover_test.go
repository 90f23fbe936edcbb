package cover_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/starlib/internal/bounds"
	"github.com/agentscript/agentscript/starlib/internal/cover"
)

var options = &syntax.FileOptions{While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true, Set: true}

// world is what a generated script calls: c() returns the next bit of a fixed sequence and ends the script after a
// number of calls; l() returns a list that contains 1 or is empty.
type world struct {
	bits *rand.Rand
	left int
	log  []string
	hits map[int]int64
}

func (w *world) env() starlark.StringDict {
	env := bounds.Guards(64 << 20)
	bit := func() (bool, error) {
		if w.left--; w.left < 0 {
			return false, errors.New("enough")
		}
		b := w.bits.IntN(2) == 0
		w.log = append(w.log, fmt.Sprint(b))
		return b, nil
	}
	env["c"] = starlark.NewBuiltin("c", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		b, err := bit()
		return starlark.Bool(b), err
	})
	env["l"] = starlark.NewBuiltin("l", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		b, err := bit()
		if b {
			return starlark.NewList([]starlark.Value{starlark.MakeInt(1)}), err
		}
		return starlark.NewList(nil), err
	})
	env["hit"] = starlark.NewBuiltin("hit", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		n, _ := starlark.AsInt32(args[0])
		w.hits[n]++
		return starlark.False, nil
	})
	return env
}

// outcome is everything observable of an execution.
type outcome struct {
	steps  uint64
	checks string // the steps at which the budget was checked
	log    string
	failed string // with its backtrace
	hits   map[int]int64
	counts []cover.Place
	doc    string
}

// execute runs a script until it ends or has made limit steps; 0 is no limit.
func execute(t testing.TB, src string, covered bool, limit uint64, seed uint64) outcome {
	t.Helper()
	tree, err := options.Parse("x.star", src, 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	w := &world{bits: rand.New(rand.NewPCG(seed, 7)), left: 150, hits: map[int]int64{}}
	env := w.env()
	counters := &cover.Counters{}
	undo := bounds.Rewrite(tree, starlark.Universe.Has)
	prog, err := starlark.FileProgram(tree, env.Has)
	undo()
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if covered {
		file := counters.Add(tree)
		undo := bounds.Rewrite(tree, starlark.Universe.Has)
		probes, unprobe := file.Insert(tree, func(name string) bool { return starlark.Universe.Has(name) })
		maps.Copy(env, probes)
		probed, err := starlark.FileProgram(tree, env.Has)
		unprobe()
		undo()
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if prog, err = file.Aligned(prog, probed); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
	}
	var o outcome
	thread := &starlark.Thread{}
	globals, err := prog.Init(thread, env)
	main := globals["main"]
	if main != nil {
		thread = &starlark.Thread{}
	}
	if limit > 0 {
		thread.SetMaxExecutionSteps(limit)
		thread.OnMaxSteps = func(thread *starlark.Thread) {
			o.checks += fmt.Sprintf("%d in %d calls, ", thread.Steps, thread.CallStackDepth())
			thread.Cancel("limit")
		}
	}
	if main != nil {
		_, err = starlark.Call(thread, main, nil, nil)
	}
	bounds.Forget(globals)
	cover.Forget(globals)
	o.steps, o.log, o.hits, o.counts = thread.Steps, strings.Join(w.log, " "), w.hits, counters.Places(false, nil)
	if err != nil {
		o.failed = err.Error()
		var e *starlark.EvalError
		if errors.As(err, &e) {
			o.failed = e.Backtrace()
		}
	}
	for _, name := range globals.Keys() {
		if strings.Contains(name, " ") {
			t.Errorf("the global %q is left", name)
		}
		if fn, ok := globals[name].(*starlark.Function); ok {
			o.doc += fn.Doc()
		}
	}
	return o
}

// script is a generator of scripts. Each statement, arm, body and element has a number; with hits, the script calls
// hit(number) there.
type script struct {
	*strings.Builder
	random *rand.Rand
	hits   bool
	n      int
	fuel   int
}

func generate(seed uint64, hits bool) string {
	s := &script{Builder: &strings.Builder{}, random: rand.New(rand.NewPCG(seed, 1)), hits: hits, fuel: 40}
	for i := range 3 {
		s.place("")
		s.line("", fmt.Sprintf("x%d = %d", i, i))
	}
	if seed%2 == 0 {
		s.place("")
		s.line("", "def main():")
		s.block("    ", 4, true, false)
	} else {
		s.block("", 4, false, false)
	}
	return s.String()
}

func (s *script) line(indent, text string) { s.WriteString(indent + text + "\n") }

// place numbers the place of the next statement.
func (s *script) place(indent string) {
	if s.hits {
		s.line(indent, fmt.Sprintf("hit(%d)", s.n))
	}
	s.n++
}

// counted returns an expression whose evaluation is counted.
func (s *script) counted(make func() string) string {
	n := s.n
	s.n++
	e := make()
	if s.hits {
		return fmt.Sprintf("(hit(%d) or %s)", n, e)
	}
	return e
}

func (s *script) block(indent string, most int, function, loop bool) {
	for range 1 + s.random.IntN(most) {
		s.fuel--
		s.stmt(indent, function, loop)
	}
}

func (s *script) stmt(indent string, function, loop bool) {
	kind := s.random.IntN(16)
	if s.fuel <= 0 && kind > 7 {
		kind = s.random.IntN(8)
	}
	inner := indent + "    "
	name := fmt.Sprintf("x%d", s.random.IntN(3))
	switch {
	case kind <= 1:
		s.place(indent)
		s.line(indent, "pass")
	case kind == 2 && loop:
		s.place(indent)
		s.line(indent, "break")
	case kind <= 4 && loop:
		s.place(indent)
		s.line(indent, "continue")
	case kind == 5 && function:
		s.place(indent)
		s.line(indent, "return "+s.expr(2))
	case kind == 6:
		s.line(indent, `"a comment"`)
	case kind <= 8:
		s.place(indent)
		s.line(indent, name+[]string{" = ", " = ", " = ", " += ", " *= "}[s.random.IntN(5)]+s.expr(3))
	case kind <= 11:
		s.place(indent)
		s.line(indent, "if "+s.cond()+":")
		s.block(inner, 2, function, loop)
		if s.random.IntN(3) == 0 {
			s.line(indent, "else:")
			s.block(inner, 2, function, loop)
		}
	case kind <= 13:
		s.place(indent)
		s.line(indent, "while "+s.cond()+":")
		s.block(inner, 2, function, true)
	case kind == 14:
		s.place(indent)
		s.line(indent, fmt.Sprintf("for %s in [1, %s]:", name, s.expr(1)))
		s.block(inner, 3, function, true)
	default:
		s.place(indent)
		f := fmt.Sprintf("f%d", s.n)
		s.line(indent, "def "+f+"(p = "+s.expr(1)+"):")
		s.line(inner, `"documented"`)
		s.block(inner, 4, true, false)
		s.place(indent)
		s.line(indent, name+" = "+f+"()")
	}
}

// cond returns a condition, of a form that the compiler splits or does not split.
func (s *script) cond() string {
	leaf := func() string {
		return []string{"c()", "c()", "not c()", "1 in l()", "1 not in l()", "(c() and c())", "not (c() or c())", "not not c()", "not 1 not in l()"}[s.random.IntN(9)]
	}
	switch s.random.IntN(6) {
	case 0:
		return leaf() + " and " + leaf()
	case 1:
		return leaf() + " or " + leaf()
	case 2:
		return leaf() + " or " + leaf() + " and " + leaf()
	case 3:
		return "[" + s.counted(func() string { return "1" }) + " for _ in [1, 2] if c()]"
	}
	return leaf()
}

func (s *script) expr(depth int) string {
	if depth == 0 {
		return []string{"1", "None", `"a"`, "c()", "len([2])", "[3]", "True", "x0", "x1 + x2", "x2 * 2", `"%s" % x0`, "x0 == x1"}[s.random.IntN(12)]
	}
	depth--
	switch s.random.IntN(14) {
	case 0:
		yes := s.counted(func() string { return s.expr(depth) })
		condition := s.cond()
		return "(" + yes + " if " + condition + " else " + s.counted(func() string { return s.expr(depth) }) + ")"
	case 1:
		return "(lambda: " + s.counted(func() string { return s.expr(depth) }) + ")()"
	case 2:
		return "[" + s.counted(func() string { return s.expr(depth) }) + " for _ in [4, 5]]"
	case 3:
		return "len({" + s.counted(func() string { return "c()" }) + ": 1 for _ in [4, 5, 6] if c()})"
	case 4:
		return "[" + s.expr(depth) + "] + [" + s.expr(depth) + "]"
	case 5:
		return "(" + s.expr(depth) + " or " + s.expr(depth) + ")"
	case 6:
		return "(" + s.expr(depth) + " and not " + s.expr(depth) + ")"
	case 7:
		return "dict(a = " + s.expr(depth) + ", **{\"b\": " + s.expr(depth) + "})"
	case 8:
		return "[" + s.expr(depth) + ", 2, 3][c():][0]"
	case 9:
		return "len([" + s.counted(func() string { return s.expr(depth) }) + " for a in [1, 2] if c() or c() for b in [a, 3] if not c()])"
	}
	return s.expr(0)
}

// TestSameSteps checks that a covered script makes the same steps as the plain one, and that after any number of steps
// it has done the same and reports the same. Only the line may differ, if the script is stopped between a condition and
// a pass, break or continue.
func TestSameSteps(t *testing.T) {
	scripts := 400
	if testing.Short() {
		scripts = 60
	}
	stops, moved := 0, 0
	for seed := range uint64(scripts) {
		src := generate(seed, false)
		plain, covered := execute(t, src, false, 0, seed), execute(t, src, true, 0, seed)
		if plain.steps != covered.steps || plain.failed != covered.failed || plain.log != covered.log || plain.doc != covered.doc {
			t.Fatalf("seed %d: plain %d steps, covered %d\n%s\n%s\n%s", seed, plain.steps, covered.steps, plain.failed, covered.failed, src)
		}
		if seed%2 != 0 {
			continue // the probes are stored before the budget is checked for the first time
		}
		for limit := uint64(1); limit <= plain.steps; limit++ {
			plain, covered := execute(t, src, false, limit, seed), execute(t, src, true, limit, seed)
			stops++
			if plain.failed != covered.failed {
				moved++
			}
			if lastLine(plain.failed) != lastLine(covered.failed) || plain.log != covered.log || plain.checks != covered.checks {
				t.Fatalf("seed %d, stopped at %d: plain %s\n%s\n%s\ncovered %s\n%s\n%s\n%s", seed, limit,
					plain.checks, plain.log, plain.failed, covered.checks, covered.log, covered.failed, src)
			}
		}
	}
	if t.Logf("%d of %d stops have another line", moved, stops); moved*100 > stops {
		t.Error("those are too many")
	}
}

func lastLine(s string) string { return s[strings.LastIndex(s, "\n")+1:] }

// TestCounts checks that places have the counts that the script itself counts.
func TestCounts(t *testing.T) {
	scripts := uint64(3000)
	if testing.Short() {
		scripts = 300
	}
	for seed := range scripts {
		src := generate(seed, false)
		covered, counted := execute(t, src, true, 0, seed), execute(t, generate(seed, true), false, 0, seed)
		var want, got []string
		for i, p := range covered.counts {
			want = append(want, fmt.Sprintf("%v %s %d", p.Pos, p.Kind, counted.hits[i]))
			got = append(got, fmt.Sprintf("%v %s %d", p.Pos, p.Kind, p.Count))
		}
		if a, b := strings.Join(want, "\n"), strings.Join(got, "\n"); a != b {
			t.Fatalf("seed %d:\n%s\nwant\n%s\ngot\n%s", seed, src, a, b)
		}
	}
}
