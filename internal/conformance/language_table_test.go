package conformance

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/starlib"
)

// Promise 2.12 (language): `fmt`, `print`, `fail`, `json` and the text helpers do what their
// documentation shows.
func TestPromise_2_12_Helpers(t *testing.T) {
	compute(t, []computation{
		{"fmt", `
def got():
    return [fmt(3.14159, ".1f"), fmt(1234567, ",d"), fmt(12345.678, "+.2e"), fmt("ab", ">5") + "|", fmt(42, "05d"),
            fmt(0.256, ".0%"), fmt(255, "x"), fmt("ab", "*^6"), fmt(True), fmt(2.0), fmt(-7, "=+5")]
`, `["3.1","1,234,567","+1.23e+04","   ab|","00042","26%","ff","**ab**","True","2.0","-   7"]`},
		{"json", `
P = schema("P", b = int, a = list[str])
def got():
    text = json.encode({"z": 1, "p": P(b = 1, a = ["x"]), "n": None})
    return [text, json.decode(text)["p"]["a"], json.decode("no", default = "none"), json.decode("no", default = None),
            json.indent('{"a":[1]}', indent = " ")]
`, `["{\"z\":1,\"p\":{\"b\":1,\"a\":[\"x\"]},\"n\":null}",["x"],"none",null,"{\n \"a\": [\n  1\n ]\n}"]`},
		{"lines", `
def got():
    return [dedent("\n    a\n      b\n    c\n"), indent_lines("a\n\nb"), indent_lines("a", "> "), split_lines(" a \n\n b\n"),
            join_lines(["a", 1, None]), join_lines(["a", "b"], bullet = "- ")]
`, `["a\n  b\nc","    a\n\n    b","> a",["a","b"],"a\n1\nNone","- a\n- b"]`},
		{"fences", "def got():\n    return [strip_fences(\"so:\\n```py\\nx = 1\\n```\\nand\"), strip_fences(\" plain \"), strip_fences(\"~~~\\na\\n\")]\n",
			`["x = 1","plain","a"]`},
		{"truncate", `
def got():
    return [truncate("abcdef", 4), truncate("abcd", 4), truncate("äöüß", 3, end = ""), truncate("abcdef", 5, "..")]
`, `["abc…","abcd","äöü","abc.."]`},
	})
	fails(t, diag.ScriptError, "def main():\n    fail(\"no\", 1, [2], sep = \"-\")\n", nil, "no-1-[2]")
	fails(t, diag.ScriptError, "def main():\n    return json.decode(\"{'a': 1}\")\n", nil, "json")
	refuse(t, []refusal{
		{"fail while loading", "fail(\"not today\")\n", "AS213", []string{"not today"}},
		{"no format", "x = fmt(1.5, \".1z\")\n", "AS108", []string{`fmt(x, ".1f")`}},
		{"a fraction as a whole number", "x = fmt(1.5, \"d\")\n", "AS204", []string{"int(x), or the type .0f"}},
	})

	var loading, running []string
	eng := agentscript.New(agentscript.WithPrint(func(at diag.Pos, text string) { loading = append(loading, at.String()+" "+text) }))
	mod := loaded(t, eng, "print(\"loading\", 1, sep = \": \")\ndef f(s):\n    print(\"got\", [s], None)\n    return s\nmain = fn(f, input = str, output = str)\n")
	if _, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventLog, func(e engine.Event) {
		running = append(running, e.Path+" "+e.Text())
	})).Wait(); err != nil {
		t.Error(err)
	}
	if got := strings.Join(append(loading, running...), "\n"); got != "flow.star:1:6 loading: 1\nmain/fn:main#0 got [\"x\"] None" {
		t.Errorf("print wrote\n%s", got)
	}
}

