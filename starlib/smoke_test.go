package starlib_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// load loads a script of one file and its companions.
func load(src string, files ...string) (*starlib.Module, diag.List) {
	fsys := fstest.MapFS{"main.star": {Data: []byte(src)}}
	for i := 0; i+1 < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return starlib.Load(context.Background(), starlib.Options{FS: fsys, Entry: "main.star",
		Print: func(at diag.Pos, text string) { os.Stderr.WriteString(at.String() + ": " + text + "\n") }})
}

func render(m *starlib.Module, l diag.List) string {
	var b strings.Builder
	diag.Render(&b, l, m.Sources(), diag.Options{})
	return b.String()
}

func TestSmoke(t *testing.T) {
	m, found := load(`
Circle = schema("A circle", radius = float)
Rect = schema("A rectangle", w = float, h = float)
Shape = union("Any shape", Circle, Rect)
classify = agent(output = Shape, run = lambda s: Circle(radius = 6) if s == "c" else Rect(w = 2, h = 3))
show = agent(input = Circle, output = float, run = lambda c: 3.14159 * c.radius * c.radius)
rounded = fn(lambda a: "area=" + fmt(a, ".1f"), input = float, output = str)
rect = agent(input = Rect, run = lambda r: "rect %s x %s" % (r.w, r.h))
main = classify.branch({Circle: show >> rounded, Rect: rect})
`)
	if found.HasErrors() {
		t.Fatal(render(m, found))
	}
	e, d := m.Main()
	if d != nil {
		t.Fatal(d)
	}
	for in, want := range map[string]string{"c": "area=113.1", "r": "rect 2.0 x 3.0"} {
		out, err := engine.Exec(engine.NewGoSched(context.Background()), &engine.RunSpec{Node: e.Node, Input: generable.StrOf(in)})
		if err != nil {
			t.Fatal(err)
		}
		if s, _ := out.AsStr(); s != want {
			t.Errorf("%q: got %q, want %q", in, s, want)
		}
	}
}
