package generable_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// artefactText returns everything that a type tells a model, in one text.
func artefactText(typ *generable.Type) string {
	var b strings.Builder
	part := func(title, text string) {
		b.WriteString("==== " + title + "\n" + text + "\n")
	}
	part("description", typ.LLMDescription())
	part("prompt fragment", typ.PromptFragment())
	part("json schema", typ.JSONSchema())
	return b.String()
}

func TestArtefacts(t *testing.T) {
	s := newSamples(t)
	for name, typ := range map[string]*generable.Type{
		"schema":        s.Measurement,
		"union":         s.Decision,
		"enum":          s.Severity,
		"nested":        s.Report,
		"recursive":     s.Tree,
		"recursive_tag": s.Expr,
		"str":           generable.StrT,
		"int":           generable.IntT,
		"float":         generable.FloatT,
		"bool":          generable.BoolT,
		"none":          generable.NoneT,
		"any":           generable.AnyT,
		"list":          generable.ListOfType(s.Finding),
		"list_any":      generable.ListOfType(generable.AnyT),
		"dict":          generable.DictOfType(s.Severity),
		"dict_any":      generable.DictOfType(generable.AnyT),
		"optional":      generable.OneOf(s.Decision, generable.NoneT),
		"inline":        generable.OneOf(s.Measurement, generable.ListOfType(generable.IntT), generable.NoneT),
	} {
		t.Run(name, func(t *testing.T) {
			got := artefactText(typ)
			gentest.Golden(t, "artefacts/"+name+".txt", got)
			if again := artefactText(typ); again != got {
				t.Errorf("the second time it differs:\n%s", again)
			}
			var want bytes.Buffer
			if err := json.Indent(&want, []byte(generable.JSON(typ.SchemaValue(), nil)), "", "  "); err != nil {
				t.Fatal(err)
			}
			if typ.JSONSchema() != want.String() {
				t.Errorf("schema text is not the indented schema value:\n%s", typ.JSONSchema())
			}
		})
	}
}

func TestDescriptionOverrideIsVerbatim(t *testing.T) {
	typ := gentest.Must(t)(generable.NewSchema("A", "generated", []generable.Field{{Name: "x", Type: generable.IntT}}))
	typ.Description = "  my own text\n"
	if got := typ.LLMDescription(); got != "  my own text\n" {
		t.Errorf("got %q", got)
	}
}

func TestSkillDescription(t *testing.T) {
	s := newSamples(t)
	spec := gentest.Must(t)(generable.NewSchema("Specification", "A structured API specification", []generable.Field{
		{Name: "endpoints", Type: generable.ListOfType(generable.StrT), Guide: "List of endpoint paths to implement"},
		{Name: "owner", Type: generable.StrT},
	}))
	var b strings.Builder
	for _, text := range []string{
		generable.SkillDescription("write-code", "Writes production code from scratch.", spec, s.Decision,
			[]generable.Knowledge{{"style-guide", "Preferred coding style"}, {"examples", ""}}),
		generable.SkillDescription("triage", "", generable.ListOfType(s.Finding), s.Severity, nil),
		generable.SkillDescription("shout", "Makes text loud.", generable.StrT, generable.OneOf(s.Decision, s.Measurement, generable.NoneT), nil),
	} {
		b.WriteString(text + "\n====\n")
	}
	gentest.Golden(t, "artefacts/skills.txt", b.String())
}

// Artefacts are made once; with an unbound reference inside, they must not be cached.
func TestArtefactsWaitForReferences(t *testing.T) {
	ref := generable.RefTo("Leaf")
	typ := gentest.Must(t)(generable.NewSchema("Node", "", []generable.Field{{Name: "leaf", Type: ref}}))
	before := typ.JSONSchema()
	ref.Bind(gentest.Must(t)(generable.NewSchema("Leaf", "", []generable.Field{{Name: "x", Type: generable.IntT}})))
	after := typ.JSONSchema()
	if before == after || !strings.Contains(after, `"x"`) {
		t.Errorf("the schema does not show the type bound later:\n%s", after)
	}
	if !strings.Contains(typ.PromptFragment(), "Leaf:\n{\n  \"x\": <int>\n}") {
		t.Errorf("no template of the type bound later:\n%s", typ.PromptFragment())
	}
	if p, q := unsafe.StringData(typ.JSONSchema()), unsafe.StringData(typ.JSONSchema()); p != q {
		t.Error("the schema text is not kept")
	}
}

func TestArtefactsConcurrently(t *testing.T) {
	s := newSamples(t)
	var wg sync.WaitGroup
	texts := make([]string, 8)
	for i := range texts {
		wg.Go(func() { texts[i] = artefactText(s.Report) })
	}
	wg.Wait()
	for _, text := range texts {
		if text != texts[0] {
			t.Fatal("branches see different texts")
		}
	}
}

// A chain of schemas, each using the next one twice, must not double with every link.
func TestSchemaStaysSmall(t *testing.T) {
	typ := generable.StrT
	for i := range 60 {
		typ = gentest.Must(t)(generable.NewSchema("Rung"+string(rune('A'+i)), "", []generable.Field{{Name: "left", Type: typ}, {Name: "right", Type: typ}}))
	}
	text := typ.JSONSchema()
	if len(text) > 60*600 {
		t.Errorf("schema has %d bytes", len(text))
	}
	checkRefs(t, parseJSON(t, text))
	if n := len(typ.PromptFragment()); n > 60*100 {
		t.Errorf("fragment has %d bytes", n)
	}
}

// Types with the same name from different modules stay separate in one schema.
func TestSchemaNamesStayApart(t *testing.T) {
	m := gentest.Must(t)
	node := func(extra string) *generable.Type {
		ref := generable.RefTo("Node")
		n := m(generable.NewSchema("Node", "", []generable.Field{{Name: extra, Type: generable.StrT}, {Name: "next", Type: generable.OneOf(ref, generable.NoneT)}}))
		ref.Bind(n)
		return n
	}
	pair := m(generable.NewSchema("Pair", "", []generable.Field{{Name: "a", Type: node("one")}, {Name: "b", Type: node("two")}}))
	schema := parseJSON(t, pair.JSONSchema())
	checkRefs(t, schema)
	defs := schema.(map[string]any)["$defs"].(map[string]any)
	if len(defs) != 2 || defs["Node"] == nil || defs["Node_2"] == nil {
		t.Errorf("definitions: %v", defs)
	}
	if f := pair.PromptFragment(); !strings.Contains(f, "\nNode:\n") || !strings.Contains(f, "\nNode_2:\n") {
		t.Errorf("fragment does not tell the two apart:\n%s", f)
	}
}

// checkRefs fails unless every reference in a schema leads to a definition.
func checkRefs(t *testing.T, schema any) {
	t.Helper()
	defs, _ := schema.(map[string]any)["$defs"].(map[string]any)
	var walk func(x any)
	walk = func(x any) {
		switch x := x.(type) {
		case []any:
			for _, item := range x {
				walk(item)
			}
		case map[string]any:
			if ref, ok := x["$ref"].(string); ok {
				name, ok := strings.CutPrefix(ref, "#/$defs/")
				if _, found := defs[name]; !ok || !found {
					t.Errorf("dangling reference %s", ref)
				}
			}
			for _, item := range x {
				walk(item)
			}
		}
	}
	walk(schema)
}
