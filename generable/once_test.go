package generable_test

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// A misspelt key is one mistake, not also a missing field.
func TestFieldErrorsOnce(t *testing.T) {
	inner, _ := generable.NewSchema("Inner", "", []generable.Field{{Name: "city", Type: generable.StrT}, {Name: "days", Type: generable.IntT}})
	outer, _ := generable.NewSchema("Outer", "", []generable.Field{{Name: "query", Type: generable.StrT}, {Name: "at", Type: generable.ListOfType(inner)}})
	for text, want := range map[string]string{
		`{"qeury": "x", "at": []}`: `qeury: want no key but query, at, got "qeury" at line 1, column 2; did you mean query?`,
		`{"query": "x", "at": [{"citi": "x", "days": 1}, {"days": 2}]}`: `at[0].citi: want no key but city, days, got "citi" at line 1, column 24; did you mean city?` + "\n" +
			`at[1].city: want str, got nothing at line 1, column 49`,
		`{"at": []}`: `query: want str, got nothing at line 1, column 1`,
	} {
		if got := lenient.Decode(outer, text, generable.Options{ExtraKeys: generable.ExtraError}).Errors.Once().Error(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}
