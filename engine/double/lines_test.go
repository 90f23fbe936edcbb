package double_test

import (
	"testing"

	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/generable"
)

// Different values have different lines, and texts stay readable.
func TestLines(t *testing.T) {
	yes, no := record(t, "Yes"), record(t, "No")
	d, errs := generable.NewUnion("D", "", "", []*generable.Type{yes.Type(), no.Type()})
	if errs != nil {
		t.Fatal(errs)
	}
	d.TagVariants()
	seen := map[string]string{}
	for name, v := range map[string]generable.Value{
		"3": generable.StrOf("3"), "int": generable.IntOf(3), "null": generable.StrOf("null"), "None": {},
		"x": generable.StrOf("x"), "x and a line end": generable.StrOf("x\n"), "empty": generable.StrOf(""), "two quotes": generable.StrOf(`""`),
		"CRLF": generable.StrOf("a\r\nb"), "LF": generable.StrOf("a\nb"), "Yes": yes.Value(), "No": no.Value(),
		"list": generable.ListOf(generable.IntOf(1)), "text of a list": generable.StrOf("[\n  1\n]"), "text of its text": generable.StrOf(`"x\n"`),
	} {
		lines := double.Lines(v)
		if other, ok := seen[lines]; ok {
			t.Errorf("%s and %s are both %q", name, other, lines)
		}
		seen[lines] = name
	}
	for _, text := range []string{"x", "a\nb", "a sentence.", "{not json}"} {
		if got := double.Lines(generable.StrOf(text)); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}

func record(t *testing.T, name string) *generable.Record {
	t.Helper()
	typ, errs := generable.NewSchema(name, "", nil)
	if errs != nil {
		t.Fatal(errs)
	}
	return generable.NewRecord(typ, nil)
}
