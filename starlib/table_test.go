package starlib_test

import (
	"regexp"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

func TestEveryRowIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range starlib.Universe().Rows() {
		name := b.QualifiedName()
		if seen[name] {
			t.Errorf("%s is twice in the table", name)
		}
		seen[name] = true
		if b.Doc == "" || !strings.HasSuffix(b.Doc, ".") || b.Effect == "" || b.Returns == "" || b.Group == "" {
			t.Errorf("%s: doc %q, effect %q, returns %q, group %q", name, b.Doc, b.Effect, b.Returns, b.Group)
		}
		optional := false
		for _, p := range b.Params {
			if p.Name == "" || p.Doc == "" || p.Kind.Word == "" || p.Kind.Stub == "" {
				t.Errorf("%s: parameter %q: doc %q, kind %q, stub %q", name, p.Name, p.Doc, p.Kind.Word, p.Kind.Stub)
			}
			if p.Shape <= starlib.Positional && optional && p.Required() {
				t.Errorf("%s: %s is required behind an optional one", name, p.Name)
			}
			optional = optional || p.Shape <= starlib.Positional && !p.Required()
		}
	}
}

func TestReferenceAndStubNameEveryRow(t *testing.T) {
	reference, stub := starlib.Universe().Reference(), starlib.Universe().Stub()
	for _, b := range starlib.Universe().Rows() {
		if !strings.Contains(reference, "#### `"+b.QualifiedName()+"`") {
			t.Errorf("%s is not in the reference", b.QualifiedName())
		}
		for _, p := range b.Params {
			if !strings.Contains(reference, p.Name+"`") {
				t.Errorf("%s of %s is not in the reference", p.Name, b.QualifiedName())
			}
		}
		builtin := regexp.MustCompile(`^(str|int|float|bool|list|dict|any)$`).MatchString(b.Name)
		if !builtin && !strings.Contains(stub, "def "+b.Name+"(") && !strings.Contains(stub, "class "+b.Name+":") && !strings.Contains(stub, "class "+b.Name+"(") && !strings.Contains(stub, "\n"+b.Name+": ") {
			t.Errorf("%s is not in the stub", b.QualifiedName())
		}
	}
}

// printed loads a script and returns what it prints.
func printed(t *testing.T, o starlib.Options, src string) string {
	t.Helper()
	var out []string
	o.Print = func(_ diag.Pos, text string) { out = append(out, text) }
	m, found := loadWith(o, src)
	if found.HasErrors() {
		t.Fatal(render(m, found))
	}
	return strings.Join(out, "\n")
}

func TestHelp(t *testing.T) {
	for src, want := range map[string]string{
		`help(agent)`:                      `(?s)^agent\(name = None, \*, input = str, .*Makes an agent.*prompt \(str or template`,
		`help("then")`:                     `(?s)^then\(\*nodes\) -> node.*a >> b`,
		`help("thenn")`:                    `did you mean "then"`,
		`help(json)`:                       `(?s)module json.*json.decode`,
		`help(json.encode)`:                `^json\.encode\(value\) -> str`,
		`help(agent(prompt = "x").loop)`:   `^node\.loop\(`,
		`help(str)`:                        `^str\(\*args\)`,
		`help(schema("A point", x = int))`: `A point`,
		`help(schema("P", x = int, _name = "P")(x = 1))`:  `^instance of P`,
		`help(agent(name = "w", prompt = "x"))`:           `(?s)^agent w: str -> str`,
		`help()`:                                          `(?s)Composition\n  then `,
		"def f(a = str, b = 3):\n    'Does it.'\nhelp(f)": `^f\(a = str, b = 3\)\n\nDoes it\.$`,
	} {
		if got := printed(t, starlib.Options{}, src); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s printed\n%s\nwant %s", src, got, want)
		}
	}
}

// weather is a host's builtin with every shape of parameter.
var weather = starlib.Builtin{
	Name: "weather", Doc: "Tells the weather.", Returns: "str", Effect: starlib.Pure,
	Params: []starlib.Param{
		{Name: "city", Kind: starlib.StrKind, Doc: "where"},
		{Name: "days", Kind: starlib.IntKind, Default: "1", Doc: "how many"},
		{Name: "more", Kind: starlib.FloatKind, Shape: starlib.Variadic, Doc: "numbers"},
		{Name: "units", Kind: starlib.StrKind, Shape: starlib.KeywordOnly, Default: `"C"`, Doc: "which"},
		{Name: "exact", Kind: starlib.BoolKind, Shape: starlib.KeywordOnly, Default: "False", Doc: "whether"},
		{Name: "where", Kind: starlib.AnyKind, Shape: starlib.KeywordOnly, Default: "None", Doc: "any data"},
	},
	Func: func(c *starlib.Call) (starlark.Value, error) {
		where, err := c.Value("where")
		if err != nil {
			return nil, err
		}
		text := c.Str("city") + " " + strings.Repeat("sun ", c.Int("days", 1)) + generable.JSON(where, nil)
		if c.Bool("exact", false) {
			text += "!"
		}
		return starlark.String(text + strings.Repeat("+", len(c.Rest()))), nil
	},
}

func TestHostBuiltin(t *testing.T) {
	o := starlib.Options{Builtins: []starlib.Builtin{weather}}
	got := printed(t, o, `
print(weather("Oslo"))
print(weather("Oslo", 2, 1, 2.5, exact = True, where = {"a": [1]}))
print(weather(city = "Rome", days = 2.0, units = None))
help(weather)
`)
	want := "Oslo sun null\nOslo sun sun {\"a\":[1]}!++\nRome sun sun null\n" +
		"weather(city, days = 1, *more, units = \"C\", exact = False, where = None) -> str"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	m, found := loadWith(o, `weather(3, dayz = 1, exact = "yes", where = str)
weather("x", 1, "two", days = 4)
`)
	if got := codes(found); got != "AS204 AS202 AS204 AS204 AS204" {
		t.Errorf("got %s\n%s", got, render(m, found))
	}
	if m.Table() == nil {
		t.Error("no table")
	}
	if b, ok := m.Table().Lookup("weather"); !ok || b.Group != starlib.GroupHost {
		t.Errorf("weather is not in the host's group: %+v", b)
	}
}
