package starlib_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript/starlib"
)

// The symbol of a name: its kind, its type or signature, its doc, and where it is defined.
func TestSymbol(t *testing.T) {
	const more = `load("lib.star", "twice", again = "thrice")
def work(x):
    draft = writer(x)
    return draft.title + twice(x)
z = writer.then(judge)
y = Draft(title = "a", tone = "calm")
k = json.encode(1)
m = helper("a", times = 2)
g = ~always
`
	script := desk + more
	a := starlib.Analyse(context.Background(), starlib.Options{Entry: "main.star",
		FS: fstest.MapFS{"lib.star": {Data: []byte("def twice(x):\n    \"\"\"Doubles.\"\"\"\n    return x + x\n\nthrice = twice\n")}}}, []byte(script))
	for _, c := range []struct{ where, word, kind, typ, doc, defined string }{
		{"draft = writer", "writer", "node", "str -> Draft", "agent writer", "main.star:6:1"},
		{"return draft.title", "draft", "variable", "Draft", "a draft", "main.star:19:5"},
		{"draft.title", "title", "field", "str", "what it is called", ""},
		{"+ twice(x)", "twice", "function", "twice(x)", "Doubles.", "lib.star:1:5"},
		{"writer.then", "then", "method", "node.then(", "a.then(b)", ""},
		{"tone = \"calm\"", "tone", "argument", "", "", ""},
		{"y = Draft", "Draft", "type", "Draft", "a draft", "main.star:1:1"},
		{"json.encode", "encode", "method", "json.encode(", "JSON", ""},
		{"m = helper", "helper", "function", "helper(topic, *, times = 3)", "Helps.", "main.star:9:5"},
		{"g = ~always", "always", "variable", "always: predicate", "every value", ""},
		{"times = 2", "times", "argument", "int", "how often", ""},
		{"k = json", "json", "variable", "json", "module json", ""},
		{"def work(x)", "x", "", "", "", "main.star:18:10"},
	} {
		offset := strings.LastIndex(script, c.where) + strings.LastIndex(c.where, c.word)
		s, ok := a.Symbol(context.Background(), offset+1)
		defined := ""
		if s.Defined.Line > 0 {
			defined = fmt.Sprintf("%s:%d:%d", s.Defined.File, s.Defined.Line, s.Defined.Col)
		}
		if !ok || s.Name != c.word || c.kind != "" && s.Kind != c.kind || !strings.Contains(s.Type, c.typ) || !strings.Contains(strings.ToLower(s.Doc), strings.ToLower(c.doc)) || defined != c.defined {
			t.Errorf("%s in %s: %v %q %q %q %q %s", c.word, c.where, ok, s.Name, s.Kind, s.Type, s.Doc, defined)
		}
		if got := script[s.From:s.To]; got != c.word {
			t.Errorf("%s lies at %q", c.word, got)
		}
	}
	if s, ok := a.Symbol(context.Background(), strings.Index(script, "\"Write.\"")+2); ok {
		t.Errorf("a text is %v", s)
	}
}

// The signatures of an unfinished call say which parameter is next, also if it is given by name.
func TestSignatures(t *testing.T) {
	for line, want := range map[string]string{
		"x = helper(|":                         "helper(topic, *, times = 3) topic",
		"x = helper(\"a\", times = |":          "helper(topic, *, times = 3) times = 3",
		"x = helper(\"a\", [1, |":              "helper(topic, *, times = 3) none",
		"x = writer(|)":                        "writer(input) input",
		"x = Draft(title = \"|\")":             "Draft(*, title, tone) title",
		"x = Draft(title = \"a\", |":           "Draft(*, title, tone) none",
		"x = sorted([1], reverse = |)":         "sorted(iterable, *, key = None, reverse = False) reverse = False",
		"def f():\n    return helper(writer(|": "writer(input) input",
		"x = json.encode(|":                    "json.encode(value",
		"x = |":                                "",
	} {
		text, offset := at(t, desk+line)
		a := starlib.Analyse(context.Background(), starlib.Options{FS: fstest.MapFS{}, Entry: "main.star"}, []byte(text))
		got := ""
		for _, s := range a.Signatures(context.Background(), offset) {
			active := "none"
			if s.Active >= 0 {
				active = s.Params[s.Active].Text
			}
			got += strings.Split(s.Text, " -> ")[0] + " " + active
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, and not %q", line, got, want)
		}
	}
}
