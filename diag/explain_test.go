package diag_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// declaredCodes reads the constants of type Code from the source, so that no
// code can be added without an explanation.
func declaredCodes(t *testing.T) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if other, twice := codes[code]; twice {
				t.Errorf("%s is both %s and %s", code, other, v.Names[0].Name)
			}
			codes[code] = v.Names[0].Name
		}
		return true
	})
	return codes
}

func TestEveryCodeIsExplained(t *testing.T) {
	codes := declaredCodes(t)
	last := diag.Code("")
	for _, e := range diag.Entries() {
		if e.Code <= last {
			t.Errorf("%s comes after %s", e.Code, last)
		}
		last = e.Code
		if _, ok := codes[string(e.Code)]; !ok {
			t.Errorf("%s has an entry and no constant", e.Code)
		}
		delete(codes, string(e.Code))
		if e.Title == "" || strings.HasSuffix(e.Title, ".") {
			t.Errorf("%s: bad title %q", e.Code, e.Title)
		}
		if n := strings.Count(e.Explain+" ", ". "); n < 2 || n > 6 {
			t.Errorf("%s: %d sentences, want 2 to 6", e.Code, n)
		}
		if (e.Wrong == "") != (e.Right == "") || e.Wrong != "" && e.Wrong == e.Right {
			t.Errorf("%s: wants two different examples or none", e.Code)
		}
	}
	for code, name := range codes {
		t.Errorf("%s (%s) has no entry", name, code)
	}
}

func TestLookup(t *testing.T) {
	for _, code := range []string{"AS301", "as301", " 301 "} {
		if e, ok := diag.Lookup(code); !ok || e.Code != diag.CannotJoin {
			t.Errorf("Lookup(%q) = %v, %v", code, e, ok)
		}
	}
	for _, code := range []string{"", "AS", "AS999", "CannotJoin"} {
		if e, ok := diag.Lookup(code); ok {
			t.Errorf("Lookup(%q) = %v", code, e)
		}
	}
}

func TestCommandsStandOnTheirOwnLines(t *testing.T) {
	e, _ := diag.Lookup("AS780")
	want := "Send the value, then resume the run:\n\n" +
		"    agentscript runs answer RUN NAME --result JSON\n" +
		"    agentscript runs resume RUN\n"
	if page := e.Markdown(); !strings.Contains(page, want) {
		t.Errorf("the commands of AS780 do not stand on lines of their own:\n%s", page)
	}
	if strings.Contains(strings.SplitN(e.Explain, "\n\n", 2)[0], "\n") {
		t.Errorf("a paragraph is wrapped: %q", e.Explain)
	}
}
