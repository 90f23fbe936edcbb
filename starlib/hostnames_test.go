package starlib_test

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// TestHostNames: what a host adds has names of its own, and the message says which has not.
func TestHostNames(t *testing.T) {
	row := func(name, of string) starlib.Builtin {
		return starlib.Builtin{Name: name, Of: of, Doc: "Gives nothing.", Returns: "None", Effect: starlib.Pure,
			Func: func(*starlib.Call) (starlark.Value, error) { return starlark.None, nil }}
	}
	tool := func(name string) *agent.Tool {
		return &agent.Tool{Name: name, Params: &generable.Type{Kind: generable.RecordType, Name: name}}
	}
	for _, tt := range []struct {
		builtins []starlib.Builtin
		tools    []*agent.Tool
		want     string
	}{
		{[]starlib.Builtin{row("now", "")}, []*agent.Tool{tool("search")}, ""},
		{[]starlib.Builtin{row("agent", "")}, nil, `builtin "agent" has the name of a builtin`},
		{[]starlib.Builtin{row("len", "")}, nil, `builtin "len" has the name of a builtin`},
		{[]starlib.Builtin{row("repr", "")}, nil, `builtin "repr" has the name of a builtin`},
		{[]starlib.Builtin{row("Failure", "")}, nil, `builtin "Failure" has the name of a builtin`},
		{[]starlib.Builtin{row("encode", "json")}, nil, `builtin "json.encode" has the name of a builtin`},
		{[]starlib.Builtin{row("encode", "")}, nil, ""},
		{nil, []*agent.Tool{tool("tool")}, `tool "tool" has the name of a builtin`},
		{nil, []*agent.Tool{tool("a"), tool("a")}, `tool "a" has the name of a tool of the host`},
		{[]starlib.Builtin{row("now", "")}, []*agent.Tool{tool("now")}, `tool "now" has the name of a builtin of the host`},
	} {
		_, found := loadWith(starlib.Options{Builtins: tt.builtins, Tools: tt.tools}, "x = 1\n")
		switch {
		case tt.want == "" && len(found) > 0, tt.want != "" && (codes(found) != "AS206" || !strings.Contains(found[0].Message, tt.want)):
			t.Errorf("want %q, got %v", tt.want, found)
		}
	}
}
