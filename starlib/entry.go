package starlib

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/testcase"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Entry is the entry point of a run: a node, or a function with parameters.
type Entry struct {
	Name   string
	Node   *flow.Node        // takes the argument of the only parameter, if there is one; nil if Func is set
	Func   engine.Func       // takes the arguments in the order of Params; nil if Node is set
	Params []generable.Field // their guides come from field(...) or the docstring's Args section
	Doc    string            // doc of the function, without its Args section
}

// entry returns a function as the entry point of a run.
func entry(c *script.State, name string, fn *starlark.Function) (*Entry, *diag.Diagnostic) {
	at := c.NameSpan(fn)
	if fn.HasVarargs() || fn.HasKwargs() {
		return nil, &diag.Diagnostic{Code: diag.NoMain, Span: at, Message: fmt.Sprintf("def %s takes *args or **kwargs, which cannot be passed from outside", name),
			Help: []string{"name its parameters: def " + name + "(topic = str)"}}
	}
	params, unfit := value.ParametersOf(fn)
	for _, p := range params {
		if err := unfit[p.Name]; err != nil {
			return nil, &diag.Diagnostic{Code: diag.WrongArgument, Span: at, Message: fmt.Sprintf("the default of %s: %s", p.Name, err)}
		}
	}
	doc, _ := value.ParseDoc(fn.Doc())
	e := &Entry{Name: name, Doc: doc}
	run := &mainRun{Callback: &thread.Callback{Func: fn, State: c, About: thread.FuncInfoOf(fn), Code: diag.ScriptError}}
	for _, p := range params {
		f := p.Field
		if f.Type == nil {
			f.Type = generable.AnyT
		}
		f.Optional = f.Optional || p.Declared && f.Type.AcceptsNone() && f.Type.Kind != generable.AnyType
		e.Params = append(e.Params, f)
		run.keyword = append(run.keyword, p.Keyword)
	}
	run.params = e.Params
	e.Func = run
	return e, nil
}

// Bind orders arguments that are given by name, converts them and fills in defaults. The error is an [*engine.Error]
// that names every argument at fault.
func (e *Entry) Bind(given map[string]generable.Value) ([]generable.Value, error) {
	args := make([]generable.Value, len(e.Params))
	used := 0
	for i, p := range e.Params {
		v, ok := given[p.Name]
		switch {
		case ok:
			used++
			args[i] = v
		case p.Optional:
			args[i] = p.Default
		default:
			return nil, badInput("%s needs %s", e.Name, p.Name).WithHelp("%s: %s", p.Name, about(p))
		}
	}
	if used < len(given) {
		names := text.Each(e.Params, func(p generable.Field) string { return p.Name })
		for name := range given {
			if !slices.Contains(names, name) {
				help := cmp.Or(script.DidYouMean(name, names), "its parameters are "+script.Joined(names))
				return nil, badInput("%s has no parameter %s", e.Name, name).WithHelp("%s", help)
			}
		}
	}
	if run, ok := e.Func.(*mainRun); ok {
		return run.converted(args)
	}
	return args, nil
}

func about(p generable.Field) string {
	if p.Guide == "" {
		return p.Type.String()
	}
	return p.Type.String() + ", " + p.Guide
}

func badInput(format string, args ...any) *engine.Error {
	return engine.Errorf(engine.KindInput, diag.BadInput, format, args...)
}

// mainRun is a function of the script as the entry point of a run.
type mainRun struct {
	*thread.Callback
	params  []generable.Field
	keyword []bool
}

// Info describes the function as one whose parameters are all given.
func (m *mainRun) Info() engine.FuncInfo {
	info := m.About
	info.Params, info.Needs = len(m.params), len(m.params)
	return info
}

