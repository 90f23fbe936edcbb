package agent_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/generable"
)

func TestTemplates(t *testing.T) {
	rejected := enginetest.Schema(t, "Rejected", generable.Field{Name: "by", Type: generable.StrT}, generable.Field{Name: "reason", Type: generable.StrT})
	decision, errs := generable.NewUnion("Decision", "", "", []*generable.Type{enginetest.Schema(t, "Approved", generable.Field{Name: "by", Type: generable.StrT}), rejected})
	if errs != nil {
		t.Fatal(errs)
	}
	author := enginetest.Schema(t, "Author", generable.Field{Name: "name", Type: generable.StrT})
	post := enginetest.Schema(t, "Post", generable.Field{Name: "title", Type: generable.StrT}, generable.Field{Name: "author", Type: author},
		generable.Field{Name: "verdict", Type: decision}, generable.Field{Name: "tags", Type: generable.ListOfType(generable.StrT)})
	made := func(typ *generable.Type, pairs ...any) generable.Value {
		m := generable.NewMap(len(pairs) / 2)
		for i := 0; i < len(pairs); i += 2 {
			m.Set(pairs[i].(string), pairs[i+1].(generable.Value))
		}
		r, errs := typ.Construct(m)
		if errs != nil {
			t.Fatal(errs)
		}
		return r.Value()
	}
	value := made(post, "title", generable.StrOf("On {{x}}"), "author", made(author, "name", generable.StrOf("Ada")),
		"verdict", made(rejected, "by", generable.StrOf("Bo"), "reason", generable.StrOf("long")), "tags", generable.ListOf(generable.StrOf("a")))
	for text, want := range map[string]string{
		"":                       "",
		"plain { } }} text":      "plain { } }} text",
		"{{title}}":              "On {{x}}", // what is filled in is not parsed again
		"{{ title }}/{{ tags }}": `On {{x}}/["a"]`,
		"by {{author.name}}!":    "by Ada!",
		"{{verdict}}":            `{"type":"Rejected","by":"Bo","reason":"long"}`,
		"{{verdict.reason}}":     "long",
	} {
		tmpl, err := agent.ParseTemplate(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := tmpl.Render(value, post); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
	tmpl, _ := agent.ParseTemplate("{{input}}")
	if got, err := tmpl.Render(generable.StrOf("all"), generable.StrT); err != nil || got != "all" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := tmpl.Render(value, post); err != nil {
		t.Error(err)
	}
	tmpl, _ = agent.ParseTemplate("{{nothing.here}}")
	if _, err := tmpl.Render(value, generable.AnyT); err == nil || !strings.Contains(err.Error(), "nothing.here") {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{"{{", "{{title", "{{}}", "{{ }}", "{{a..b}}", "{{.a}}", "{{1a}}", "{{a b}}", `{{"a": 1}}`, "{{{a}}}", "{{a-b}}"} {
		if _, err := agent.ParseTemplate(text); err == nil {
			t.Errorf("%q is a template", text)
		} else if !strings.Contains(err.Error(), "{{") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A template that parses can be rendered, and the result is its text with the placeholders replaced.
func FuzzParseTemplate(f *testing.F) {
	for _, s := range []string{"", "x", "{{a}}", "a {{b}} c {{d.e}} }}", "{{", "}}{{", "{{{a}}}", "{{ é }}{{_}}", "\xff{{a}}\xfe", "{{a}}{{a}}{{", strings.Repeat("{{a}}", 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := agent.ParseTemplate(text)
		if err != nil {
			if err.Error() == "" || utf8.ValidString(text) && !utf8.ValidString(err.Error()) {
				t.Errorf("the error is %q", err)
			}
			return
		}
		const mark = "\x00"
		m := generable.NewMap(0)
		want := text
		for {
			open := strings.Index(want, "{{")
			if open < 0 {
				break
			}
			end := open + strings.Index(want[open:], "}}")
			path := strings.Split(strings.TrimSpace(want[open+2:end]), ".")
			m.Set(path[0], nested(m, path, mark))
			want = want[:open] + mark + want[end+2:]
		}
		got, err := tmpl.Render(m.Value(), generable.AnyT)
		if err != nil { // {{a}} and {{a.b}} ask for different things
			return
		}
		if strings.Count(text, ".") == 0 && got != want {
			t.Errorf("%q renders as %q, want %q", text, got, want)
		}
	})
}

// nested sets a value under the first name of a path so that the whole path leads to mark.
func nested(m *generable.Map, path []string, mark string) generable.Value {
	if len(path) == 1 {
		return generable.StrOf(mark)
	}
	inner := generable.NewMap(1)
	if had, ok := m.Get(path[0]); ok {
		if had, ok := had.AsMap(); ok {
			inner = had
		}
	}
	inner.Set(path[1], nested(inner, path[1:], mark))
	return inner.Value()
}
