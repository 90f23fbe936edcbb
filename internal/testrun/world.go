package testrun

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/chaos"
)

// world answers the effects of one test.
type world struct {
	journal *journal        // its events
	answers *scripted.Model // prepared answers of models
	models  *llm.Registry   // calls answers, with the retries and limits of a real port
	live    engine.Handlers // handlers for what the test does not answer
	probe   *chaos.Probe    // changes an answer of a model, or nil

	mu        sync.Mutex
	known     double.Names
	tools     map[string]*queue[double.Result]
	served    map[string]served
	decisions map[string]*queue[engine.Decision]
	prepared  []*prepared         // the contents of tools, served and decisions
	cut       bool                // a branch was ended, so its prepared answers may be unused
	toolCalls map[string]diag.Pos // tool calls in prepared answers of models, by the name of the tool
	replayed  *cassette.Replayer  // nil without a record
	began     time.Time           // the start of the test as now() in scripts returns it; zero means 1970
	dir       *directory
	calls     []*call
	inside    *testCase       // the innermost running test
	took      func(string)    // records what a test has run so far, and restarts counting; nil if not requested
	shown     map[string]bool // the snapshots that it made, guarded by those of the file

	ending sync.Mutex
	over   bool // its results are settled, though what it waited for may continue
}

// call is a call that was made.
type call struct {
	kind engine.EffectKind
	name string
	at   *engine.Frame
	req  *model.Request
	args generable.Value
	out  engine.Outcome
	by   *testCase // the innermost test that made it
}

func newWorld(known double.Names, live engine.Handlers) *world {
	w := &world{journal: &journal{}, answers: scripted.ForTest(), known: known, live: live, dir: &directory{}, tools: map[string]*queue[double.Result]{}, served: map[string]served{}, decisions: map[string]*queue[engine.Decision]{}, toolCalls: map[string]diag.Pos{}, shown: map[string]bool{}}
	w.answers.Agents(known.Agents)
	w.models = llm.New(llm.WithDriver(w.answers), llm.WithSecrets(llm.SecretsFunc(func(string) (string, bool) { return "", false })))
	return w
}

// Secrets returns the secrets of the live handlers, so that no event shows them.
func (w *world) Secrets() []string {
	var all []string
	for _, h := range w.live {
		if holder, ok := h.(interface{ Secrets() []string }); ok {
			all = append(all, holder.Secrets()...)
		}
	}
	return all
}

// Do implements [engine.Handler].
func (w *world) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	c := &call{kind: e.Kind, name: e.Name, at: e.At}
	switch r := e.Req.(type) {
	case *model.Request:
		c.req, c.name = r, e.Agent
	case *engine.ToolRequest:
		c.args = r.Args
	case *capability.Request:
		c.name, c.args = operation(e, r), r.Args.Value()
	case *engine.ApprovalRequest:
		c.name, c.args = r.Tool, r.Data
	case *remote.ListRequest:
		return w.do(ctx, e, sink)
	}
	end := w.begin(c)
	out := w.do(ctx, e, sink)
	end(out)
	return out
}

// begin lists a call when it begins, so that calls are in the order in which they were made. The returned function
// records how the call ended.
func (w *world) begin(c *call) (end func(engine.Outcome)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.by = w.inside
	w.calls = append(w.calls, c)
	return func(out engine.Outcome) {
		w.mu.Lock()
		defer w.mu.Unlock()
		c.out = out
		for by := c.by; by != nil; by = by.outer {
			by.spent = by.spent.Add(out.Usage)
		}
	}
}

// asked returns which test called a model, by the position of the call.
func (w *world) asked() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	by := map[string]string{}
	for _, c := range w.calls {
		if c.kind == engine.EffectModel && c.by != nil {
			by[c.at.Path()] = c.by.name
		}
	}
	return by
}

func (w *world) do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	switch r := e.Req.(type) {
	case *model.Request:
		if w.probe != nil {
			return w.probe.Models(engine.HandlerFunc(w.model)).Do(ctx, e, sink)
		}
		return w.model(ctx, e, sink)
	case *engine.ToolRequest:
		name := e.Name
		if r.Server != nil {
			name = r.Server.Label() + "." + r.Tool
		}
		if out, ok := w.result(name, r.Args, nil); ok {
			return out
		}
		if out, ok := w.result(e.Name, r.Args, nil); ok && name != e.Name {
			return out
		}
		return w.outside(ctx, e, sink, w.live[e.ByServer()], "the tool "+name, fmt.Sprintf("t.tool(%q, ...)", name))
	case *remote.ListRequest:
		if tools, ok := w.listed(r.Server.Name); ok {
			return engine.Outcome{Value: tools, Attempt: 1}
		}
		return w.outside(ctx, e, sink, w.live[engine.EffectMCP], "the MCP server "+r.Server.Name, fmt.Sprintf(`t.serve(%q, {"read": {"path": str}})`, r.Server.Name))
	case *capability.Request:
		name := operation(e, r)
		op, _ := capability.Lookup(name)
		if out, ok := w.result(name, r.Args.Value(), op.Returns); ok {
			return out
		}
		if grants := w.inDir(r); grants != nil {
			return grants.Do(ctx, e, sink)
		}
		return w.outside(ctx, e, sink, w.live[e.Kind], name+" of "+cmp.Or(r.Use(e.Kind).Target, "something"), fmt.Sprintf("t.tool(%q, ...)", name))
	case *engine.ApprovalRequest:
		w.mu.Lock()
		q := w.decisions[r.Tool]
		w.mu.Unlock()
		if q == nil {
			what, hint := "the question "+fmt.Sprintf("%q", r.Question), "t.approve()"
			if r.Tool != "" {
				what, hint = "the approval of "+r.Tool, fmt.Sprintf("t.approve(%q)", r.Tool)
			}
			return w.outside(ctx, e, sink, w.live[engine.EffectApproval], what, hint)
		}
		return engine.Approvals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return q.take(), nil
		}).Do(ctx, e, sink)
	}
	return w.outside(ctx, e, sink, w.live[e.Kind], string(e.Kind)+" "+e.Name, "")
}

