// Package chaos finds out what a flow does when a model answers badly.
//
// [Try] first runs a flow unchanged and records what its models answer. Then it runs the flow once for each of these
// answers and each [Mutation] that applies to it, with that answer changed and all others unchanged, and judges how
// the run ended: it survived, it failed with an error that says what was wrong, or, in the worst case, it succeeded
// with a different result and nobody noticed.
//
// The caller runs the flow. It wraps the handler of models with [Probe.Models] and passes the events of the run to
// the probe.
package chaos

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/text"
)

// Verdict says how a run with a changed answer ended.
type Verdict string

// The verdicts.
const (
	Survived     Verdict = "survived"      // with the same result, with a different one after the failure was noticed and handled, or with an injected instruction that is text in the result
	TypedError   Verdict = "typed error"   // with an error whose kind says what was wrong
	WrongSuccess Verdict = "wrong success" // successfully, with a different result, and nobody noticed
	OtherError   Verdict = "other error"   // with an error that does not say what was wrong, for example of a callback
	Unanswered   Verdict = "no answer"     // the flow asked for something for which no answer was prepared; it counts neither way
)

// Verdicts returns all verdicts in the order of reports.
func Verdicts() []Verdict {
	return []Verdict{Survived, TypedError, WrongSuccess, OtherError, Unanswered}
}

// Case is one run with a changed answer.
type Case struct {
	File     string   `json:"file,omitempty"` // of the test, if the caller has tests
	Test     string   `json:"test,omitempty"` // the test that asked the model
	Agent    string   `json:"agent"`
	At       string   `json:"at,omitempty"` // where the agent is created, if known
	Path     string   `json:"path"`         // of the model call
	Mutation Mutation `json:"mutation"`
	Verdict  Verdict  `json:"verdict"`
	Detail   string   `json:"detail"` // the error, or the result that came instead
}

// good reports whether the flow handled the changed answer well.
func (c Case) good() bool { return c.Verdict == Survived || c.Verdict == TypedError }

// Percent returns the share of cases that went well, and the number of cases that count: those without an answer do
// not. If none counts, the share is 0.
func Percent(cases []Case) (percent float64, of int) {
	good := 0
	for _, c := range cases {
		if c.Verdict != Unanswered {
			of++
		}
		if c.good() {
			good++
		}
	}
	if of == 0 {
		return 0, 0
	}
	return 100 * float64(good) / float64(of), of
}

