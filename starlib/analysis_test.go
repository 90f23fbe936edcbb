package starlib_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// scripts returns the scripts of the tests and the examples, right and wrong ones, each as a file of a directory.
func scripts(t *testing.T) map[string]fs.FS {
	t.Helper()
	out := map[string]fs.FS{}
	for _, dir := range []string{"../examples", "testdata"} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(p, ".star") {
				out[p] = os.DirFS(filepath.Dir(p))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"../diag/explain/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys := fstest.MapFS{}
			for _, f := range a.Files {
				fsys[path.Clean(f.Name)] = &fstest.MapFile{Data: f.Data}
			}
			for _, f := range a.Files {
				if strings.HasSuffix(f.Name, ".star") && fs.ValidPath(f.Name) {
					out[file+"/"+f.Name] = fsys
				}
			}
		}
	}
	return out
}

func asJSON(t *testing.T, l diag.List) string {
	t.Helper()
	var b bytes.Buffer
	if err := diag.JSON(&b, l); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// An analysis of a file finds what loading the file finds.
func TestAnalysisFindsWhatLoadFinds(t *testing.T) {
	whole, broken := 0, 0
	for name, fsys := range scripts(t) {
		o := starlib.Options{FS: fsys, Entry: path.Base(name)}
		if a := strings.Index(name, ".txtar/"); a >= 0 {
			o.Entry = name[a+len(".txtar/"):]
		}
		text, err := fs.ReadFile(fsys, o.Entry)
		if err != nil {
			t.Fatal(err)
		}
		_, want := starlib.Load(context.Background(), o)
		a := starlib.Analyse(context.Background(), o, text)
		if len(a.Blanked) == 0 {
			whole++
			if got := asJSON(t, a.Findings); got != asJSON(t, want) {
				t.Errorf("%s:\n%s\nand not\n%s", name, got, asJSON(t, want))
			}
			continue
		}
		broken++
		for _, d := range want {
			if !slices.ContainsFunc(a.Findings, func(o *diag.Diagnostic) bool { return asJSON(t, diag.List{o}) == asJSON(t, diag.List{d}) }) {
				t.Errorf("%s: %v is not found", name, d)
			}
		}
		if !a.Findings.HasErrors() {
			t.Errorf("%s: parts were left out and nothing is wrong", name)
		}
	}
	if whole < 100 || broken < 20 {
		t.Errorf("only %d whole and %d broken scripts", whole, broken)
	}
}

const halfTyped = `Draft = schema("a draft", title = str, body = str)

writer = agent(output = Draft, prompt = "Write.")

critic = agent(input = Draft, prompt = "Criticise {{titel}}."

main = writer >> critic >> undefind
`

// The parts of an incomplete file other than the omitted statement are checked.
func TestAnalysisOfAHalfTypedFile(t *testing.T) {
	a := starlib.Analyse(context.Background(), starlib.Options{FS: fstest.MapFS{}, Entry: "main.star"}, []byte(halfTyped))
	if len(a.Blanked) != 1 || halfTyped[a.Blanked[0].From:a.Blanked[0].To] != `critic = agent(input = Draft, prompt = "Criticise {{titel}}."` {
		t.Errorf("left out: %v", a.Blanked)
	}
	if got := codes(a.Findings); got != "AS101 AS201" {
		t.Errorf("found %s\n%v", got, a.Findings)
	}
}
