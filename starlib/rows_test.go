package starlib_test

import (
	"strings"
	"testing"
	"time"
)

// TestRowsRefuse loads calls whose arguments exclude each other, or are out of range.
func TestRowsRefuse(t *testing.T) {
	const a = "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n"
	for _, tt := range []struct{ src, code, place, says string }{
		{a + "c = loop(a, b, until = eq(\"x\"))", "AS204", "3:24", "loop: next and until exclude each other"},
		{a + "c = loop(a, b, repair = a)", "AS204", "3:25", "loop: next and repair exclude each other"},
		{"a = agent(prompt = \"A.\", top_p = 1.5)", "AS204", "1:34", "want 0 to 1, got 1.5"},
		{"x = [1]\ny = x(2)", "AS213", "2:6", "invalid call of non-function (list)"},
	} {
		m, found := load(tt.src + "\n")
		if codes(found) != tt.code || !strings.HasSuffix(found[0].Span.Pos.String(), ":"+tt.place) || !strings.Contains(found[0].Message, tt.says) {
			t.Errorf("%s\nwant %s at %s, %q:\n%s", tt.src, tt.code, tt.place, tt.says, render(m, found))
		}
	}
}

// TestToolIsChanged gives a tool another bound, and checks the agent's copy.
func TestToolIsChanged(t *testing.T) {
	m := sound(t, `
def look(path = str):
    """Looks."""
    return path
first = tool(look)
a = agent(prompt = "A.", tools = [tool(first, timeout = "5s")])
b = agent(prompt = "B.", tools = [first])
`)
	for name, want := range map[string]time.Duration{"a": 5 * time.Second, "b": 0} {
		tools := m.Node(name).Agent().Tools
		if len(tools) != 1 || tools[0].Name != "look" || tools[0].Timeout != want {
			t.Errorf("%s: got %+v, want a timeout of %s", name, tools, want)
		}
	}
}
