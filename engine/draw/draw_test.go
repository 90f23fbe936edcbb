package draw_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/draw"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// composer builds nodes whose callbacks are never called.
type composer struct {
	*flow.Session
}

func site(what, name string) flow.Site { return flow.Site{What: what, Name: name} }

func nothing(name string, params int) engine.Func {
	return engine.GoFunc(name, params, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.Value{}, nil
	})
}

func (c composer) prompted(name, model string, in, out *generable.Type) *flow.Node {
	return c.Agent(site("agent", name), &agent.Spec{Name: name, Model: model, In: in, Out: out, Prompt: "Do it."})
}

func (c composer) run(name string, in, out *generable.Type) *flow.Node {
	return c.Agent(site("agent", name), &agent.Spec{Name: name, In: in, Out: out, Run: nothing(name, 1)})
}

func (c composer) fn(name string, in, out *generable.Type) *flow.Node {
	return c.Fn(site("fn", name), nothing("lambda", 1), in, out)
}

var (
	str      = generable.StrT
	draft    = &generable.Type{Kind: generable.RecordType, Name: "Draft", Fields: []generable.Field{{Name: "code", Type: str}}}
	approved = &generable.Type{Kind: generable.RecordType, Name: "Approved", Fields: []generable.Field{{Name: "confidence", Type: generable.FloatT}}}
	rejected = &generable.Type{Kind: generable.RecordType, Name: "Rejected", Fields: []generable.Field{{Name: "reason", Type: str}}}
	decision = &generable.Type{Kind: generable.UnionType, Name: "Decision", Tag: "type", Variants: []*generable.Type{approved, rejected}}
)

var pictures = map[string]func(c composer) *flow.Node{
	"agent": func(c composer) *flow.Node { return c.prompted("greeter", "ollama/qwen2.5:7b", str, str) },
	"talk": func(c composer) *flow.Node {
		talk := c.WithHistory(diag.Span{}, c.Then(site("then", ""), c.prompted("ask", "", str, str), c.prompted("tell", "", str, str)), &agent.History{Shared: true})
		merged := c.Par(site("par", ""), flow.ParOptions{Merge: c.fn("", nil, str)}, c.run("a", str, draft), c.run("b", str, draft))
		return c.Then(site("then", "main"), talk, c.Approval(site("approval", ""), "Ship it?", nil), merged)
	},
	"review": func(c composer) *flow.Node {
		coder := c.prompted("coder", "openai/gpt-5", str, draft)
		judge := c.prompted("judge", "", str, decision)
		verdict := c.Branch(site("branch", "verdict"), judge, []flow.Route{
			{Type: approved, Handler: c.run("ship", approved, str)},
			{Type: rejected, Handler: c.Then(site("then", ""), c.fn("", rejected, str), c.run("file", str, str))},
		}, flow.BranchOptions{})
		return c.Then(site("then", "main"), coder, c.Pick(site("pick", ""), "code", nil), verdict)
	},
	"parallel": func(c composer) *flow.Node {
		reviews := c.Par(site("par", "reviews"), flow.ParOptions{}, c.prompted("security", "", str, str), c.prompted("speed", "", str, str))
		return c.Then(site("then", "main"), reviews, c.run("merge", generable.ListOfType(str), str))
	},
	"otherwise": func(c composer) *flow.Node {
		yes := generable.BoolOf(true)
		return c.Branch(site("branch", ""), c.run("check", str, generable.BoolT),
			[]flow.Route{{Value: &yes, Handler: c.run("go", generable.BoolT, str)}},
			flow.BranchOptions{Otherwise: c.run("stop", generable.BoolT, str)})
	},
	"loop": func(c composer) *flow.Node {
		return c.Loop(site("loop", "refine"), c.prompted("polish", "", str, str), flow.LoopOptions{Next: nothing("next", 1), Max: 4})
	},
	"repair": func(c composer) *flow.Node {
		return c.Loop(site("loop", ""), c.run("lint", draft, decision),
			flow.LoopOptions{UntilFunc: nothing("ok", 1), Repair: c.prompted("mend", "", decision, draft), Max: 4})
	},
	"each": func(c composer) *flow.Node {
		return c.Each(site("each", "files"), flow.EachOptions{}, c.Then(site("then", ""), c.run("read", str, draft), c.fn("", draft, generable.IntT)))
	},
	"forum": func(c composer) *flow.Node {
		return c.Forum(site("forum", "panel"), flow.ForumOptions{Rounds: 2},
			c.prompted("optimist", "", str, str), c.prompted("sceptic", "", str, str), c.prompted("captain", "", str, str))
	},
	"opened": func(c composer) *flow.Node { // by their names, by the same operator
		op := func(what, name string) flow.Site { return flow.Site{What: what, Name: name, ByOp: true} }
		pair := c.Par(op("`/`", "pair"), flow.ParOptions{}, c.run("a", str, str), c.run("b", str, str))
		talk := c.Forum(op("`*`", "talk"), flow.ForumOptions{}, c.prompted("d", "", str, str), c.prompted("e", "", str, str))
		return c.Then(site("then", "main"), c.Forum(op("`*`", ""), flow.ForumOptions{}, talk, c.prompted("f", "", str, str)),
			c.Par(op("`/`", ""), flow.ParOptions{}, pair, c.run("c", str, str)))
	},
	"names": func(c composer) *flow.Node {
		return c.Then(site("then", ""), c.run(`a "quoted" <b> & #1`, str, str), c.run("back\\slash\nline", str, generable.OneOf(str, generable.NoneT)))
	},
	"broken": func(c composer) *flow.Node {
		return c.Then(site("then", ""), c.run("one", str, generable.IntT), c.run("two", draft, str))
	},
}

