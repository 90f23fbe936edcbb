package testcase

import (
	"strconv"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
)

// Rows returns the methods of t.
func Rows() []table.Builtin {
	return append(append(answerRows(), assertRows()...), subtestRows()...)
}

func subtestRows() []table.Builtin {
	return []table.Builtin{
		row("test", "None", testFunc, "Runs a function as a test inside this one. If it fails, the others still run. What it prepares is for it alone, and its t sees only its own calls.",
			table.Param{Name: "name", Kind: table.StrKind, Doc: "its name"},
			table.Param{Name: "f", Kind: table.CallKind, Doc: "takes its own t"}),
		row("each", "None", eachFunc, "Runs a function as a test for each row of a table, as t.test does.",
			table.Param{Name: "rows", Kind: table.AnyOf(table.DictKind, table.ListKind), Doc: "a dict of rows by name, or a list; a row that is a dict or record with a name is named after it"},
			table.Param{Name: "f", Kind: table.CallKind, Doc: "takes its own t and the row"}),
	}
}

func testFunc(c *table.Call, t *T) (starlark.Value, error) {
	return starlark.None, within(c, t, c.Str("name"), c.Arg("f"))
}

func eachFunc(c *table.Call, t *T) (starlark.Value, error) {
	if starlark.Len(c.Arg("rows")) == 0 {
		return nil, script.Errorf(diag.BadTest, "t.each has no rows, so it tests nothing").WithHelp("add a row, or skip the test: t.skip(\"no rows yet\")")
	}
	if rows, ok := c.Arg("rows").(*starlark.Dict); ok {
		for _, item := range rows.Items() {
			name, ok := starlark.AsString(item[0])
			if !ok {
				name = shown(item[0])
			}
			if err := within(c, t, name, c.Arg("f"), item[1]); err != nil {
				return nil, err
			}
		}
		return starlark.None, nil
	}
	for i, row := range table.Sequence(c.Arg("rows")) {
		if err := within(c, t, rowName(i, row), c.Arg("f"), row); err != nil {
			return nil, err
		}
	}
	return starlark.None, nil
}

// rowName returns the name of a row, or its number if it has none.
func rowName(i int, row starlark.Value) string {
	var v starlark.Value
	switch row := row.(type) {
	case *starlark.Dict:
		v, _, _ = row.Get(starlark.String("name"))
	case starlark.HasAttrs:
		v, _ = row.Attr("name")
	}
	if name, ok := v.(starlark.String); ok && name != "" {
		return string(name)
	}
	return strconv.Itoa(i)
}

// within runs a function as a test inside another test. A failure in it belongs to the inner test. An error that ends
// the run, or must not be handled, is returned.
func within(c *table.Call, t *T, name string, f starlark.Value, args ...starlark.Value) error {
	if name == "" {
		return script.Errorf(diag.BadTest, "a test inside of %s has no name", t.Test.Name()).WithHelp("name it: t.test(\"empty input\", f)")
	}
	inner, runs := t.Test.Sub(name, c.FuncSpan().Pos)
	if !runs {
		return nil
	}
	_, err := starlark.Call(c.Thread(), f, append(starlark.Tuple{&T{Test: inner, State: t.State}}, args...), nil)
	if err == nil {
		inner.End(nil)
		return nil
	}
	failure := c.Env.Thread.Failure(err, diag.ScriptError)
	inner.End(failure)
	if engine.IsControl(failure) || ends(failure) {
		return failure
	}
	return nil
}

// ends reports whether a failure ends the whole run.
func ends(err error) bool {
	e := script.EngineError(err)
	return e != nil && (e.OfRun || e.Kind == engine.KindCancelled || e.Kind == engine.KindPanic)
}
