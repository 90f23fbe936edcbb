package chaos

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/gentest"
)

// answered returns an answer to a request for a type; nil means text.
func answered(t *generable.Type, text string, tools ...model.ToolDef) *answer {
	req := &model.Request{Tools: tools}
	if t != nil {
		req.Output = &model.Output{Type: t}
	}
	return &answer{agent: "a", path: "main/agent:a#0/llm0", req: req, out: engine.Outcome{Attempt: 1,
		Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: text}}}}}
}

// For any type: a mutated answer that must not fit does not fit, prose and fences leave a value unchanged, and the
// original answer is not modified.
func TestMutationsOfAnyType(t *testing.T) {
	applied := map[Mutation]int{}
	for seed := range int64(gentest.Rounds()) {
		g := gentest.NewGenerator(seed)
		typ := g.Typ(3)
		v := g.Value(typ, 3)
		text := generable.JSON(v, typ)
		res := lenient.Decode(typ, text, generable.Options{})
		if !res.OK {
			continue
		}
		a := answered(typ, text)
		for _, m := range mutations {
			out, ok := m.change(a, rand.New(rand.NewPCG(uint64(seed), 1)))
			if !ok {
				continue
			}
			applied[m.name]++
			if a.out.Response.Text() != text {
				t.Fatalf("seed %d: %s changes the answer itself", seed, m.name)
			}
			switch m.name {
			case MissingField, WrongType, UnknownVariant, Truncated:
				if got := out.Response.Text(); lenient.Decode(typ, got, generable.Options{}).OK {
					t.Fatalf("seed %d: %s of %s, a %s, still fits: %s", seed, m.name, text, typ, got)
				}
			case Prose, Fence:
				if k := typ.Deref().Kind; k != generable.RecordType && k != generable.UnionType {
					continue // for a number or a word among others, nobody knows whether it is meant
				}
				if got := lenient.Decode(typ, out.Response.Text(), generable.Options{}); !got.OK || !generable.Equal(got.Value, res.Value) {
					t.Errorf("seed %d: %s of %s, a %s: %v", seed, m.name, text, typ, got.Errors)
				}
			}
		}
	}
	for _, m := range []Mutation{MissingField, WrongType, UnknownVariant, Truncated, Prose, Fence, Empty, Refusal, Timeout, RateLimit, Injection} {
		if applied[m] < 10 {
			t.Errorf("%s applied %d times", m, applied[m])
		}
	}
}

// FuzzMutations: no answer makes a mutation panic, whatever its type.
func FuzzMutations(f *testing.F) {
	f.Add(`{"type": "A", "x": 1}`, int64(1), true)
	f.Add("```json\n[1, \"é\"", int64(7), false)
	f.Add("", int64(3), true)
	f.Fuzz(func(t *testing.T, text string, seed int64, typed bool) {
		var typ *generable.Type
		if typed {
			typ = gentest.NewGenerator(seed).Typ(2)
		}
		answers := []*answer{answered(typ, text, model.ToolDef{Name: "t"}), answered(typ, ""), {req: &model.Request{}, out: engine.Failed(engine.Errorf(engine.KindServer, "", "down"))}}
		answers[1].out.Response.Parts = []model.Part{{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "t", Args: text}}}
		for _, a := range answers {
			for _, m := range mutations {
				out, ok := m.change(a, rand.New(rand.NewPCG(uint64(seed), 1)))
				if ok && out.Err == nil && out.Response == nil {
					t.Fatalf("%s leaves nothing of %q", m.name, strings.ToValidUTF8(text, "?"))
				}
			}
		}
	})
}
