package starlib_test

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// TestHostNames checks that what a host adds has unique names, and that the message says which has not.
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
		{[]starlib.Builtin{row("clock", "")}, []*agent.Tool{tool("search")}, ""},
		{[]starlib.Builtin{row("now", "")}, nil, `builtin "now" has the name of a builtin`},
		{[]starlib.Builtin{row("agent", "")}, nil, `builtin "agent" has the name of a builtin`},
		{[]starlib.Builtin{row("len", "")}, nil, `builtin "len" has the name of a builtin`},
		{[]starlib.Builtin{row("repr", "")}, nil, `builtin "repr" has the name of a builtin`},
		{[]starlib.Builtin{row("Failure", "")}, nil, `builtin "Failure" has the name of a builtin`},
		{[]starlib.Builtin{row("encode", "json")}, nil, `builtin "json.encode" has the name of a builtin`},
		{[]starlib.Builtin{row("encode", "")}, nil, ""},
		{nil, []*agent.Tool{tool("tool")}, `tool "tool" has the name of a builtin`},
		{nil, []*agent.Tool{tool("a"), tool("a")}, `tool "a" has the name of a tool of the host`},
		{[]starlib.Builtin{row("clock", "")}, []*agent.Tool{tool("clock")}, `tool "clock" has the name of a builtin of the host`},
	} {
		_, found := loadWith(starlib.Options{Builtins: tt.builtins, Tools: tt.tools}, "x = 1\n")
		switch {
		case tt.want == "" && len(found) > 0, tt.want != "" && (codes(found) != "AS206" || !strings.Contains(found[0].Message, tt.want)):
			t.Errorf("want %q, got %v", tt.want, found)
		}
	}
}

// TestHostFlaws checks that if anything that a host adds is unsound, nothing is executed and everything that is wrong
// is reported at once.
func TestHostFlaws(t *testing.T) {
	ok := func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.Value{}, nil }
	field := func(name string, of *generable.Type) generable.Field { return generable.Field{Name: name, Type: of} }
	optional := func(name string, v generable.Value) generable.Field {
		return generable.Field{Name: name, Type: generable.StrT, Optional: true, Default: v}
	}
	x := field("x", generable.StrT)
	params := func(p ...generable.Field) starlib.Builtin { return starlib.Function("f", "D.", p, nil, ok) }
	for name, tt := range map[string]struct {
		builtin starlib.Builtin
		want    []string
	}{
		"sound":            {params(x, optional("y", generable.StrOf("d")), optional("z", generable.Value{})), nil},
		"no name":          {starlib.Function("", "D.", nil, nil, ok), []string{"cannot write its name"}},
		"two words":        {starlib.Function("a b", "D.", nil, nil, ok), []string{"cannot write its name"}},
		"a keyword":        {starlib.Function("def", "D.", nil, nil, ok), []string{"cannot write its name"}},
		"no function":      {starlib.Function("f", "D.", nil, nil, nil), []string{"has no function"}},
		"no type":          {params(field("x", nil)), []string{`parameter "x" has no sound type`}},
		"half a type":      {params(field("x", &generable.Type{Kind: generable.ListType})), []string{`parameter "x" has no sound type`}},
		"returns half":     {starlib.Function("f", "D.", nil, &generable.Type{Kind: generable.ListType}, ok), []string{"what it returns has no sound type"}},
		"a wrong param":    {params(field("x y", generable.StrT)), []string{`the name of its parameter "x y"`}},
		"a param twice":    {params(x, x), []string{`two of its parameters are named "x"`}},
		"a wrong default":  {params(optional("x", generable.IntOf(1))), []string{`the default of its parameter "x" is not str`}},
		"required at last": {params(optional("y", generable.StrOf("")), x), []string{`required parameter "x" follows "y"`}},
		"several":          {starlib.Function("", "D.", []generable.Field{field("x", nil), field("x", nil)}, nil, nil), []string{"its name", "no function", "two of", `"x" has no`}}, // a repeated finding is shown once
	} {
		wantFlaws(t, name, starlib.Options{Builtins: []starlib.Builtin{tt.builtin}}, tt.want)
	}
	for name, tt := range map[string]struct {
		tool agent.Tool
		want []string
	}{
		"sound":   {agent.Tool{Params: generable.DictOfType(generable.AnyT), Class: engine.ClassRead}, nil},
		"bare":    {agent.Tool{}, nil},
		"an int":  {agent.Tool{Params: generable.IntT}, []string{"its parameters are a schema or a dict, not int"}},
		"half":    {agent.Tool{Params: &generable.Type{Kind: generable.RecordType, Name: "T", Fields: []generable.Field{{Name: "x"}}}}, []string{"its parameters are not sound"}},
		"several": {agent.Tool{Class: "zzz", Returns: &generable.Type{Kind: generable.ListType}}, []string{"what it returns", `"zzz" is not an effect class`}},
	} {
		tt.tool.Name = "pay"
		wantFlaws(t, name, starlib.Options{Tools: []*agent.Tool{&tt.tool}}, tt.want)
	}
}

func wantFlaws(t *testing.T, name string, o starlib.Options, want []string) {
	t.Helper()
	_, found := loadWith(o, "x = 1\n")
	if len(found) != len(want) {
		t.Errorf("%s: %v", name, found)
		return
	}
	for i, d := range found {
		if d.Code != diag.WrongArgument || !strings.Contains(d.Message, want[i]) {
			t.Errorf("%s: want %q, got %v", name, want[i], d)
		}
	}
}
