package agentscript_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
)

// program is a random script: str→str agents under operators nested three deep.
type program struct {
	rng    *rand.Rand
	lines  []string
	leaves []leaf
}

// leaf is one agent, and whether its output is unconstrained by what surrounds it (as for a forum's participant).
type leaf struct {
	line int
	free bool
}

func (p *program) agent(free bool) string {
	name := fmt.Sprint("a", len(p.lines))
	p.leaves = append(p.leaves, leaf{len(p.lines), free})
	p.lines = append(p.lines, name+` = agent(input = str, output = str, run = lambda s: json.decode("null") or s)`)
	return name
}

func (p *program) helper(makes string) string {
	name := fmt.Sprint("h", len(p.lines))
	p.lines = append(p.lines, name+" = "+makes)
	return name
}

const (
	join  = `fn(lambda xs: "+".join(xs), input = list[str], output = str)`
	split = `fn(lambda s: [s, s], input = str, output = list[str])`
)

var operators = []string{"then", "par", "forum", "loop", "branch", "each"}

// expr writes an expression of type str→str with the given outer operators.
func (p *program) expr(ops []string, free bool) string {
	if len(ops) == 0 {
		return p.agent(free)
	}
	// The deeper operators go to a random operand; the other operand is an agent.
	deep := func(free bool) string { return p.expr(ops[1:], free) }
	left := p.rng.IntN(2) == 0
	two := func(leftFree, rightFree bool) (string, string) {
		if left {
			return deep(leftFree), p.agent(rightFree)
		}
		return p.agent(leftFree), deep(rightFree)
	}
	sugar := p.rng.IntN(2) == 0
	switch ops[0] {
	case "then":
		a, b := two(false, free)
		if sugar {
			return fmt.Sprintf("(%s >> %s)", a, b)
		}
		return fmt.Sprintf("then(%s, %s)", a, b)
	case "par":
		a, b := two(false, false)
		if sugar {
			return fmt.Sprintf("((%s) / (%s) >> %s)", a, b, p.helper(join))
		}
		return fmt.Sprintf("then(par(%s, %s), %s)", a, b, p.helper(join))
	case "forum":
		a, b := two(true, free)
		if sugar {
			return fmt.Sprintf("((%s) * (%s))", a, b)
		}
		return fmt.Sprintf("forum(%s, %s)", a, b)
	case "loop":
		if sugar {
			return fmt.Sprintf("(%s).loop(lambda s: None)", deep(free))
		}
		return fmt.Sprintf("loop(%s, lambda s: None, max = 2)", deep(free))
	case "branch":
		a, b := two(false, free)
		if sugar {
			return fmt.Sprintf("(%s).branch({str: %s})", a, b)
		}
		return fmt.Sprintf("branch(%s, {str: %s})", a, b)
	default:
		return fmt.Sprintf("then(%s, each(%s), %s)", p.helper(split), deep(false), p.helper(join))
	}
}

func (p *program) text() string { return strings.Join(p.lines, "\n") + "\n" }

// Every pair of operators, nested three deep, composes without findings and runs. With one type changed, check finds
// exactly that one mistake.
func TestCheckFindsExactlyTheMutatedType(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	eng := agentscript.New()
	programs := 0
	for _, a := range operators {
		for _, b := range operators {
			for _, c := range operators {
				programs++
				p := &program{rng: rng}
				p.lines = append(p.lines, `first = agent(input = str, output = str, run = lambda s: json.decode("null") or s)`,
					`last = agent(input = str, output = str, run = lambda s: json.decode("null") or s)`)
				body := p.expr([]string{a, b, c}, false)
				p.lines = append(p.lines, "main = then(first, "+body+", last)")
				mod, err := eng.Load(context.Background(), script(p.text()), "flow.star")
				if err != nil {
					t.Fatalf("%s > %s > %s: a sound program is refused:\n%s\n%v", a, b, c, p.text(), err)
				}
				if _, err := mod.Start(context.Background(), agentscript.Input("x")).Wait(); err != nil {
					t.Fatalf("%s > %s > %s: %v\n%s", a, b, c, err, p.text())
				}
				victim := p.leaves[rng.IntN(len(p.leaves))]
				side := "input"
				if !victim.free && rng.IntN(2) == 0 {
					side = "output"
				}
				line := p.lines[victim.line]
				p.lines[victim.line] = strings.Replace(line, side+" = str", side+" = int", 1)
				found, src := eng.Check(context.Background(), script(p.text()), "flow.star")
				if errors := onlyErrors(found); len(errors) != 1 {
					var shown strings.Builder
					diag.Render(&shown, found, src, diag.Options{})
					t.Fatalf("%s > %s > %s: line %d has one wrong %s, and check finds %d mistakes:\n%s\n%s",
						a, b, c, victim.line+1, side, len(errors), p.text(), shown.String())
				}
			}
		}
	}
	if programs != 216 {
		t.Errorf("%d programs", programs)
	}
}

func onlyErrors(l diag.List) diag.List {
	var out diag.List
	for _, d := range l {
		if d.Severity == diag.Error {
			out = append(out, d)
		}
	}
	return out
}