// converted converts arguments to the types of their parameters.
func (m *mainRun) converted(args []generable.Value) ([]generable.Value, error) {
	out := make([]generable.Value, len(args))
	for i, v := range args {
		p := m.params[i]
		if v.IsNull() && p.Optional && p.Default.IsNull() {
			continue
		}
		w, errs := p.Type.Convert(v)
		if errs != nil {
			return nil, badInput("%s: %w", p.Name, errs).WithHelp("%s: %s", p.Name, about(p))
		}
		if errs := generable.CheckLimits(&p, w); errs != nil { // these errors name the field
			return nil, badInput("%w", errs).WithHelp("%s: %s", p.Name, about(p))
		}
		out[i] = w
	}
	return out, nil
}

func (m *mainRun) Call(b engine.Branch, args []generable.Value) (generable.Value, error) {
	if len(args) != len(m.params) {
		return generable.Value{}, badInput("%s takes %s, got %s", m.About.Name, text.CountInWords(len(m.params), "argument"), text.CountInWords(len(args), "argument"))
	}
	args, err := m.converted(args)
	if err != nil {
		return generable.Value{}, err
	}
	s, err := thread.Enter(m.State, b)
	if err != nil {
		return generable.Value{}, err
	}
	defer s.Done()
	var positional starlark.Tuple
	var kwargs []starlark.Tuple
	for i, v := range args {
		if m.keyword[i] {
			kwargs = append(kwargs, starlark.Tuple{starlark.String(m.params[i].Name), value.FromData(v)})
		} else {
			positional = append(positional, value.FromData(v))
		}
	}
	return m.Result(s, positional, kwargs, nil)
}

// Test is a test of a file: a function whose name begins with test_ or todo_.
type Test struct {
	Name string
	Doc  string
	Pos  diag.Pos
	Todo bool // it is not run
}

// Tests returns the tests of the entry script in the order in which they are written.
func (m *Module) Tests() []Test {
	tests, _ := m.tests()
	return tests
}

// tests returns the tests, and what is wrong with functions that are named like tests.
func (m *Module) tests() ([]Test, diag.List) {
	var tests []Test
	var wrong diag.List
	for _, name := range m.Names() {
		todo := strings.HasPrefix(name, "todo_")
		fn, ok := m.entry.Globals[name].(*starlark.Function)
		if !ok || !todo && !strings.HasPrefix(name, "test_") || fn.Position().Filename() != m.entry.Shown {
			continue
		}
		if fn.NumParams() != 1 || fn.HasVarargs() || fn.HasKwargs() || fn.NumKwonlyParams() > 0 {
			wrong.Add(&diag.Diagnostic{Code: diag.BadTest, Span: m.c.NameSpan(fn), Message: fmt.Sprintf("%s takes %s, and a test takes one, t", name, text.CountInWords(fn.NumParams(), "parameter")),
				Help: []string{"write def " + name + "(t):"}})
			continue
		}
		doc, _ := value.ParseDoc(fn.Doc())
		tests = append(tests, Test{Name: name, Doc: doc, Pos: script.Position(fn.Position()), Todo: todo})
	}
	sorting.By(tests, func(a, b Test) int { return a.Pos.Line - b.Pos.Line })
	return tests, wrong
}

// TestEntry returns a test as the entry point of a run: the function with the given name, called with t.
func (m *Module) TestEntry(name string, t double.Test) (*Entry, *diag.Diagnostic) {
	fn, ok := m.entry.Globals[name].(*starlark.Function)
	if !ok {
		_, missing := m.Entry(name)
		return nil, missing
	}
	call := &thread.Callback{Func: fn, State: m.c, About: thread.FuncInfoOf(fn), Code: diag.ScriptError}
	call.About.Params, call.About.Needs = 0, 0
	return &Entry{Name: name, Func: &testRun{call, &testcase.T{Test: t, State: m.c}}}, nil
}

// testRun is a test as the entry point of a run.
type testRun struct {
	*thread.Callback
	t *testcase.T
}

func (r *testRun) Call(b engine.Branch, _ []generable.Value) (generable.Value, error) {
	s, err := thread.Enter(r.State, b)
	if err != nil {
		return generable.Value{}, err
	}
	defer s.Done()
	return r.Result(s, starlark.Tuple{r.t}, nil, nil)
}
