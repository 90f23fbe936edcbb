package lenient

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// A stream shows fields that have only an alias under their names, and dedented texts once they are complete; its
// value is that of the whole text.
func TestWordsWhileArriving(t *testing.T) {
	inner := gentest.Must(t)(generable.NewSchema("Inner", "", []generable.Field{
		{Name: "text", Type: generable.OneOf(generable.StrT, generable.NoneT), Alias: []string{"body", "b"}, AliasOnly: true, Dedent: true},
		{Name: "n", Type: generable.IntT, Alias: []string{"count"}, AliasOnly: true},
	}))
	typ := gentest.Must(t)(generable.NewSchema("Outer", "", []generable.Field{
		{Name: "inner", Type: inner, Alias: []string{"in side"}, AliasOnly: true},
		{Name: "list", Type: generable.ListOfType(inner), Alias: []string{"all"}},
		{Name: "code", Type: generable.StrT, Dedent: true},
	}))
	for _, row := range []struct{ text, want string }{
		{`{"in side": {"body": "  a\n   b", "count": 1}, "all": [{"b": " x\n y", "count": 2}, {"count": 3}], "code": "\tz\n\t\ty"}`,
			`{"inner":{"text":"a\n b","n":1},"list":[{"text":"x\ny","n":2},{"text":null,"n":3}],"code":"z\n\ty"}`},
		{`{"In-Side": {"Count": 1, "Body": "a\n b"}, "list": [], "code": "", "inner": 7}`,
			`{"inner":{"text":"a\n b","n":1},"list":[],"code":""}`},
	} {
		s := NewStream(typ, StreamOptions{})
		for i := range len(row.text) {
			s.Feed(row.text[i : i+1])
			shown := generable.JSON(s.Snapshot(), typ)
			for _, never := range []string{"body", "Body", "ount", "side", `"  a`, `" x`, `"\\t`, `"b"`, `"a\\n"`, `"a"`} {
				if strings.Contains(shown, never) {
					t.Errorf("%s\nshows %s", row.text[:i+1], shown)
				}
			}
		}
		whole := Decode(typ, row.text, generable.Options{})
		if got := generable.JSON(whole.Value, typ); got != row.want {
			t.Errorf("%s\nis %s %v", row.text, got, whole.Errors)
		}
		if got := s.Close(); render(got) != render(whole) {
			t.Errorf("in pieces\n%s\nat once\n%s", render(got), render(whole))
		}
	}
}
