package generable_test

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

func TestCheckPath(t *testing.T) {
	m := gentest.Must(t)
	schema := func(name string, fields ...generable.Field) *generable.Type {
		return m(generable.NewSchema(name, "", fields))
	}
	self := generable.RefTo("P")
	step := schema("S", generable.Field{Name: "title", Type: generable.StrT}, generable.Field{Name: "minutes", Type: generable.IntT})
	a := schema("A", generable.Field{Name: "r", Type: generable.FloatT})
	b := schema("B", generable.Field{Name: "s", Type: generable.StrT})
	typ := schema("P", generable.Field{Name: "title", Type: generable.StrT},
		generable.Field{Name: "steps", Type: generable.ListOfType(step)},
		generable.Field{Name: "next", Type: generable.OneOf(self, generable.NoneT)},
		generable.Field{Name: "by", Type: generable.DictOfType(generable.StrT)},
		generable.Field{Name: "x", Type: generable.AnyT},
		generable.Field{Name: "odd key", Type: generable.IntT},
		generable.Field{Name: "s", Type: m(generable.NewUnion("U", "", "kind", []*generable.Type{a, b}))})
	self.Bind(typ)
	for path, want := range map[string]string{
		"":                    "",
		".title":              "",
		".steps":              "",
		".steps[2].title":     "",
		".next.next.steps[0]": "",
		`.by["a b"]`:          "",
		".by.anything":        "",
		".x.whatever[3]":      "",
		`["odd key"]`:         "",
		".s.kind":             "",
		".s.r":                "",
		".nosuch":             `want one of the fields by, next, odd key, s, steps, title, x, got "nosuch"`,
		".step":               `want one of the fields by, next, odd key, s, steps, title, x, got "step"; did you mean steps?`,
		".steps[0].minute":    `steps[0]: want one of the fields minutes, title, got "minute"; did you mean minutes?`,
		".steps.title":        `steps: want a place in list[S], got ".title"`,
		".title[0]":           `title: want a place in str, got "[0]"`,
		"title":               `want a path such as .steps[2].title, got "title"`,
		".steps[-1]":          `want a path such as .steps[2].title, got ".steps[-1]"`,
		`["odd key`:           `want a path such as .steps[2].title, got "[\"odd key"`,
		".s.q":                `s: want one of the fields r, s, got "q"; did you mean r?`,
	} {
		got := ""
		if err := typ.CheckPath(path); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
