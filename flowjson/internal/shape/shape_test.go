package shape

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/generable"
)

// flow returns a plan of edges: "a>b" for everything that a returns, "a?b" for a specific value of it. The first agent
// is the start, and . is the end.
func flow(edges string) *plan.Plan {
	p := &plan.Plan{Spec: &spec.Spec{}}
	index := map[string]int{}
	agent := func(name string) int {
		if name == "." {
			return End
		}
		if _, ok := index[name]; !ok {
			index[name] = len(p.Agents)
			p.Agents = append(p.Agents, &plan.Agent{Agent: &spec.Agent{Name: name, Type: spec.Task}, Out: generable.IntT})
			p.Order = append(p.Order, index[name])
		}
		return index[name]
	}
	for e := range strings.FieldsSeq(edges) {
		at := strings.IndexAny(e, ">?")
		a := p.Agents[max(0, agent(e[:at]))]
		edge := &plan.Edge{Spec: &spec.Edge{}, Target: agent(e[at+1:])}
		if e[at] == '?' {
			v := generable.IntOf(int64(len(a.Edges)))
			edge.Pred, _ = predicate.New(predicate.Eq, "", &v)
		}
		a.Edges = append(a.Edges, edge)
	}
	return p
}

// written writes a shape for a test.
func written(p *plan.Plan, s *Shape) string {
	var parts []string
	for _, part := range s.Parts {
		parts = append(parts, written(p, part))
	}
	switch s.Kind {
	case Step:
		return p.Agents[s.Agent].Name
	case Pass:
		return "="
	case Seq:
		return strings.Join(parts, " ")
	case Branch:
		for _, way := range s.Ways {
			parts = append(parts, written(p, way.Then))
		}
		return "(" + parts[0] + ": " + strings.Join(parts[1:], " | ") + ")"
	case Loop:
		return "{" + parts[0] + " until " + s.Until.String() + ": " + parts[1] + "}"
	}
	for _, i := range s.Nodes {
		parts = append(parts, p.Agents[i].Name)
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func TestStructure(t *testing.T) {
	for _, row := range []struct{ edges, want string }{
		{"a>b b>c", "a b c"},
		{"a?b a>c b>d c>d", "(a: b | c) d"},
		{"a?b a>c b>. c>.", "(a: b | c)"},
		{"a?. a>b b>c", "(a: = | b c)"},
		{"a?b a>c b>c c>d", "(a: b | =) c d"},
		{"a?b a?b a>b", "a b"},
		{"a?b a?b a>c b>. c>.", "(a: b | c)"},
		{"g>c c?. c>x x>f f>c", "g {c until eq(0): x f}"},
		{"g>a a>b b?a b>. ", "g {a b until ~eq(0): =}"},
		{"g>a a>b b?a b?. ", "g {a b until eq(1): =}"},
		{"g>a a?b a>c b>d c>d d?a d>e", "g {(a: b | c) d until ~eq(0): =} e"},
		{"a?a a>b", "{a until ~eq(0): =} b"},
		{"a>c c?x c?y c>. x>z y>z z>c", "a {c until ~eq(0) & ~eq(1): (=: x | y) z}"},
		{"c?x c?y c>r r>c x>z y>z", "({c until eq(0) | eq(1): r}: x | y) z"},
		{"k?p k?q k?r p>v v?f v>x x>v q>q2 q2>f r>f k>f f>.", "(k: p {v until eq(0): x} | q q2 | r | =) f"},
		{"a>b b>c c?b c?d d?b d>.", "a {[b c] d until ~eq(0): =}"}, // two ways back, from two agents
		{"a?b a>c b>c c?b c>d", "[a b c] d"},                       // a cycle with two heads
		{"s>a a?b a>c b?c b>. c?b c>d d>e", "s [a b c d e]"},
		{"a?b a>c b?d b>e c?d c>e d>f e>f f>g", "[a b c d e] f g"}, // arms that meet crosswise
		{"o>i i?i i>c c?o c>.", "{o {i until ~eq(0): =} c until ~eq(0): =}"},
		{"a?b a>c b?e b>d c>d d>f e>f", "[a b c e d] f"},
	} {
		p := flow(row.edges)
		s, lost := Structure(p)
		if lost >= 0 {
			t.Errorf("%s: %s has no end", row.edges, p.Agents[lost].Name)
			continue
		}
		if got := written(p, s); got != row.want {
			t.Errorf("%s is %s, want %s", row.edges, got, row.want)
		}
	}
}

func TestLost(t *testing.T) {
	p := flow("a?b a>. b>c c>b")
	if s, lost := Structure(p); s != nil || lost != 1 {
		t.Errorf("got %v, lost %d", s, lost)
	}
}

// TestLarge checks that large flows of all kinds are structured with little time and depth.
func TestLarge(t *testing.T) {
	const n = 10_000
	for name, edge := range map[string]func(i int) string{
		"a chain":             func(i int) string { return fmt.Sprintf("%d>%d", i, i+1) },
		"a ladder":            func(i int) string { return fmt.Sprintf("%d?. %d>%d", i, i, i+1) },
		"short cuts":          func(i int) string { return fmt.Sprintf("%d?%d %d>%d", i, min(i+2, n), i, i+1) },
		"loops of one":        func(i int) string { return fmt.Sprintf("%d?%d %d>%d", i, i, i, i+1) },
		"loops in each other": func(i int) string { return fmt.Sprintf("%d?%d %d>%d", i, max(0, n-1-i), i, i+1) },
		"ways back":           func(i int) string { return fmt.Sprintf("%d?%d %d>%d", i, i/2, i, i+1) },
		"ways anywhere":       func(i int) string { return fmt.Sprintf("%d?%d %d>%d", i, (i*7919+13)%n, i, i+1) },
		"diamonds":            func(i int) string { return fmt.Sprintf("%d?x%d %d>y%d x%d>%d y%d>%d", i, i, i, i, i, i+1, i, i+1) },
	} {
		var edges []string
		for i := range n {
			edges = append(edges, edge(i))
		}
		p := flow(strings.Join(edges, " "))
		begun := time.Now()
		s, lost := Structure(p)
		if s == nil || lost >= 0 {
			t.Errorf("%s: lost %d", name, lost)
			continue
		}
		t.Logf("%s: %v, %.60s", name, time.Since(begun), written(p, s))
		if placed := places(s); placed != len(p.Agents) {
			t.Errorf("%s: %d of %d agents have a place", name, placed, len(p.Agents))
		}
	}
}

// places counts the agents of a shape; one that occurs twice counts twice.
func places(s *Shape) int {
	n := len(s.Nodes)
	if s.Kind == Step {
		n++
	}
	for _, part := range s.Parts {
		n += places(part)
	}
	for _, way := range s.Ways {
		n += places(way.Then)
	}
	return n
}
