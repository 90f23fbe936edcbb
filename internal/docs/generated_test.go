package docs

import (
	"bytes"
	"flag"
	"fmt"
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

// The language reference and the editor stub are generated from the table of builtins, the list of diagnostics from the
// table of codes.
func TestPagesAreFresh(t *testing.T) {
	fresh(t, "docs/language.md", []byte(starlib.Universe().Reference()))
	fresh(t, "docs/agentscript.pyi", []byte(starlib.Universe().Stub()))
	fresh(t, "docs/diagnostics.md", diagnosticsPage(t))
}

// diagnosticsPage lists the codes by the digit after AS.
func diagnosticsPage(t *testing.T) []byte {
	families := map[byte]string{
		'1': "AS1xx: Syntax",
		'2': "AS2xx: Names and arguments",
		'3': "AS3xx: Types and composition",
		'4': "AS4xx: Placement",
		'5': "AS5xx: Schemas and values",
		'6': "AS6xx: Capabilities",
		'7': "AS7xx: Run",
		'8': "Other",
		'9': "AS9xx: Flow JSON",
	}
	var page bytes.Buffer
	page.WriteString("# Diagnostics\n\n")
	page.WriteString("Every message carries a code that never changes its meaning. `agentscript explain AS301` shows one entry of this page.\n")
	last := byte(0)
	for _, e := range diag.Entries() {
		if digit := e.Code[2]; digit != last {
			last = digit
			if families[digit] == "" {
				t.Errorf("%s is of no family", e.Code)
			}
			fmt.Fprintf(&page, "\n## %s\n", families[digit])
		}
		fmt.Fprintf(&page, "\n### %s: %s\n\n%s", e.Code, e.Title, e.Markdown())
	}
	return page.Bytes()
}
