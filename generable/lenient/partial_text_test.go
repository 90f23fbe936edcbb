package lenient

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// TestPartialText reads truncated texts in one step.
func TestPartialText(t *testing.T) {
	s := newSeedTypes(t)
	for _, row := range []struct {
		typ        *generable.Type
		text, want string
		ok         bool
	}{
		{s.Profile, `{"name":"B","address":{"street":"Ma`, `{"name":"B","address":{"street":"Ma"}}`, true},
		{s.Profile, `{"name":"B","address":{"street":"Ma","zip":1`, `{"name":"B","address":{"street":"Ma"}}`, true},
		{s.Note, `{"level":"Low","text`, `{"level":"low"}`, true},
		{generable.ListOfType(generable.FloatT), "Here: ```json\n[1, 2", `[1.0]`, true},
		{generable.ListOfType(generable.FloatT), `[1, 2]`, `[1.0,2.0]`, true},
		{nil, `{"a": [true, fal`, `{"a":[true]}`, true},
		{nil, `{"a": 12`, `{}`, true},
		{nil, `{"a": 12}`, `{"a":12}`, true},
		{generable.StrT, "Hello wor", `"Hello wor"`, true},
		{generable.IntT, `nothing`, `null`, false},
	} {
		r := Decode(row.typ, row.text, generable.Options{Partial: true})
		if got := generable.JSON(r.Value, nil); got != row.want || r.OK != row.ok {
			t.Errorf("%s: got %s %t %v, want %s", row.text, got, r.OK, r.Errors, row.want)
		}
	}
}
