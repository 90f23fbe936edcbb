package testcase

import (
	"fmt"
	"regexp"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

var (
	got     = table.Param{Name: "got", Kind: table.AnyKind, Doc: "the actual value"}
	want    = table.Param{Name: "want", Kind: table.AnyKind, Doc: "the expected value"}
	about   = table.Param{Name: "message", Kind: table.StrKind, Default: "None", Doc: "what is tested, for the report"}
	anyCall = table.Naming(table.StrKind, table.AgentName, table.ToolName, table.OperationName)
	ofParam = table.Param{Name: "name", Kind: anyCall, Doc: `the agent, "tool:search" or "search" for a tool, or an operation such as "http.get"`}
)

// assertRows returns the methods that assert what a test expects.
func assertRows() []table.Builtin {
	return []table.Builtin{
		row("eq", "None", compareFunc(true), "Fails the test unless two values are equal, and shows where they differ.", got, want, about),
		row("ne", "None", compareFunc(false), "Fails the test if two values are equal.", got, want, about),
		row("true", "None", truthFunc(true), "Fails the test unless a condition is true.", table.Param{Name: "condition", Kind: table.AnyKind, Doc: "the condition"}, about),
		row("false", "None", truthFunc(false), "Fails the test unless a condition is false.", table.Param{Name: "condition", Kind: table.AnyKind, Doc: "the condition"}, about),
		row("contains", "None", containsFunc, "Fails the test unless a text, list or dict contains something.", got,
			table.Param{Name: "item", Kind: table.AnyKind, Doc: "a part of the text, an item of the list, or a key of the dict"}, about),
		row("matches", "None", matchesFunc, "Fails the test unless a regular expression matches some part of a text.",
			table.Param{Name: "got", Kind: table.StrKind, Doc: "the text"}, table.Param{Name: "pattern", Kind: table.StrKind, Doc: "the expression, in the syntax of RE2"}, about),
		row("failed", "Failure", failedFunc, "Fails the test unless an attempt failed, and returns the error: t.failed(attempt(main, x), kind = \"budget\").",
			table.Param{Name: "outcome", Kind: table.AnyKind, Doc: "what attempt(...) returned"},
			table.Opt("kind", table.StrKind, "None", "the kind of the error"), table.Opt("code", table.StrKind, "None", "its code"),
			table.Opt("message", table.StrKind, "None", "a part of its message")),
		row("calls", "list[TestCall]", callsFunc, "Lists the calls of an agent's model, a tool or an operation that have been made so far. Tool calls that were denied or had bad arguments are not included: see t.denied.", ofParam),
		row("request", "TestCall", requestFunc, "Returns one call of an agent's model, a tool or an operation.", ofParam,
			table.Param{Name: "index", Kind: table.IntKind, Default: "0", Doc: "which of the calls; -1 is the last"}),
		row("called", "None", calledFunc, "Fails the test unless something was called. A tool was called if it ran or if t.tool answered for it.", ofParam,
			table.Opt("times", table.LeastKind(0, diag.WrongArgument), "None", "the exact number of times; by default at least once")),
		row("never", "None", neverFunc, "Fails the test if something was called.", ofParam),
		row("denied", "None", deniedFunc, "Fails the test unless a model requested calls of a tool that were not made because a rule or a person denied them or because their arguments did not fit.",
			table.Param{Name: "name", Kind: table.Naming(table.StrKind, table.ToolName), Doc: `the tool; "files.read" for a server's tool`},
			table.Opt("times", table.LeastKind(0, diag.WrongArgument), "None", "the exact number of times; by default at least once")),
		row("order", "None", orderFunc, "Fails the test unless the first calls of these names were made in the order given.",
			table.Param{Name: "names", Kind: anyCall, Shape: table.Variadic, Doc: "names as for t.calls, in the expected order"}),
		row("events", "list[str]", eventsFunc, "Lists what has happened so far: a line for each start and end of a node, a call and a tool, without ids and times."),
		row("snapshot", "None", snapshotFunc, "Compares a value with the one that --update stored next to the test file.", got,
			table.Param{Name: "name", Kind: table.StrKind, Default: "None", Doc: "its name in the test; without a name, snapshots are numbered"}),
		row("skip", "None", skipFunc, "Ends the test as skipped.", table.Param{Name: "reason", Kind: table.StrKind, Doc: "why"}),
	}
}

// assertion returns the failure of an assertion at its call, prefixed by the test's message.
func assertion(c *table.Call, lines string, format string, args ...any) (starlark.Value, error) {
	e := double.Assertion(format, args...)
	for i := range c.Row.Params {
		if c.Row.Params[i].Name == "message" && c.Row.Name != "failed" && c.Has("message") {
			e.Message = c.Str("message") + ": " + e.Message
		}
	}
	if lines = strings.TrimRight(lines, "\n"); lines != "" {
		e.Notes = strings.Split(lines, "\n")
	}
	return reported(c, e)
}

// shown returns a value for a message, with its middle left out if it is long.
func shown(v starlark.Value) string {
	if s, ok := v.(starlark.String); ok {
		return text.Quote(text.ClipMiddle(string(s), longestShown))
	}
	if !printable(v) {
		return value.Describe(v) + " (too large to show)"
	}
	return text.ClipMiddle(v.String(), longestShown)
}

const (
	longestShown = 200
	mostCompared = 1 << 20 // bytes of the text of a value whose lines are compared
)

// printable reports whether the text of a value has a reasonable size: a few items of nested lists can produce an
// endless one.
func printable(v starlark.Value) bool {
	n, err := value.Printed(v, mostCompared)
	return err == nil && n <= mostCompared
}

func compareFunc(equal bool) func(*table.Call, *T) (starlark.Value, error) {
	return func(c *table.Call, t *T) (starlark.Value, error) {
		got, want := c.Arg("got"), c.Arg("want")
		same, err := starlark.Equal(got, want)
		switch {
		case err != nil:
			return nil, err
		case same == equal:
			return starlark.None, nil
		case !equal:
			return assertion(c, "", "got %s, want another value", shown(got))
		}
		lines := ""
		if !printable(got) || !printable(want) {
			return assertion(c, "", "got %s, want %s", shown(got), shown(want))
		}
		if a, err := value.ToData(got); err == nil {
			if b, err := value.ToData(want); err == nil {
				lines = t.Test.Different(a, b)
			}
		}
		return assertion(c, lines, "got %s, want %s", shown(got), shown(want))
	}
}

func truthFunc(want bool) func(*table.Call, *T) (starlark.Value, error) {
	return func(c *table.Call, _ *T) (starlark.Value, error) {
		v := c.Arg("condition")
		switch v.(type) {
		case *value.Node, *value.Type, *T, *starlark.Function, *starlark.Builtin:
			return nil, script.Errorf(diag.WrongArgument, "%s has no truth value", value.Describe(v)).WithHelp("compare a value of it: t.true(x.score > 3)")
		}
		if bool(v.Truth()) == want {
			return starlark.None, nil
		}
		return assertion(c, "", "got %s, want a value that is %t", shown(v), want)
	}
}

func containsFunc(c *table.Call, _ *T) (starlark.Value, error) {
	whole, item := c.Arg("got"), c.Arg("item")
	in, err := starlark.Binary(syntax.IN, item, whole)
	if err != nil {
		return nil, script.Errorf(diag.WrongArgument, "%s cannot be in %s", value.Describe(item), value.Describe(whole)).WithHelp("t.contains looks for a text in a text, an item in a list, or a key in a dict")
	}
	if in.Truth() {
		return starlark.None, nil
	}
	return assertion(c, "", "%s is not in %s", shown(item), shown(whole))
}

func matchesFunc(c *table.Call, _ *T) (starlark.Value, error) {
	re, err := regexp.Compile(c.Str("pattern"))
	if err != nil {
		return nil, script.Errorf(diag.WrongArgument, "the pattern cannot be read: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if re.MatchString(c.Str("got")) {
		return starlark.None, nil
	}
	return assertion(c, "", "%s does not match %s", shown(c.Arg("got")), re)
}

func failedFunc(c *table.Call, _ *T) (starlark.Value, error) {
	outcome := c.Arg("outcome")
	var failure starlark.Value
	if attempt, ok := outcome.(*value.Record); ok {
		failure, _ = attempt.Attr("error")
	}
	of, failed := failure.(*value.Record)
	if failure != starlark.None && !(failed && of.Type() == engine.FailureType.Name) {
		return nil, script.Errorf(diag.WrongArgument, "t.failed takes what attempt(...) returned, got %s", value.Describe(outcome)).WithHelp("write t.failed(attempt(f, x)): without attempt a failure ends the test")
	}
	if failure == starlark.None {
		return assertion(c, "", "it did not fail: %s", shown(outcome))
	}
	for _, name := range []string{"kind", "code", "message"} {
		if !c.Has(name) {
			continue
		}
		has, err := of.Attr(name)
		if err != nil {
			return nil, err
		}
		text, _ := starlark.AsString(has)
		if text == c.Str(name) || name == "message" && strings.Contains(text, c.Str(name)) {
			continue
		}
		return assertion(c, "", "the %s of the error is %s, want %s", name, shown(has), shown(c.Arg(name)))
	}
	return failure, nil
}

// called lists the calls of a model or tool.
func called(c *table.Call, t *T, name string) (*generable.List, *engine.Error) {
	v, e := t.Test.Calls(name)
	if e != nil {
		return nil, e
	}
	l, _ := v.AsList()
	return l, nil
}

func callsFunc(c *table.Call, t *T) (starlark.Value, error) {
	v, e := t.Test.Calls(c.Str("name"))
	if e != nil {
		return reported(c, e)
	}
	return value.FromData(v), nil
}

func requestFunc(c *table.Call, t *T) (starlark.Value, error) {
	l, e := called(c, t, c.Str("name"))
	if e != nil {
		return reported(c, e)
	}
	i := c.Int("index", 0)
	if i < 0 {
		i += l.Len()
	}
	if i < 0 || i >= l.Len() {
		return assertion(c, "", "%s %s, and call %d is asked for", c.Str("name"), wasCalled(l.Len()), c.Int("index", 0))
	}
	return value.FromData(l.At(i)), nil
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func wasCalled(n int) string {
	if n == 0 {
		return "was never called"
	}
	return "was called " + times(n)
}

func calledFunc(c *table.Call, t *T) (starlark.Value, error) {
	l, e := called(c, t, c.Str("name"))
	switch {
	case e != nil:
		return reported(c, e)
	case c.Has("times") && l.Len() != c.Int("times", 0):
		return assertion(c, "", "%s %s, want %s", c.Str("name"), wasCalled(l.Len()), times(c.Int("times", 0)))
	case l.Len() == 0 && !c.Has("times"):
		return assertion(c, "", "%s was never called", c.Str("name"))
	}
	return starlark.None, nil
}

func neverFunc(c *table.Call, t *T) (starlark.Value, error) {
	l, e := called(c, t, c.Str("name"))
	switch {
	case e != nil:
		return reported(c, e)
	case l.Len() > 0:
		return assertion(c, "", "%s was called %s, want never", c.Str("name"), times(l.Len()))
	}
	return starlark.None, nil
}

func deniedFunc(c *table.Call, t *T) (starlark.Value, error) {
	n, e := t.Test.Denied(c.Str("name"))
	if e != nil {
		return reported(c, e)
	}
	want := c.Int("times", 0)
	if n == want && c.Has("times") || n > 0 && !c.Has("times") {
		return starlark.None, nil
	}
	was := "was denied " + times(n)
	if n == 0 {
		was = "was never denied"
	}
	if c.Has("times") {
		was += ", want " + times(want)
	}
	return assertion(c, "", "a call of %s %s", c.Str("name"), was)
}

func orderFunc(c *table.Call, t *T) (starlark.Value, error) {
	var names []string
	for _, v := range c.Rest() {
		name, _ := starlark.AsString(v)
		names = append(names, name)
	}
	made, e := t.Test.Order(names...)
	if e != nil {
		return reported(c, e)
	}
	for i, name := range names {
		if len(made) == 0 {
			return assertion(c, "", "none of %s was called", strings.Join(names, ", "))
		}
		if i >= len(made) || made[i] != name {
			return assertion(c, "", "the order of the first calls is %s, want %s", strings.Join(made, ", "), strings.Join(names, ", "))
		}
	}
	return starlark.None, nil
}

func eventsFunc(_ *table.Call, t *T) (starlark.Value, error) {
	return value.Texts(t.Test.Events()), nil
}

func snapshotFunc(c *table.Call, t *T) (starlark.Value, error) {
	v := c.Arg("got")
	if data, err := value.ToData(v); err == nil {
		return reported(c, t.Test.Snapshot(c.Str("name"), double.Lines(data)))
	}
	shown, err := value.PlainText(v)
	if err != nil {
		return nil, err
	}
	return reported(c, t.Test.Snapshot(c.Str("name"), shown))
}

func skipFunc(c *table.Call, t *T) (starlark.Value, error) {
	t.Test.Skip(c.Str("reason"))
	return reported(c, double.Skipped(c.Str("reason")))
}