func TestPictures(t *testing.T) {
	for name, make := range pictures {
		t.Run(name, func(t *testing.T) {
			c := composer{flow.NewSession()}
			n := make(c)
			if l := c.Diagnostics(); l.HasErrors() != (name == "broken") {
				t.Fatalf("composing: %v", l)
			}
			golden(t, name+".mmd", draw.Mermaid(n))
			golden(t, name+".dot", draw.DOT(n))
			golden(t, name+".svg", draw.SVG(n))
			golden(t, name+".json", draw.JSON(n))
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// Every arrow leads from a declared box to a declared box, and every box is reachable from the beginning, whatever the
// composition.
func TestConnected(t *testing.T) {
	for name, make := range pictures {
		if name == "broken" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := composer{flow.NewSession()}
			text := draw.DOT(make(c))
			next := map[string][]string{}
			boxes := map[string]bool{}
			for line := range strings.Lines(text) {
				f := strings.Fields(line)
				switch {
				case len(f) > 2 && f[1] == "->":
					next[f[0]] = append(next[f[0]], f[2])
				case len(f) > 1 && strings.HasPrefix(f[1], "[label="):
					boxes[f[0]] = true
				}
			}
			reached := map[string]bool{}
			var visit func(id string)
			visit = func(id string) {
				if reached[id] {
					return
				}
				reached[id] = true
				if !boxes[id] {
					t.Errorf("an arrow leads to %s, which is no box", id)
				}
				for _, to := range next[id] {
					visit(to)
				}
			}
			visit("n0")
			for id := range boxes {
				if !reached[id] {
					t.Errorf("box %s is never reached", id)
				}
			}
		})
	}
}

func TestNoNode(t *testing.T) {
	if draw.Mermaid(nil) != "" || draw.DOT(nil) != "" || draw.SVG(nil) != "" || draw.JSON(nil) != "" {
		t.Error("a nil node is drawn")
	}
}

// Failed nodes are drawn as well, even if a host left something out.
func TestBrokenPictures(t *testing.T) {
	for name, make := range map[string]func(c composer) *flow.Node{
		"no handler": func(c composer) *flow.Node {
			return c.Branch(site("branch", ""), c.run("a", str, str), []flow.Route{{Type: str}}, flow.BranchOptions{})
		},
		"no source": func(c composer) *flow.Node {
			return c.Branch(site("branch", ""), nil, []flow.Route{{Type: str, Handler: c.run("a", str, str)}}, flow.BranchOptions{})
		},
		"no body": func(c composer) *flow.Node {
			return c.Loop(site("loop", ""), nil, flow.LoopOptions{Next: nothing("next", 1)})
		},
		"taken": func(c composer) *flow.Node {
			a := c.run("a", str, str)
			c.Then(site("then", ""), a)
			return c.Par(site("par", ""), flow.ParOptions{}, a, c.run("b", str, str))
		},
		"forum of one": func(c composer) *flow.Node {
			return c.Forum(site("forum", ""), flow.ForumOptions{}, c.run("a", str, str))
		},
		"wrong forum": func(c composer) *flow.Node {
			return c.Forum(site("forum", ""), flow.ForumOptions{}, c.run("a", str, str), c.run("b", generable.IntT, str))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := composer{flow.NewSession()}
			n := make(c)
			if !n.Failed() || draw.Mermaid(n) == "" || draw.DOT(n) == "" {
				t.Errorf("failed %v, drawn as %q", n.Failed(), draw.DOT(n))
			}
		})
	}
}
