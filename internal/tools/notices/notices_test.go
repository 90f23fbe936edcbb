package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/arch"
)

// dir makes a component of files.
func dir(t *testing.T, files map[string]string) string {
	t.Helper()
	d := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(d, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	err := write(&b, []component{
		{"one.test/a", "v1.0.0", dir(t, map[string]string{"LICENSE.md": "\n\nterms of a  \r\nend\r\n\r\n", "license.go": "package a", "README": "no"})},
		{"one.test/b", "v2.0.0", dir(t, map[string]string{"COPYING": "terms of b", "NOTICE.txt": "notice of b", "LICENSE-THIRD-PARTY": "terms within b"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "\n  one.test/a v1.0.0\n  one.test/b v2.0.0\n\n" +
		rule + "one.test/a v1.0.0\n" + rule + "\nterms of a\nend\n\n" +
		rule + "one.test/b v2.0.0\n" + rule + "\nterms of b\n\nterms within b\n\nnotice of b\n"
	if got := b.String(); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at the end\n%s", got, want)
	}
}

func TestWriteRefusesWhatHasNoLicence(t *testing.T) {
	for name, c := range map[string]component{
		"has no licence file":        {"one.test/a", "v1.0.0", dir(t, map[string]string{"NOTICE": "x"})},
		"is not in the module cache": {"one.test/a", "v1.0.0", ""},
	} {
		if err := write(&strings.Builder{}, []component{c}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinked(t *testing.T) {
	root, err := arch.Root()
	if err != nil {
		t.Fatal(err)
	}
	all, err := linked(root, "./internal/tools/notices")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].name != "The Go standard library" || !arch.Exists(all[0].dir, "LICENSE") {
		t.Errorf("this tool links %v", all)
	}
}

// Promise 1.14 (repository): the third-party notices hold name, version and licence of every module
// that the command links.
func TestPromise_1_14_Notices(t *testing.T) {
	root, err := arch.Root()
	if err != nil {
		t.Fatal(err)
	}
	if !arch.Exists(root, "cmd/agentscript") {
		t.Skip("not built: cmd/agentscript is missing")
	}
	if err := work(root, product, true); err != nil {
		t.Error(err)
	}
}