// Promise 2.13 (language): the language reference, the help, the suggestions, the stub and the
// unpacking of arguments all come from one table of builtins.
func TestPromise_2_13_OneTable(t *testing.T) {
	own := starlib.Builtin{
		Name: "weather", Returns: "str", Doc: "Tells the weather. It never rains.", Effect: starlib.Pure,
		Params: []starlib.Param{
			{Name: "city", Kind: starlib.StrKind, Doc: "where"},
			{Name: "days", Kind: starlib.IntKind, Default: "1", Shape: starlib.KeywordOnly, Doc: "how far ahead"},
		},
		Func: func(c *starlib.Call) (starlark.Value, error) {
			return starlark.String(fmt.Sprintf("sun in %s for %d", c.Str("city"), c.Int("days", 1))), nil
		},
	}
	var said []string
	eng := agentscript.New(agentscript.WithStarlark(own), agentscript.WithPrint(func(_ diag.Pos, text string) { said = append(said, text) }))
	table := starlib.Universe(own)

	pages := map[string]string{"the reference": table.Reference(), "the stub": table.Stub()}
	for name, file := range map[string]string{"docs/language.md": "language.md", "docs/agentscript.pyi": "agentscript.pyi"} {
		text, err := os.ReadFile("../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	for _, b := range table.Rows() {
		b := b
		t.Run(b.QualifiedName(), func(t *testing.T) {
			if b.Doc == "" || b.Effect == "" || b.Returns == "" {
				t.Errorf("the row is incomplete: %+v", b)
			}
			for name, page := range pages {
				if b.Name == own.Name && strings.HasPrefix(name, "docs/") {
					continue // the host's, not the language's
				}
				want := b.Signature()
				if strings.HasSuffix(name, "pyi") || name == "the stub" || b.Returns == "module" {
					want = b.Name
				}
				if !strings.Contains(page, want) {
					t.Errorf("%s lacks %s", name, want)
				}
			}
			said = nil
			found, shown := checkedBy(eng, "help(\""+b.QualifiedName()+"\")\n")
			if len(found) > 0 || len(said) != 1 || !strings.Contains(said[0], b.Signature()) || !strings.Contains(said[0], b.Summary()) {
				t.Errorf("help says %q\n%s", said, shown)
			}
			if b.Of != "" || b.Name == "json" {
				return
			}
			open := len(b.Params) > 0 && b.Params[len(b.Params)-1].Shape == starlib.Keywords
			for _, p := range b.Params {
				if !strings.Contains(pages["the reference"], "`"+p.Name+"`") && !strings.Contains(pages["the reference"], p.Name+"`") {
					t.Errorf("the reference lacks the parameter %s", p.Name)
				}
				if p.Required() {
					found, shown := checkedBy(eng, "x = "+b.Name+"()\n")
					if !strings.Contains(codes(found), "AS203") || !strings.Contains(shown, b.Name+" needs "+p.Name) {
						t.Errorf("%s() does not miss %s:\n%s", b.Name, p.Name, shown)
					}
				}
				if p.Shape != starlib.Either && p.Shape != starlib.KeywordOnly || open && p.Name[0] != '_' {
					continue
				}
				if _, shown := checkedBy(eng, "x = "+b.Name+"("+p.Name+"x = 1)\n"); !strings.Contains(shown, `did you mean "`+p.Name+`"?`) {
					t.Errorf("%s(%sx = 1) is not understood:\n%s", b.Name, p.Name, shown)
				}
			}
			if short := b.Name[:len(b.Name)-1] + "qz"; len(b.Name) > 4 {
				// Of two equally near names, such as approve and approval, either is accepted.
				if found, shown := checkedBy(eng, "x = "+short+"(1)\n"); codes(found) != "AS201" || !strings.Contains(shown, `did you mean "`+b.Name[:len(b.Name)-1]) {
					t.Errorf("%s is not understood:\n%s", short, shown)
				}
			}
		})
	}

	mod := loaded(t, eng, "def main():\n    return weather(\"Bergen\", days = 3)\n")
	if res, err := mod.Start(t.Context()).Wait(); err != nil || res.Text() != "sun in Bergen for 3" {
		t.Errorf("the host's builtin gives %q, %v", res.Text(), err)
	}
	if found, shown := checkedBy(eng, "x = weather(3, 4)\n"); codes(found) != "AS204 AS205" {
		t.Errorf("the host's builtin takes anything:\n%s", shown)
	}
}
