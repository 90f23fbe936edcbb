package docs

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

var update = flag.Bool("update", false, "rewrite the pages that are generated")

// fresh compares a file with what is generated for it, or writes it with -update.
func fresh(t *testing.T, name string, text []byte) {
	t.Helper()
	file := filepath.Join(root(t), filepath.FromSlash(name))
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if stands, err := os.ReadFile(file); err != nil || !bytes.Equal(stands, text) {
		t.Errorf("%s is stale (%v): run make golden", name, err)
	}
}

// The language reference and the editor stub are made from the table of builtins, the list of diagnostics
// from the table of codes.
func TestPagesAreFresh(t *testing.T) {
	var codes bytes.Buffer
	if err := diag.WriteReference(&codes); err != nil {
		t.Fatal(err)
	}
	fresh(t, "docs/language.md", []byte(starlib.Universe().Reference()))
	fresh(t, "docs/agentscript.pyi", []byte(starlib.Universe().Stub()))
	fresh(t, "docs/diagnostics.md", codes.Bytes())
}
