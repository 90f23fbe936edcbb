package agenttest

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
	"github.com/agentscript/agentscript/internal/diagnose"
	"github.com/agentscript/agentscript/internal/testrun"
)

// Test is a test of a flow in Go. Its methods are those of t in a script. A method that cannot be carried out, for
// example because it names an agent that the flow does not have, ends the Go test.
type Test struct {
	tb testing.TB
	of testrun.Case
	in diag.Sources
}

// New returns a test of a module. It ends with the Go test: answers that are left over fail the test.
func New(tb testing.TB, m *agentscript.Module) *Test {
	w := &Test{tb: tb, of: testrun.NewCase(m, tb.Name()), in: m.Sources()}
	tb.Cleanup(func() {
		if err := w.of.Close(); err != nil && !tb.Failed() {
			tb.Error(rendered(diag.List{diagnose.Error(err)}, w.in))
		}
	})
	return w
}

// Options returns the options for a run that the test answers, followed by more:
//
//	mod.Start(ctx, w.Options(agentscript.Input("text"))...)
func (w *Test) Options(more ...agentscript.RunOption) []agentscript.RunOption {
	return append(w.of.Options(), more...)
}

// Answer is an answer of a model with its circumstances. A plain value is also an answer.
type Answer struct {
	Value  any           // a string is the text; everything else is sent as JSON
	Calls  []ToolCall    // of tools, instead of a value
	When   string        // answers only if the last message of the user contains this text
	Delay  time.Duration // before the answer
	Repeat bool          // answers any number of calls
}

// ToolCall is a model's call of a tool. A ToolCall alone is also an answer.
type ToolCall struct {
	Name string
	Args any // a value whose JSON form is an object
}

// Failure is a failed call of a model or a tool.
type Failure = double.Failure

// Reply answers calls of an agent's model, in order and each once. An answer is a string, a value with a JSON form, a
// [ToolCall], an [Answer], or a [Failure] for a call that must fail.
func (w *Test) Reply(agent string, answers ...any) {
	w.tb.Helper()
	at := caller()
	var all []double.Answer
	for _, v := range answers {
		a := double.Answer{At: at}
		switch v := v.(type) {
		case Failure:
			a.Fail = &v
		case ToolCall:
			a.Calls = w.calls(v)
		case Answer:
			a.When, a.Delay, a.Repeat, a.Calls = v.When, v.Delay, v.Repeat, w.calls(v.Calls...)
			if a.Calls == nil {
				a.Value = w.value("the answer", v.Value)
			}
		default:
			a.Value = w.value("the answer", v)
		}
		all = append(all, a)
	}
	w.must(w.of.Reply(agent, all...))
}

// Tool answers calls of a tool, of an operation such as "http.get", or of a tool of a server, "files.read": in order,
// and repeating the last result. A result is a value with a JSON form, an error, a [Failure], or a func(args
// map[string]any) (any, error).
func (w *Test) Tool(name string, results ...any) {
	w.tb.Helper()
	var all []double.Result
	for _, v := range results {
		var r double.Result
		switch v := v.(type) {
		case Failure:
			r.Fail = &v
		case error:
			r.Fail = &Failure{Kind: engine.KindTool, Message: v.Error()}
		case func(map[string]any) (any, error):
			r.Func = func(args generable.Value) (generable.Value, error) {
				given, err := govalue.To[map[string]any](args)
				if err != nil {
					return generable.Value{}, err
				}
				out, err := v(given)
				if err != nil {
					return generable.Value{}, engine.Errorf(engine.KindTool, diag.ToolFailed, "%w", err)
				}
				return govalue.From(out)
			}
		default:
			r.Value = w.value("the result", v)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		all = []double.Result{{}}
	}
	w.must(w.of.Tool(name, caller(), all...))
}

// Approve decides about calls of a tool for which rules require approval, or about the script's own questions if tool
// is "".
func (w *Test) Approve(tool string, decisions ...engine.Decision) {
	w.tb.Helper()
	if len(decisions) == 0 {
		decisions = []engine.Decision{{Approved: true}}
	}
	w.must(w.of.Decide(tool, caller(), decisions...))
}

// Serve sets the tools that an MCP server lists, so that no server is started. [Test.Tool] answers their calls.
func (w *Test) Serve(server string, tools ...double.Served) {
	w.tb.Helper()
	w.must(w.of.Serve(server, caller(), tools))
}

// Clock sets the time at which the test begins: now() in the flow returns it plus the virtual time that has passed
// since then. Without Clock, virtual time begins in 1970.
func (w *Test) Clock(at time.Time) { w.of.Clock(at) }

// Replay answers what the test does not answer itself from a record, whose file is below the directory of the test.
func (w *Test) Replay(file string) {
	w.tb.Helper()
	w.must(w.of.Replay(filepath.ToSlash(file)))
}

// Call is a call that was made.
type Call struct {
	Name     string         `json:"name"`
	Path     string         `json:"path"`
	Model    string         `json:"model"`
	System   string         `json:"system"`
	User     string         `json:"user"` // the last message of the user
	Messages []Message      `json:"messages"`
	Tools    []string       `json:"tools"`
	Args     map[string]any `json:"args"` // of a tool
	Answer   any            `json:"answer"`
	Error    *string        `json:"error"` // why it failed
	Tokens   int            `json:"tokens"`
}

// Message is one message of a call.
type Message struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Calls lists the calls of an agent's model, a tool or an operation, in the order in which they were made.
func (w *Test) Calls(of string) []Call {
	w.tb.Helper()
	v, failure := w.of.Calls(of)
	w.must(failure)
	calls, err := govalue.To[[]Call](v)
	if err != nil {
		w.tb.Fatalf("agenttest: the calls of %s: %v", of, err)
	}
	return calls
}

// Called fails the test unless something was called the given number of times.
func (w *Test) Called(of string, times int) {
	w.tb.Helper()
	if n := len(w.Calls(of)); n != times {
		w.tb.Errorf("%s was called %d times, want %d", of, n, times)
	}
}

// Never fails the test if something was called.
func (w *Test) Never(of string) {
	w.tb.Helper()
	w.Called(of, 0)
}

// Order fails the test unless the first calls of the given names were made in this order.
func (w *Test) Order(names ...string) {
	w.tb.Helper()
	made, failure := w.of.Order(names...)
	w.must(failure)
	if !slices.Equal(made, names) {
		w.tb.Errorf("the order of the first calls is %s, want %s", strings.Join(made, ", "), strings.Join(names, ", "))
	}
}

// must ends the test if there is a failure.
func (w *Test) must(err *engine.Error) {
	if err != nil {
		w.tb.Helper()
		w.tb.Fatal(rendered(diag.List{diagnose.Error(err)}, w.in))
	}
}

func (w *Test) value(what string, v any) generable.Value {
	w.tb.Helper()
	out, err := govalue.From(v)
	if err != nil {
		w.tb.Fatalf("agenttest: %s has no JSON form: %v", what, err)
	}
	return out
}

func (w *Test) calls(calls ...ToolCall) []double.ToolCall {
	w.tb.Helper()
	var all []double.ToolCall
	for _, c := range calls {
		args := generable.NewMap(0).Value()
		if c.Args != nil {
			args = w.value("the arguments of "+c.Name, c.Args)
		}
		all = append(all, double.ToolCall{Name: c.Name, Args: args})
	}
	return all
}

// caller returns the line of the test that calls a method.
func caller() diag.Pos {
	_, file, line, ok := runtime.Caller(2)
	if !ok {
		return diag.Pos{}
	}
	return diag.Pos{File: filepath.Base(file), Line: line, Col: 1}
}
