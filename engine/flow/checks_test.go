package flow_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/generable"
)

var (
	intT, strT, anyT     = generable.IntT, generable.StrT, generable.AnyT
	boolT, floatT, noneT = generable.BoolT, generable.FloatT, generable.NoneT
	list                 = generable.ListOfType
	oneOf                = generable.OneOf
)

// world contains the types that the tests of composition share.
type world struct {
	*enginetest.Composer
	draft, approved, rejected, decision, severity *generable.Type
}

func newWorld(t *testing.T) *world {
	w := &world{Composer: enginetest.Compose()}
	w.draft = enginetest.Schema(t, "Draft", generable.Field{Name: "code", Type: strT}, generable.Field{Name: "lines", Type: intT})
	w.approved = enginetest.Schema(t, "Approved", generable.Field{Name: "by", Type: strT}, generable.Field{Name: "confidence", Type: floatT})
	w.rejected = enginetest.Schema(t, "Rejected", generable.Field{Name: "by", Type: strT}, generable.Field{Name: "reason", Type: strT})
	var errs generable.FieldErrors
	w.decision, errs = generable.NewUnion("Decision", "", "", []*generable.Type{w.approved, w.rejected})
	if errs != nil {
		t.Fatal(errs)
	}
	w.severity, errs = generable.NewEnum("Severity", "", []string{"low", "medium", "high"})
	if errs != nil {
		t.Fatal(errs)
	}
	w.DeclareUnion(w.decision)
	return w
}

func (w *world) node(in, out *generable.Type) *flow.Node {
	return w.Step(w.Fresh(), in, out, enginetest.Identity)
}

func (w *world) pick(field string) *flow.Node { return w.Pick(w.Site("pick", ""), field, nil) }

func (w *world) then(nodes ...*flow.Node) *flow.Node { return w.Then(w.Site("then", ""), nodes...) }

func (w *world) par(nodes ...*flow.Node) *flow.Node {
	return w.Par(w.Site("par", ""), flow.ParOptions{}, nodes...)
}

func (w *world) branch(source *flow.Node, routes ...flow.Route) *flow.Node {
	return w.Branch(w.Site("branch", ""), source, routes, flow.BranchOptions{})
}

