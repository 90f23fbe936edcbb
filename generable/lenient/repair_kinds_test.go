package lenient

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/gentest"
)

// TestEachRepairIsNeeded requires a row of the corpora for each kind of repair: a repair that no text needs must be
// removed.
func TestEachRepairIsNeeded(t *testing.T) {
	needed := map[string]string{} // by kind, a row
	note := func(rule string, r Result) {
		for _, rep := range r.Repairs {
			needed[rep.Kind] = rule
		}
	}
	files, err := filepath.Glob("testdata/corpus/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, row := range readRepairRows(t, file) {
			note(row.Rule+"/"+row.Name, Decode(nil, row.Input, generable.Options{}))
		}
	}
	items := map[string]generable.BadItem{"drop": generable.ItemDrop, "keep": generable.ItemKeep}
	for _, row := range readCorpus(t, "testdata/typed/*.jsonl") {
		for _, level := range row.levels() {
			note(row.Rule+"/"+row.Name, Decode(typeOf(t, row.Type), row.Input, generable.Options{Level: level, OnBadItem: items[row.Item], MaxCost: row.MaxCost, Partial: row.Partial}))
		}
	}
	// Cases that the form of the rows cannot express.
	due := gentest.Must(t)(generable.NewSchema("Due", "", []generable.Field{{Name: "due", Type: generable.OneOf(generable.StrT, generable.NoneT), Explicit: true}}))
	code := gentest.Must(t)(generable.NewSchema("Code", "", []generable.Field{{Name: "code", Type: generable.StrT, Dedent: true}}))
	for kind, c := range map[string]struct {
		typ  *generable.Type
		text string
	}{
		"invalid-utf8":    {nil, "[\"a\xff\"]"},
		"missing-to-null": {due, "{}"},
		"dedent":          {code, `{"code": "  a\n  b"}`},
		"more-repairs":    {nil, "[" + strings.Repeat("a,", 2*tape.MaxRepairs) + "a]"},
	} {
		if needed[kind] != "" {
			t.Errorf("a row needs %q", kind)
		}
		note(c.text[:2], Decode(c.typ, c.text, generable.Options{}))
	}
	for _, kind := range RepairKinds() {
		if needed[kind] == "" {
			t.Errorf("no row of the corpora needs %q", kind)
		}
	}
}