// model answers a call of a model: from the test, from its record, or with a live model.
func (w *world) model(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	out := w.models.Do(ctx, e, sink)
	if out.Err == nil || out.Err.Code != diag.Unanswered {
		if req, ok := e.Req.(*model.Request); ok {
			if err := w.uncallable(e, req, out.Response); err != nil {
				return engine.Failed(err)
			}
		}
		return out
	}
	if r := w.record(); r != nil {
		return r.Do(ctx, e, sink)
	}
	if live := w.live[engine.EffectModel]; live != nil {
		return live.Do(ctx, e, sink)
	}
	return out
}

// takes returns an error if an answer calls a tool with an argument that the tool does not have.
func takes(tool *model.ToolDef, args string) *engine.Error {
	var given map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &given) != nil {
		return nil // invalid arguments are what is being tested
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := double.Takes(tool, name); err != nil {
			return err
		}
	}
	return nil
}

// uncallable returns the error for an answer that calls a tool which neither its agent nor another agent of the files
// has, or with an argument that the tool does not have.
func (w *world) uncallable(e *engine.Effect, req *model.Request, answer *model.Response) *engine.Error {
	if answer == nil {
		return nil
	}
	offered := []string{}
	for _, t := range req.Tools {
		offered = append(offered, t.Name)
	}
	for _, call := range answer.Calls() {
		err := w.known.Callable(call.Name, offered)
		if err != nil && len(offered) == 0 {
			err.Help = "agent " + e.Agent + " has no tools"
		}
		if i := slices.Index(offered, call.Name); i >= 0 {
			err = takes(&req.Tools[i], call.Args)
		}
		if err == nil {
			continue
		}
		w.mu.Lock()
		err.Pos = w.toolCalls[call.Name]
		w.mu.Unlock()
		return err
	}
	return nil
}

func (w *world) record() *cassette.Replayer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replayed
}

// Seeded returns the seed of the record, or of the run.
func (w *world) Seeded(seed uint64) (uint64, error) {
	if r := w.record(); r != nil {
		return r.Seeded(seed)
	}
	return seed, nil
}

// Timed answers requests for the time: as the test sets it, from its record, or from the clock of the run, which begins
// in 1970.
func (w *world) Timed(own engine.Handler) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		w.mu.Lock()
		began, record := w.began, w.replayed
		w.mu.Unlock()
		if record != nil && began.IsZero() {
			return record.Do(ctx, e, sink)
		}
		out := own.Do(ctx, e, sink)
		if text, ok := out.Value.AsStr(); ok && !began.IsZero() {
			if passed, err := time.Parse(time.RFC3339Nano, text); err == nil {
				out.Value = generable.StrOf(began.Add(passed.Sub(time.Unix(0, 0))).Format(time.RFC3339Nano))
			}
		}
		return out
	})
}

// outside performs what the test does not answer: from its record, or live. Without either it fails.
func (w *world) outside(ctx context.Context, e *engine.Effect, sink engine.Sink, live engine.Handler, what, hint string) engine.Outcome {
	if r := w.record(); r != nil {
		return r.Do(ctx, e, sink)
	}
	if live != nil {
		return live.Do(ctx, e, sink)
	}
	return engine.Failed(unanswered(what, e.At.Path(), hint))
}

func unanswered(what, path, hint string) *engine.Error {
	err := engine.Errorf(engine.KindTest, diag.Unanswered, "%s is not answered by the test, and a test reaches nothing outside", what)
	err.Path = path
	if hint != "" {
		err.Help = "answer it before: " + hint
	}
	return err
}

// operation returns the name of an operation in scripts: sh.run, fs.read.
func operation(e *engine.Effect, r *capability.Request) string {
	if e.Kind == engine.EffectExec {
		return "sh." + r.Op
	}
	return string(e.Kind) + "." + r.Op
}

// Call executes a call of a tool of the script, unless the test answers it.
func (w *world) Call(at *engine.Frame, t *agent.Tool, args generable.Value, run func() (generable.Value, error)) (generable.Value, error) {
	end := w.begin(&call{kind: engine.EffectTool, name: t.Name, at: at, args: args})
	out, answered := w.result(t.Name, args, nil)
	if !answered {
		v, err := run()
		if out.Value = v; err != nil {
			out = engine.Failed(engine.AsError(err))
			end(out)
			return v, err
		}
	}
	end(out)
	if out.Err != nil {
		return out.Value, out.Err
	}
	return out.Value, nil
}

// CutOff excuses the unused answers of agents whose branch was ended by a sibling, and all those of tools, servers and
// people.
func (w *world) CutOff(agents []string) {
	w.answers.Excusing()(agents)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
}

// prices returns the costs of calls. A model that the table does not contain costs nothing, since the test answers it.
type prices struct{ *llm.Registry }

func (p prices) PriceCall(req *model.Request, u model.Usage) (usd float64, unpriced string) {
	usd, _ = p.Registry.PriceCall(req, u)
	return usd, ""
}
