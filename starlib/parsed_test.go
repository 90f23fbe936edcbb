package starlib_test

import (
	"slices"
	"testing"

	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// TestEachFileIsParsedOnce checks that, however often a script is loaded, and however many of its files load the same
// file.
func TestEachFileIsParsedOnce(t *testing.T) {
	const main = `
load("a.star", "twice")
load("b.star", "thrice")

def main(x = int, name = "n"):
    ys = [f(x) for f in [twice, lambda v: thrice(v) + len(name)]]
    return "%s {}".format(ys[1]) % ys[0]
`
	files := []string{"base.star", "def times(n):\n    return lambda x: n * x\n",
		"a.star", "load(\"base.star\", \"times\")\ntwice = times(2)\n", "b.star", "load(\"base.star\", \"times\")\nthrice = times(3)\n"}
	p := starlib.NewParsed()
	if got := p.Params(t.Context(), "main.star", []byte(main), "main"); !slices.Equal(got, []string{"x", "name"}) {
		t.Errorf("main has %v", got)
	}
	if got := p.Params(t.Context(), "main.star", []byte(main), "other"); got != nil {
		t.Errorf("other has %v", got)
	}
	for range 3 {
		m, found := loadWith(starlib.Options{Parsed: p}, main, files...)
		if len(found) > 0 {
			t.Fatal(render(m, found))
		}
		args, err := must(m.Main()).Bind(map[string]generable.Value{"x": generable.IntOf(5)})
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := everywhere(t, run.Spec{Main: must(m.Main()).Func, Args: args})
		if err != nil || !generable.Equal(v, generable.StrOf("10 16")) {
			t.Errorf("%v, %v", v, err)
		}
		if p.Count() != 4 {
			t.Errorf("%d files were parsed, and there are 4", p.Count())
		}
	}
	if _, found := loadWith(starlib.Options{Parsed: p}, main+"\n", files...); len(found) > 0 || p.Count() != 5 {
		t.Errorf("another text under the same name: %d, %v", p.Count(), found)
	}
	if m, found := loadWith(starlib.Options{Parsed: p, Builtins: []starlib.Builtin{weather}}, main, files...); len(found) > 0 || p.Count() <= 5 {
		t.Errorf("other builtins: %d\n%s", p.Count(), render(m, found))
	}
}

func must[T, D any](v T, _ D) T { return v }