// Compositions and the diagnostics for them: none, with the resulting type, or a code with words of the message, label
// or help.
func TestCompositionChecks(t *testing.T) {
	type row struct {
		name  string
		build func(w *world) *flow.Node
		want  string // "in → out", or the code and, after a colon, words that the text must contain
	}
	rows := []row{
		{"pick settles by what comes before", func(w *world) *flow.Node { return w.then(w.node(strT, w.draft), w.pick("lines")) }, "str → int"},
		{"pick in a parallel", func(w *world) *flow.Node {
			return w.then(w.node(strT, w.draft), w.par(w.then(w.pick("code"), w.node(strT, intT)), w.pick("lines")))
		}, "str → list[int]"},
		{"pick of a missing field in a parallel", func(w *world) *flow.Node {
			return w.then(w.node(strT, w.draft), w.par(w.pick("line"), w.pick("lines")))
		}, `AS311: Draft has no field "line"; did you mean "lines"?`},
		{"a sibling's input settles a pick", func(w *world) *flow.Node { return w.par(w.pick("lines"), w.node(w.draft, intT)) }, "Draft → list[int]"},
		{"pick in each", func(w *world) *flow.Node {
			return w.then(w.node(strT, list(w.draft)), w.Each(w.Site("each", ""), flow.EachOptions{Limit: 0}, w.pick("lines")))
		}, "str → list[int]"},
		{"pick as the source of a branch", func(w *world) *flow.Node {
			wrapped := &generable.Type{Kind: generable.RecordType, Name: "Review", Fields: []generable.Field{{Name: "decision", Type: w.decision}}}
			return w.then(w.node(strT, wrapped), w.branch(w.pick("decision"), enginetest.On(w.approved, w.node(w.approved, intT)), enginetest.On(w.rejected, w.node(w.rejected, intT))))
		}, "str → int"},
		{"a branch over a pick is exhaustive", func(w *world) *flow.Node {
			wrapped := &generable.Type{Kind: generable.RecordType, Name: "Review", Fields: []generable.Field{{Name: "decision", Type: w.decision}}}
			return w.then(w.node(strT, wrapped), w.branch(w.pick("decision"), enginetest.On(w.approved, w.node(w.approved, intT))))
		}, "AS305: does not handle Rejected"},
		{"pick in a loop", func(w *world) *flow.Node {
			return w.then(w.node(strT, w.draft), w.Loop(w.Site("loop", ""), w.then(w.pick("code"), w.node(strT, intT)), flow.LoopOptions{Next: enginetest.Stop}))
		}, "str → int"},
		{"pick in a forum", func(w *world) *flow.Node {
			return w.then(w.node(strT, w.draft), w.Forum(w.Site("forum", ""), flow.ForumOptions{}, w.pick("code"), w.pick("lines")))
		}, "str → int"},
		{"pick of all variants", func(w *world) *flow.Node { return w.then(w.node(strT, w.decision), w.pick("by")) }, "str → str"},
		{"pick of one variant", func(w *world) *flow.Node { return w.then(w.node(strT, w.decision), w.pick("reason")) }, `AS311: not every Decision has a field "reason"; Approved has none`},
		{"pick of a dict", func(w *world) *flow.Node {
			return w.then(w.node(strT, generable.DictOfType(intT)), w.pick("x"), w.node(intT, intT))
		}, "str → int"},
		{"pick of dict or schema", func(w *world) *flow.Node {
			return w.then(w.node(strT, oneOf(w.draft, generable.DictOfType(intT))), w.pick("lines"))
		}, "str → int"},
		{"pick of a str", func(w *world) *flow.Node { return w.then(w.node(strT, strT), w.pick("x")) }, `AS311: needs a schema or a dict; str has no fields`},
		{"pick twice", func(w *world) *flow.Node {
			outer := &generable.Type{Kind: generable.RecordType, Name: "Outer", Fields: []generable.Field{{Name: "draft", Type: w.draft}}}
			return w.then(w.node(strT, outer), w.then(w.pick("draft"), w.then(w.pick("lines"))), w.node(intT, intT))
		}, "str → int"},
		{"pick twice, wrong type after", func(w *world) *flow.Node {
			outer := &generable.Type{Kind: generable.RecordType, Name: "Outer", Fields: []generable.Field{{Name: "draft", Type: w.draft}}}
			return w.then(w.node(strT, outer), w.then(w.pick("draft"), w.pick("lines"), w.node(strT, strT)))
		}, `AS301: pick("lines") returns int`},
		{"template behind a parallel", func(w *world) *flow.Node {
			text, _ := agent.ParseTemplate("{{codee}}")
			return w.then(w.node(strT, w.draft), w.par(w.Template(w.Site("template", ""), text, nil)))
		}, "AS314: {{codee}} is no field of Draft; did you mean \"code\"?"},
		{"template over a union", func(w *world) *flow.Node {
			text, _ := agent.ParseTemplate("by {{by}}: {{input}}")
			return w.then(w.node(strT, w.decision), w.Template(w.Site("template", ""), text, nil))
		}, "str → str"},
		{"template over one variant", func(w *world) *flow.Node {
			text, _ := agent.ParseTemplate("{{reason}}")
			return w.then(w.node(strT, w.decision), w.Template(w.Site("template", ""), text, nil))
		}, "AS314: not every Decision has a field; Approved has none"},
		{"template deeper than a field", func(w *world) *flow.Node {
			text, _ := agent.ParseTemplate("{{code.first}}")
			return w.then(w.node(strT, w.draft), w.Template(w.Site("template", ""), text, nil))
		}, "AS314: {{code.first}}; {{code}} is str, which has no fields"},
		{"handler that begins with a pick", func(w *world) *flow.Node {
			return w.branch(w.node(strT, w.decision), enginetest.On(w.approved, w.then(w.pick("confidence"), w.node(floatT, strT))), enginetest.On(w.rejected, w.pick("reason")))
		}, "str → str"},

		{"bool or None", func(w *world) *flow.Node {
			return w.branch(w.node(strT, oneOf(boolT, noneT)), enginetest.On(true, w.node(boolT, intT)), enginetest.On(false, w.node(boolT, intT)), enginetest.On(nil, w.node(noneT, intT)))
		}, "str → int"},
		{"enum or None", func(w *world) *flow.Node {
			return w.branch(w.node(strT, oneOf(w.severity, noneT)), enginetest.On("low", w.node(w.severity, intT)), enginetest.On("medium", w.node(strT, intT)), enginetest.On("high", w.node(w.severity, intT)), enginetest.On(nil, w.node(noneT, intT)))
		}, "str → int"},
		{"enum lacks a value", func(w *world) *flow.Node {
			return w.branch(w.node(strT, oneOf(w.severity, boolT)), enginetest.On("low", w.node(strT, intT)), enginetest.On(true, w.node(boolT, intT)), enginetest.On("high", w.node(strT, intT)))
		}, `AS305: does not handle "medium", False`},
		{"a value behind its type", func(w *world) *flow.Node {
			return w.branch(w.node(strT, w.severity), enginetest.On(w.severity, w.node(w.severity, intT)), enginetest.On("low", w.node(strT, intT)))
		}, `AS306: "low" is already taken`},
		{"a type behind all its values", func(w *world) *flow.Node {
			return w.branch(w.node(strT, boolT), enginetest.On(true, w.node(boolT, intT)), enginetest.On(false, w.node(boolT, intT)), enginetest.On(boolT, w.node(boolT, intT)))
		}, "AS306: bool is already taken"},
		{"a type behind some values", func(w *world) *flow.Node {
			return w.branch(w.node(strT, boolT), enginetest.On(true, w.node(boolT, intT)), enginetest.On(boolT, w.node(boolT, intT)))
		}, "str → int"},
		{"a variant behind its union", func(w *world) *flow.Node {
			return w.branch(w.node(strT, w.decision), enginetest.On(w.decision, w.node(w.decision, intT)), enginetest.On(w.approved, w.node(w.approved, intT)))
		}, "AS306: Approved is already taken"},
		{"the union behind a variant sends the rest", func(w *world) *flow.Node {
			return w.branch(w.node(strT, w.decision), enginetest.On(w.approved, w.node(w.approved, intT)), enginetest.On(w.decision, w.node(w.rejected, intT)))
		}, "str → int"},
		{"a wide key sends what can come", func(w *world) *flow.Node {
			return w.branch(w.node(strT, w.approved), enginetest.On(w.decision, w.node(w.approved, intT)))
		}, "str → int"},
		{"nested unions", func(w *world) *flow.Node {
			return w.branch(w.node(strT, oneOf(w.decision, w.draft, noneT)), enginetest.On(w.decision, w.node(w.decision, intT)), enginetest.On(nil, w.node(noneT, intT)), enginetest.On(w.draft, w.node(w.draft, intT)))
		}, "str → int"},
		{"a str by its value", func(w *world) *flow.Node {
			return w.branch(w.node(strT, strT), enginetest.On("yes", w.node(strT, intT)))
		}, `AS306: "yes" is no case of str; output = enum("yes"), or choose by a condition: [when(eq("yes"), handler)]`},
		{"a list of any by type", func(w *world) *flow.Node {
			return w.branch(w.node(strT, list(anyT)), enginetest.On(list(strT), w.node(list(strT), intT)), enginetest.On(list(intT), w.node(list(intT), intT)))
		}, "str → int"},
		{"any by types", func(w *world) *flow.Node {
			return w.branch(w.node(strT, anyT), enginetest.On(strT, w.node(strT, intT)), enginetest.On(w.approved, w.node(w.approved, intT)))
		}, "str → int"},
		{"otherwise gets the rest", func(w *world) *flow.Node {
			return w.Branch(w.Site("branch", ""), w.node(strT, oneOf(w.decision, noneT)), []flow.Route{enginetest.On(w.approved, w.node(w.approved, intT)), enginetest.On(nil, w.node(noneT, intT))}, flow.BranchOptions{Otherwise: w.node(w.rejected, intT)})
		}, "str → int"},
		{"otherwise behind one value of an enum", func(w *world) *flow.Node {
			return w.Branch(w.Site("branch", ""), w.node(strT, w.severity), []flow.Route{enginetest.On("high", w.node(strT, intT))}, flow.BranchOptions{Otherwise: w.node(w.severity, intT)})
		}, "str → int"},
		{"when gets what is left", func(w *world) *flow.Node {
			return w.Branch(w.Site("branch", ""), w.node(strT, w.decision), []flow.Route{enginetest.On(w.approved, w.node(w.approved, intT)), enginetest.On(engine.Func(enginetest.Stop), w.node(w.rejected, intT))}, flow.BranchOptions{Otherwise: w.node(w.rejected, intT)})
		}, "str → int"},
		{"declared output of a branch", func(w *world) *flow.Node {
			return w.Branch(w.Site("branch", ""), w.node(strT, boolT), []flow.Route{enginetest.On(true, w.node(boolT, intT)), enginetest.On(false, w.node(boolT, strT))}, flow.BranchOptions{Output: oneOf(intT, strT)})
		}, "str → int | str"},
		{"declared output that a handler does not give", func(w *world) *flow.Node {
			return w.Branch(w.Site("branch", ""), w.node(strT, boolT), []flow.Route{enginetest.On(true, w.node(boolT, intT)), enginetest.On(false, w.node(boolT, strT))}, flow.BranchOptions{Output: intT})
		}, "AS303: output = int | str"},
		{"variants join to their union", func(w *world) *flow.Node { return w.par(w.node(strT, w.rejected), w.node(strT, w.approved)) }, "str → list[Decision]"},
		{"outputs that differ", func(w *world) *flow.Node { return w.par(w.node(strT, intT), w.node(strT, strT)) }, "AS303: output = int | str"},
		{"declared output of a parallel", func(w *world) *flow.Node {
			return w.Par(w.Site("par", ""), flow.ParOptions{Output: oneOf(intT, strT)}, w.node(strT, intT), w.node(strT, strT))
		}, "str → list[int | str]"},
		{"inputs that differ", func(w *world) *flow.Node { return w.par(w.node(strT, intT), w.node(intT, intT)) }, "AS302: takes str; takes int"},
		{"the narrower input is common", func(w *world) *flow.Node {
			return w.par(w.node(w.decision, intT), w.node(w.approved, intT), w.node(anyT, intT))
		}, "Approved → list[int]"},
		{"a forum's members take the first one's input", func(w *world) *flow.Node {
			return w.Forum(w.Site("forum", ""), flow.ForumOptions{}, w.node(w.approved, intT), w.node(w.decision, intT), w.node(intT, intT))
		}, "AS304: takes Approved; takes int"},

		{"int does not flow into float", func(w *world) *flow.Node { return w.then(w.node(strT, intT), w.node(floatT, intT)) }, "AS301: fn(float)"},
		{"a field is wanted", func(w *world) *flow.Node { return w.then(w.node(strT, w.draft), w.node(strT, intT)) }, `AS301: put pick("code") between them`},
		{"an item is wanted", func(w *world) *flow.Node { return w.then(w.node(strT, list(strT)), w.node(strT, intT)) }, "AS301: write each(n3)"},
		{"a list is wanted", func(w *world) *flow.Node { return w.then(w.node(strT, strT), w.node(list(strT), intT)) }, "AS301: lambda x: [x]"},
		{"each without a list", func(w *world) *flow.Node {
			return w.then(w.node(strT, strT), w.Each(w.Site("each", ""), flow.EachOptions{Limit: 0}, w.node(strT, intT)))
		}, "AS318: each takes a list"},
		{"a union is wanted apart", func(w *world) *flow.Node { return w.then(w.node(strT, w.decision), w.node(w.approved, intT)) }, "AS301: branch(node, {Approved: handler, Rejected: handler})"},
		{"None is not wanted", func(w *world) *flow.Node { return w.then(w.node(strT, oneOf(strT, noneT)), w.node(strT, intT)) }, "AS301: branch(node, {str: handler, None: handler})"},
		{"edges of a flattened pipeline are all checked", func(w *world) *flow.Node {
			ab := w.Then(w.Op("`>>`"), w.node(strT, intT), w.node(intT, strT))
			return w.Then(w.Op("`>>`"), ab, w.node(intT, intT), w.node(intT, intT))
		}, "AS301: returns str"},

		{"repair must give the input", func(w *world) *flow.Node {
			return w.Loop(w.Site("loop", ""), w.node(w.draft, w.decision), flow.LoopOptions{UntilFunc: enginetest.Stop, Repair: w.node(w.decision, strT)})
		}, "AS315: returns str; return Draft"},
		{"repair must take the output", func(w *world) *flow.Node {
			return w.Loop(w.Site("loop", ""), w.node(w.draft, w.decision), flow.LoopOptions{UntilFunc: enginetest.Stop, Repair: w.node(intT, w.draft)})
		}, "AS301: returns Decision"},
		{"next as a node may give None", func(w *world) *flow.Node {
			return w.Loop(w.Site("loop", ""), w.node(w.draft, intT), flow.LoopOptions{NextNode: w.node(intT, oneOf(w.draft, noneT))})
		}, "Draft → int"},
		{"a negative bound", func(w *world) *flow.Node {
			return w.Loop(w.Site("loop", ""), w.node(intT, intT), flow.LoopOptions{Next: enginetest.Stop, Max: -1})
		}, "AS307: at least 1, not -1"},
		{"a loop without an end", func(w *world) *flow.Node {
			return w.Loop(w.Site("loop", ""), w.node(intT, intT), flow.LoopOptions{})
		}, "AS203"},
		{"a predicate of two arguments", func(w *world) *flow.Node {
			two := engine.GoFunc("two", 2, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.Value{}, nil })
			return w.Branch(w.Site("branch", ""), w.node(strT, strT), []flow.Route{enginetest.On(engine.Func(two), w.node(strT, strT))}, flow.BranchOptions{Otherwise: w.node(strT, strT)})
		}, "AS216: two"},

		{"nothing in a parallel", func(w *world) *flow.Node { return w.par() }, "AS316"},
		{"nothing in a branch", func(w *world) *flow.Node { return w.branch(w.node(strT, strT)) }, "AS316"},
		{"a forum of one", func(w *world) *flow.Node {
			return w.Forum(w.Site("forum", ""), flow.ForumOptions{}, w.node(strT, strT))
		}, "AS316: a participant and a captain"},
		{"negative rounds", func(w *world) *flow.Node {
			return w.Forum(w.Site("forum", ""), flow.ForumOptions{Rounds: -2}, w.node(strT, strT), w.node(strT, strT))
		}, "AS307: at least 1, not -2"},
		{"no node", func(w *world) *flow.Node { return w.then(w.node(strT, strT), nil) }, "AS310"},
		{"no node in each", func(w *world) *flow.Node { return w.Each(w.Site("each", ""), flow.EachOptions{Limit: 0}, nil) }, "AS310"},
		{"no body", func(w *world) *flow.Node {
			return w.Loop(w.Site("loop", ""), nil, flow.LoopOptions{Next: enginetest.Stop})
		}, "AS310"},
		{"no handler", func(w *world) *flow.Node { return w.branch(w.node(strT, strT), enginetest.On(strT, nil)) }, "AS310"},
		{"no source", func(w *world) *flow.Node { return w.branch(nil, enginetest.On(strT, w.node(strT, strT))) }, "AS310"},
		{"no function", func(w *world) *flow.Node { return w.Fn(w.Site("fn", "f"), nil, nil, nil) }, "AS203"},
		{"a route without a key", func(w *world) *flow.Node {
			return w.branch(w.node(strT, strT), flow.Route{Handler: w.node(strT, strT)})
		}, "AS306"},
		{"nested too deep", func(w *world) *flow.Node {
			n := w.node(strT, strT)
			for range 11_000 {
				if n = w.then(n); n.Failed() {
					break
				}
			}
			return n
		}, "AS204: deep; one flat list"},
		{"lists nested too deep", func(w *world) *flow.Node {
			n := w.node(strT, strT)
			for range 400 {
				if n = w.par(n); n.Failed() {
					break
				}
			}
			return n
		}, "AS204: deep"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			w := newWorld(t)
			n := r.build(w)
			found := w.Diagnostics()
			if strings.Contains(r.want, "→") && !strings.HasPrefix(r.want, "AS") {
				if got := n.In().String() + " → " + n.Out().String(); got != r.want || found.HasErrors() {
					t.Errorf("got %s, want %s; said\n%v", got, r.want, enginetest.Said(found))
				}
				return
			}
			code, words, _ := strings.Cut(r.want, ": ")
			if len(found) != 1 || string(found[0].Code) != code {
				t.Fatalf("want one %s, said\n%v", code, enginetest.Said(found))
			}
			for word := range strings.SplitSeq(words, "; ") {
				if !strings.Contains(enginetest.Said(found), word) {
					t.Errorf("%q is not in\n%s", word, enginetest.Said(found))
				}
			}
			if !n.Failed() {
				t.Error("the node does not count as failed")
			}
			if !found[0].Span.IsValid() || (len(found[0].Help) == 0 && code != "AS216") {
				t.Errorf("no position or no help:\n%s", enginetest.Said(found))
			}
		})
	}
}