// Try runs a flow unchanged, and then with each answer changed in each way. The same seed makes the same changes. The
// result of run decides whether two runs ended alike. The error says why the flow cannot be tried: it fails by
// itself.
func Try(ctx context.Context, seed uint64, run func(context.Context, *Probe) (generable.Value, error)) ([]Case, error) {
	first := &Probe{target: -1}
	want, err := run(ctx, first)
	if err != nil {
		return nil, err
	}
	sorting.By(first.answers, func(a, b answer) int { return cmp.Compare(a.path, b.path) })
	var cases []Case
	for i := range first.answers {
		a := &first.answers[i]
		for n, m := range mutations {
			changed, ok := m.change(a, rand.New(rand.NewPCG(seed, uint64(i)<<8|uint64(n))))
			if !ok {
				continue
			}
			if err := ctx.Err(); err != nil {
				return cases, context.Cause(ctx)
			}
			p := &Probe{answers: first.answers, target: i, kind: m.kind, changed: changed}
			got, err := run(ctx, p)
			c := Case{Agent: a.agent, Path: a.path, Mutation: m.name}
			c.Verdict, c.Detail = p.judge(want, got, err)
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// answer is one answer of the unchanged run.
type answer struct {
	agent, path string
	req         *model.Request
	out         engine.Outcome
}

// Probe is what a run is tried with: it changes one answer, and observes the consequences.
type Probe struct {
	target  int // index in answers; -1 in the unchanged run
	kind    kind
	changed engine.Outcome

	mu      sync.Mutex
	answers []answer
	noticed string // how the change was noticed; "" if it was not
}

// Events are the kinds of events that [Probe.Event] receives.
const Events = engine.EventNode | engine.EventRoute | engine.EventTool

// Event notices if the agent with the changed answer, or a node around it, failed, if a call that the agent made with
// that answer failed, or if the agent's on_bad_output took over.
func (p *Probe) Event(e engine.Event) {
	if p.target < 0 {
		return
	}
	how, at := "", e.Path
	switch d := e.Data.(type) {
	case *event.Node:
		if d.Err != nil {
			how = "handled: " + d.Err.Message
		}
	case *event.Tool:
		if d.Err != nil {
			how, at = "the model was told: "+d.Err.Message, path.Dir(e.Path)
		}
	case *event.Route:
		if d.From == p.answers[p.target].agent && d.Way == "on_bad_output" {
			how = d.Way
		}
	}
	if how == "" || !strings.HasPrefix(p.answers[p.target].path, at+"/") {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noticed = cmp.Or(p.noticed, how)
}

// Models returns the handler that answers model calls and passes everything else on.
func (p *Probe) Models(inner engine.Handler) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		req, ok := e.Req.(*model.Request)
		if !ok {
			return inner.Do(ctx, e, sink)
		}
		if p.target >= 0 {
			if out, ok := p.answer(e.Agent, e.At.Path(), req); ok {
				streamed(e, out, sink)
				return out
			}
			return inner.Do(ctx, e, sink)
		}
		out := inner.Do(ctx, e, sink)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.answers = append(p.answers, answer{e.Agent, e.At.Path(), req, out})
		return out
	})
}

// streamed sends the text of an answer word by word, if the effect streams.
func streamed(e *engine.Effect, out engine.Outcome, sink engine.Sink) {
	if !e.Stream || sink == nil || out.Response == nil {
		return
	}
	for seq, piece := range text.Words(out.Response.Text()) {
		sink(engine.Token{Attempt: 1, Seq: seq, Text: piece})
	}
}

// answer returns the answer to a call: the changed one, the recorded one at the same position, or else the recorded
// one to the same request. A call that the unchanged run did not make has no answer.
func (p *Probe) answer(agent, at string, req *model.Request) (engine.Outcome, bool) {
	target := &p.answers[p.target]
	if talk, turn := conversation(at); turn >= 0 {
		its, changed := conversation(target.path)
		switch {
		case talk != its || turn < changed:
		case turn == changed, p.kind == persistent:
			return p.changed, true
		case p.kind == corrected: // what the model says once it is corrected
			at = talk + strconv.Itoa(turn-1)
		}
	}
	if i := slices.IndexFunc(p.answers, func(a answer) bool { return a.agent == agent && a.path == at }); i >= 0 {
		return p.answers[i].out, true
	}
	digest := req.Digest()
	if i := slices.IndexFunc(p.answers, func(a answer) bool { return a.agent == agent && a.req.Digest() == digest }); i >= 0 {
		return p.answers[i].out, true
	}
	return engine.Outcome{}, false
}

// conversation splits the position of a model call into the common part of one conversation's calls and the turn. The
// turn is -1 if the call is not part of a conversation.
func conversation(at string) (talk string, turn int) {
	i := strings.LastIndex(at, "/llm") + len("/llm")
	turn, err := strconv.Atoi(at[i:])
	if err != nil {
		return at, -1
	}
	return at[:i], turn
}

// judge returns how a run with a changed answer ended.
func (p *Probe) judge(want, got generable.Value, err error) (Verdict, string) {
	switch {
	case err == nil && generable.Equal(want, got):
		return Survived, p.noticed
	case err == nil && p.noticed != "":
		return Survived, p.noticed
	case err == nil:
		detail, ok := got.AsStr()
		if !ok {
			detail = generable.JSON(got, nil)
		}
		if strings.Contains(detail, strings.TrimSpace(instruction)) {
			return Survived, "the instruction is passed on as text: " + detail
		}
		return WrongSuccess, detail
	}
	e := engine.AsError(err)
	detail := fmt.Sprintf("%s: %s", e.Kind, e.Message)
	switch {
	case e.Code == diag.ScriptedModel, e.Code == diag.Unanswered:
		return Unanswered, detail
	case slices.Contains(telling, e.Kind):
		return TypedError, detail
	}
	return OtherError, detail
}

// telling lists the kinds of errors that say what was wrong with an answer.
var telling = []engine.ErrKind{engine.KindSchema, engine.KindRefused, engine.KindBadResponse, engine.KindTruncated, engine.KindTimeout, engine.KindRateLimit,
	engine.KindTool, engine.KindSkill, engine.KindType, engine.KindBudget, engine.KindPolicy}
