package project

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// written creates a project file in its own directory.
func written(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", ""},
		{"\ufeff# nothing\r\n\r\n", ""},
		{"[models]\nfast = \"a/b\"\r\n\t'slow' = 'c/d' # dear\n\"x-1\"=\"e\\\"\\\\/f\"\n[ models ] # again\ny=\"g/h\"", `fast=a/b slow=c/d x-1=e"\/f y=g/h`},
		{"fast = \"a/b\"\n", "1:1: an entry stands in a table"},
		{"[model]\nfast = \"a/b\"\n", "1:1: there is no table \"model\""},
		{"[models\nfast = \"a/b\"\n", "1:1: this is no table"},
		{"[models] x\n", "1:1: this is no table"},
		{"[models]\nfast\n  slow \"x\"\n", "2:1: this is no entry|3:3: this is no entry"},
		{"[models]\nfast = a/b\n", "2:8: a model is a text in quotes"},
		{"[models]\nfast = \"a/b\n", "2:8: a model is a text in quotes"},
		{"[models]\nfast = \"\"\"a/b\"\"\"\n", "2:8: a model is a text in quotes"},
		{"[models]\nfast = \"a\\tb\"\n", "2:8: a model is a text in quotes"},
		{"[models]\nfast = {model = \"a/b\"}\n", "2:8: a model is a text in quotes"},
		{"[models]\n\"fast = \"a/b\"\n", "2:1: this is no entry"},
		{"[models]\na = \"x/y\"\na = \"x/z\"\n", "3:1: the alias \"a\" is given twice"},
		{"[models]\na/b = \"x/y\"\n'' = \"x\"\nc = \"\"\n", "2:1: the alias \"a/b\" may hold no /|3:1: an alias needs a name|4:1: the alias \"c\" names no model"},
		{"[models]\na = \"\xff\"\n", "it is not UTF-8 text"},
	} {
		models, problem := read(written(t, row.text))
		if problem != nil {
			for _, want := range strings.Split(row.want, "|") {
				if !strings.Contains(strings.ReplaceAll(problem.Error(), ": error: ", ": "), want) {
					t.Errorf("%q: %s, want %q", row.text, problem.Error(), want)
				}
			}
			continue
		}
		var got []string
		for _, name := range slices.Sorted(maps.Keys(models)) {
			got = append(got, name+"="+models[name])
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%q: %v, want %s", row.text, got, row.want)
		}
	}
}

// The nearest file above is used, up to the root of the repository.
func TestFind(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(dir string) string {
		path := filepath.Join(dir, FileName)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	above := put(top)
	if got := find(below); got != above {
		t.Errorf("found %q", got)
	}
	if err := os.Mkdir(filepath.Join(top, "a", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := find(below); got != "" {
		t.Errorf("outside of the repository: %q", got)
	}
	if at := put(filepath.Join(top, "a")); find(below) != at {
		t.Errorf("found %q", find(below))
	}
}

// FuzzRead: any project file is either parsed or rejected, and every parsed alias is valid.
func FuzzRead(f *testing.F) {
	f.Add("[models]\nfast = \"a/b\" # x\n'slow'='c'\n")
	f.Add("[models\n\"a\\\"b\" = \"\\\\\"")
	f.Fuzz(func(t *testing.T, text string) {
		models, problem := read(written(t, text))
		if problem != nil {
			return
		}
		for name, model := range models {
			if err := check(name, model); err != nil {
				t.Error(err)
			}
		}
	})
}
