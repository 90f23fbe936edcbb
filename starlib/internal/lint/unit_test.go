package lint_test

import (
	"slices"
	"strings"
	"testing"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/starlib/internal/agents"
	"github.com/agentscript/agentscript/starlib/internal/compose"
	"github.com/agentscript/agentscript/starlib/internal/data"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/table"
)

// TestAUnitThatWasNotExecuted checks that the checks need only a parsed and resolved file, and no load. The values of
// its own names are unknown, and nothing is reported about them. Calls of builtins and of types that are certain are
// checked, and the capabilities that the file uses are found.
func TestAUnitThatWasNotExecuted(t *testing.T) {
	const text = `
helper = agent(prompt = "Help.")
Point = schema("A point.", x = int)

def main(q = str):
    parallel(len)
    truncate("a text", lenght = 3)
    n = len(fs.read("notes.md").x)
    n = "a text".len()
    helper(1, 2)
    return Point(y = n)
`
	file, found := source.Parse("flow.star", []byte(text), nil)
	if len(found) > 0 {
		t.Fatal(found)
	}
	rows := table.New(slices.Concat(data.Rows(), agents.Rows(), compose.Rows())).WithForms(compose.CallForms())
	s := &script.State{Session: flow.NewSession(), Methods: rows, Predeclared: starlark.StringDict{}}
	for _, b := range rows.Rows() {
		switch {
		case b.Make != nil:
			s.Predeclared[b.Name] = b.Make(s, rows)
		case b.Of == "":
			s.Predeclared[b.Name] = b.Callable()
		}
	}
	if err := resolve.File(file.Syntax(), s.Predeclared.Has, starlark.Universe.Has); err != nil {
		t.Fatal(err)
	}
	u := &script.Unit{Path: "flow.star", Shown: "flow.star", Text: []byte(text), File: file}
	s.Units, s.ByName = map[string]*script.Unit{u.Path: u}, map[string]*script.Unit{u.Shown: u}
	l := &lint.Linter{State: s, Table: rows, Heard: map[*flow.Node]bool{}, Ungranted: true}
	l.CheckCalls(u, true)
	l.FindUses(u)

	var got []string
	for _, d := range s.Session.Diagnostics() {
		got = append(got, string(d.Code)+" "+d.Message)
	}
	want := []string{"AS209 str has no .x", "AS209 str has no .len", "AS203 parallel needs the items to call len with", "AS202 truncate has no argument lenght"}
	if len(got) != len(want) {
		t.Fatalf("it says\n%s", strings.Join(got, "\n"))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("it says %q, want %q", got[i], want[i])
		}
	}
	if len(s.Uses) != 1 || s.Uses[0].Target != "notes.md" {
		t.Errorf("it touches %v", s.Uses)
	}
}
