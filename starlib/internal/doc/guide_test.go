package doc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/starlib/internal/agents"
	"github.com/agentscript/agentscript/starlib/internal/compose"
	"github.com/agentscript/agentscript/starlib/internal/data"
	"github.com/agentscript/agentscript/starlib/internal/doc"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/testcase"
)

// Results of builtins are described once: each name with members that a row returns has its class in the stub, with the
// members of the reference.
func TestResultsInStub(t *testing.T) {
	u := table.New(data.Rows(), agents.Rows(), compose.Rows(), testcase.Rows()).WithForms(compose.CallForms())
	stub, page := doc.Stub(u), doc.Reference(u)
	for _, section := range strings.Split(page, "\n### Members of ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		if strings.ToLower(name) == name { // a method of skill, budget or memory
			continue
		}
		rest, _, _ = strings.Cut(rest, "\n#")
		_, class, ok := strings.Cut(stub, "\nclass "+name+":\n")
		if !ok {
			t.Errorf("the stub has no class %s", name)
		}
		class, _, _ = strings.Cut(class, "\n\n")
		for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(rest, -1) {
			if !strings.Contains(class, "\n    "+m[1]+": ") {
				t.Errorf("class %s of the stub has no member %s", name, m[1])
			}
		}
	}
}

// The documentation of builtins uses Go's wording: "Returns", "Reports whether".
func TestWordsOfBuiltins(t *testing.T) {
	stilted := regexp.MustCompile(`(?i)\b(gives?|tells|(not|is) given|(comes|came) to|of its own)\b`)
	check := func(of, text string) {
		if words := stilted.FindString(text); words != "" {
			t.Errorf("%s: %q says %q; write returns, reports or the like", of, text, words)
		}
	}
	u := table.New(data.Rows(), agents.Rows(), compose.Rows(), agents.FlowRows()).WithForms(compose.CallForms())
	for _, b := range u.Rows() {
		check(b.QualifiedName(), b.Doc)
		for _, form := range []*table.Builtin{b, b.InRun} {
			if form == nil {
				continue
			}
			for _, p := range form.Params {
				check(b.QualifiedName()+" "+p.Name, p.Doc)
			}
		}
		if t, ok := doc.Result(b.Name); ok {
			check(b.Name, t.Doc)
			for _, f := range t.Fields {
				check(b.Name+"."+f.Name, f.Guide)
			}
		}
	}
}

// Promise 26.141 (sound): the guide says where each builtin can be used: at the top level, in functions that run, or
// anywhere.
func TestPromise_26_141_Places(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "## Where to use each builtin\n")
	if !found {
		t.Fatal("docs/guide.md lacks the section \"Where to use each builtin\"")
	}
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
					t.Errorf("the guide has %s in two rows", name)
				}
				where[name] = place
			}
		}
	}
	u := table.New(data.Rows(), agents.Rows(), compose.Rows(), agents.FlowRows()).WithForms(compose.CallForms())
	for _, b := range u.Rows() {
		name, want := b.QualifiedName(), "anywhere"
		switch {
		case b.InRun != nil:
			want = "at the top level to build the graph, in functions that run to make calls"
		case b.AtTop:
			want = "at the top level: build the graph"
		case b.RunOnly != "":
			want = "in functions that run"
		case b.Effect == table.Reads || name == "image":
			want = "at the top level: read files"
		}
		if !strings.HasPrefix(where[name], want) {
			t.Errorf("the guide says %q of the place of %s; want %q", where[name], name, want)
		}
		delete(where, name)
	}
	for name := range where {
		t.Errorf("the guide names %s, which is not a builtin", name)
	}
}
