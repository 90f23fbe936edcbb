package conformance

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// policed is the result of a run under rules: what its model received, what was called and what people were asked.
type policed struct {
	res    agentscript.Result
	err    error
	told   []string
	system string
	called []string // the arguments with which the host's tool was called
	asked  []string
	events []engine.Event
}

func (p *policed) failure() *engine.Error {
	var e *engine.Error
	errors.As(p.err, &e)
	return e
}

// policyRun holds the settings of a run.
type policyRun struct {
	src     string
	answers []engine.Outcome
	options []agentscript.Option
	approve engine.Approvals
	journal *store.Memory
	run     []agentscript.RunOption
}

// do runs a script whose agent is main and has the host's tool pay(amount, to), of class once.
func (c policyRun) do(t *testing.T) *policed {
	t.Helper()
	p := &policed{}
	var mu sync.Mutex
	pay := agent.HostTool{Tool: agent.Tool{Name: "pay", Doc: "Pays.", Class: engine.ClassOnce, Returns: generable.StrT,
		Params: schemaOf(t, "pay", generable.Field{Name: "amount", Type: generable.IntT}, generable.Field{Name: "to", Type: generable.StrT})},
		Do: func(_ context.Context, _ agent.ToolCallInfo, args generable.Value) (generable.Value, error) {
			mu.Lock()
			defer mu.Unlock()
			p.called = append(p.called, generable.JSON(args, nil))
			return generable.StrOf("paid"), nil
		}}
	seen := map[string][]*model.Request{}
	handlers := engine.Handlers{engine.EffectTool: agent.HostTools{"pay": &pay},
		engine.EffectModel: answersOf{"main": c.answers}.handler(seen)}
	if c.approve != nil {
		handlers[engine.EffectApproval] = engine.Approvals(func(ctx context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
			mu.Lock()
			p.asked = append(p.asked, r.Tool+r.Question+generable.JSON(r.Data, nil))
			mu.Unlock()
			return c.approve(ctx, r)
		})
	}
	mod := loaded(t, agentscript.New(append([]agentscript.Option{agentscript.WithTool(pay), agentscript.WithDefaultModel("test/model")}, c.options...)...), c.src)
	opts := []agentscript.RunOption{agentscript.InputText("go"), agentscript.ID("run"), agentscript.HandlerForAll(handlers),
		agentscript.OnEvent(engine.EventAll, func(e engine.Event) { p.events = append(p.events, e) })}
	if c.journal != nil {
		opts = append(opts, agentscript.RunJournal(c.journal))
	}
	p.res, p.err = mod.Start(t.Context(), append(opts, c.run...)...).Wait()
	if all := seen["main"]; len(all) > 0 {
		last := all[len(all)-1]
		p.system = last.System
		for _, m := range last.Messages {
			for _, part := range m.Parts {
				if part.Result != nil {
					p.told = append(p.told, part.Result.Text)
				}
			}
		}
	}
	return p
}

// tells requires words in what the model received, in order; a word that begins with ! must be absent.
func (p *policed) tells(t *testing.T, words ...string) {
	t.Helper()
	if len(p.told) != len(words) {
		t.Fatalf("the model was told %q, want %d results; %v", p.told, len(words), p.err)
	}
	for i, w := range words {
		if !strings.Contains(p.told[i], w) {
			t.Errorf("result %d is %q, want %q", i, p.told[i], w)
		}
	}
}

// policies returns the texts of the policy events, with the codes of their errors.
func (p *policed) policies() string {
	var out []string
	for _, e := range p.events {
		if e.Kind != engine.EventPolicy {
			continue
		}
		text := string(e.Phase()) + " " + e.Name() + " " + e.Text()
		if e.Err() != nil {
			text += " " + string(e.Err().Code)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func policyOf(t testing.TB, from string, r policy.Rules) *policy.Policy {
	t.Helper()
	p, err := policy.New(from, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
