package doc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/starlib/internal/agents"
	"github.com/agentscript/agentscript/starlib/internal/compose"
	"github.com/agentscript/agentscript/starlib/internal/data"
	"github.com/agentscript/agentscript/starlib/internal/table"
)

// Promise 26.141 (sound): the guide says where each builtin can be used: at the top level, in functions that run, or
// anywhere.
func TestPromise_26_141_Places(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Where each builtin stands\n")
	section, _, _ = strings.Cut(section, "\n## ")
	where := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 || strings.HasPrefix(line, "| where") {
			continue
		}
		place := strings.TrimPrefix(cells[0], "| ")
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			for _, name := range strings.Fields(quoted[1]) {
				if where[name] != "" {
					t.Errorf("%s stands in two rows", name)
				}
				where[name] = place
			}
		}
	}
	u := table.New(data.Rows(), agents.Rows(), compose.Rows()).WithForms(compose.CallForms())
	for _, b := range u.Rows() {
		name, want := b.QualifiedName(), "anywhere"
		switch {
		case b.InRun != nil:
			want = "at the top level they compose, in functions that run they call"
		case b.AtTop:
			want = "at the top level: they compose"
		case b.RunOnly != "":
			want = "in functions that run"
		case b.Effect == table.Reads || name == "image":
			want = "at the top level: they read"
		}
		if !strings.HasPrefix(where[name], want) {
			t.Errorf("the guide says of %s %q, and not that it stands %s", name, where[name], want)
		}
		delete(where, name)
	}
	for name := range where {
		t.Errorf("the guide speaks of %s, which is no builtin", name)
	}
}
