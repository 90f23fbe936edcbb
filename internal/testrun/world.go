package testrun

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
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
	journal *journal        // of its events
	answers *scripted.Model // of models
	models  *llm.Registry   // that asks answers, with the retries and limits of a real one
	live    Live
	probe   *chaos.Probe // that changes an answer of a model, or nil

	mu        sync.Mutex
	known     names
	tools     map[string]*queue[double.Result]
	served    map[string]generable.Value
	decisions map[string]*queue[engine.Decision]
	replayed  engine.Handler // nil without a record
	dir       string         // of the test, "" until it asks for one
	dirGrants capability.Grants
	calls     []*call
	spent     model.Usage
	shown     map[string]bool // the snapshots that it made, guarded by those of the file
}

// Live is what a test may reach outside of itself. The zero Live is nothing.
type Live struct {
	Models engine.Handler // answers agents for which the test has no answer
	Grants engine.Handler // carries out granted operations of the script
	Host   engine.Handlers
}

// names are the names that a test may speak of.
type names struct {
	agents, tools, servers []string
	outputs                map[string]*generable.Type // of agents
}

// queue holds what answers in order; the last one answers again.
type queue[T any] struct {
	items []T
	next  int
}

func (q *queue[T]) take() T {
	v := q.items[min(q.next, len(q.items)-1)]
	q.next++
	return v
}

// call is one call that was made.
type call struct {
	kind engine.EffectKind
	name string
	at   *engine.Frame
	req  *model.Request
	args generable.Value
	out  engine.Outcome
}

func newWorld(known names, live Live) *world {
	w := &world{journal: &journal{}, answers: scripted.ForTest(), known: known, live: live, tools: map[string]*queue[double.Result]{}, served: map[string]generable.Value{}, decisions: map[string]*queue[engine.Decision]{}, shown: map[string]bool{}}
	w.answers.Agents(known.agents)
	w.models = llm.New(llm.WithDriver(w.answers), llm.WithSecrets(llm.SecretsFunc(func(string) (string, bool) { return "", false })))
	return w
}

// Secrets are those that what is live holds, so that no event shows them.
func (w *world) Secrets() []string {
	var all []string
	for _, h := range []engine.Handler{w.live.Models, w.live.Grants, w.live.Host[engine.EffectMCP]} {
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

// begin lists a call at its beginning, so that calls are in the order in which they were made. The function that it
// returns takes how the call ended.
func (w *world) begin(c *call) (end func(engine.Outcome)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	return func(out engine.Outcome) {
		w.mu.Lock()
		defer w.mu.Unlock()
		c.out = out
		w.spent = w.spent.Add(out.Usage)
	}
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
		return w.outside(ctx, e, sink, w.live.Host[e.ByServer()], "the tool "+name, fmt.Sprintf("t.tool(%q, ...)", name))
	case *remote.ListRequest:
		w.mu.Lock()
		tools, ok := w.served[r.Server.Name]
		w.mu.Unlock()
		if ok {
			return engine.Outcome{Value: tools, Attempt: 1}
		}
		return w.outside(ctx, e, sink, w.live.Host[engine.EffectMCP], "the MCP server "+r.Server.Name, fmt.Sprintf(`t.serve(%q, {"read": {"path": str}})`, r.Server.Name))
	case *capability.Request:
		name := operation(e, r)
		op, _ := capability.Lookup(name)
		if out, ok := w.result(name, r.Args.Value(), op.Returns); ok {
			return out
		}
		if w.inDir(r) {
			return w.dirGrants.Do(ctx, e, sink)
		}
		return w.outside(ctx, e, sink, w.live.Grants, name+" of "+cmp.Or(r.Use(e.Kind).Target, "something"), fmt.Sprintf("t.tool(%q, ...)", name))
	case *engine.ApprovalRequest:
		w.mu.Lock()
		q := w.decisions[r.Tool]
		w.mu.Unlock()
		if q == nil {
			what, hint := "the question "+fmt.Sprintf("%q", r.Question), "t.approve()"
			if r.Tool != "" {
				what, hint = "the approval of "+r.Tool, fmt.Sprintf("t.approve(%q)", r.Tool)
			}
			return w.outside(ctx, e, sink, w.live.Host[engine.EffectApproval], what, hint)
		}
		return engine.Approvals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return q.take(), nil
		}).Do(ctx, e, sink)
	}
	return w.outside(ctx, e, sink, w.live.Host[e.Kind], string(e.Kind)+" "+e.Name, "")
}

// model answers a call of a model: by the test, by its record, or by a live one.
func (w *world) model(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	out := w.models.Do(ctx, e, sink)
	if out.Err == nil || out.Err.Code != diag.Unanswered {
		return out
	}
	if r := w.record(); r != nil {
		return r.Do(ctx, e, sink)
	}
	if w.live.Models != nil {
		return w.live.Models.Do(ctx, e, sink)
	}
	return out
}

func (w *world) record() engine.Handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replayed
}

// outside carries out what the test does not answer: by its record, or live. Without both it fails.
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

// result returns the result that the test prepared for a call, converted to its type if it is known.
func (w *world) result(name string, args generable.Value, t *generable.Type) (engine.Outcome, bool) {
	w.mu.Lock()
	q := w.tools[name]
	if q == nil {
		w.mu.Unlock()
		return engine.Outcome{}, false
	}
	r := q.take()
	w.mu.Unlock()
	v, err := r.Value, error(nil)
	switch {
	case r.Fail != nil:
		return engine.Failed(engine.Errorf(engine.KindTool, diag.ToolFailed, "%s", cmp.Or(r.Fail.Message, name+" failed"))), true
	case r.Func != nil:
		v, err = r.Func(asMap(args))
	}
	if err == nil && t != nil {
		v, err = fitted(name, v, t)
	}
	if err != nil {
		return engine.Failed(engine.AsError(err)), true
	}
	return engine.Outcome{Value: v, Attempt: 1}, true
}

// asMap returns the arguments of a tool as a map.
func asMap(args generable.Value) generable.Value {
	r, ok := args.AsRecord()
	if !ok {
		return args
	}
	m := generable.NewMap(len(r.Type().Fields))
	for i, f := range r.Type().Fields {
		m.Set(f.Name, r.At(i))
	}
	return m.Value()
}

// fitted makes a prepared result one of the type of an operation: a text alone is the output of a command, or the body
// of an answer; what is left out of a dict has its zero value.
func fitted(name string, v generable.Value, t *generable.Type) (generable.Value, error) {
	if t.Kind == generable.RecordType {
		m, isMap := v.AsMap()
		if s, ok := v.AsStr(); ok {
			m, isMap = generable.NewMap(1), true
			m.Set(map[string]string{"sh.run": "stdout"}[name]+map[bool]string{true: "text"}[strings.HasPrefix(name, "http.")], generable.StrOf(s))
		}
		if isMap {
			whole := generable.NewMap(len(t.Fields))
			for _, f := range t.Fields {
				given, ok := m.Get(f.Name)
				if !ok {
					given = zero(f)
				}
				whole.Set(f.Name, given)
			}
			for k := range m.All() {
				if !slices.Contains(t.FieldNames(), k) {
					whole.Set(k, generable.Value{})
				}
			}
			v = whole.Value()
		}
	}
	out, errs := t.Convert(v)
	if errs != nil {
		return out, engine.Errorf(engine.KindTest, diag.BadTest, "the result that the test has for %s does not fit: %w", name, errs).WithHelp("%s returns %s", name, t)
	}
	return out, nil
}

func zero(f generable.Field) generable.Value {
	switch {
	case f.Name == "status":
		return generable.IntOf(200)
	case f.Type.Kind == generable.StrType:
		return generable.StrOf("")
	case f.Type.Kind == generable.IntType:
		return generable.IntOf(0)
	case f.Type.Kind == generable.BoolType:
		return generable.BoolOf(false)
	case f.Type.Kind == generable.EnumType:
		return generable.StrOf(f.Type.Values[0])
	case f.Type.Kind == generable.DictType:
		return generable.NewMap(0).Value()
	}
	return generable.Value{}
}

// operation is the name of an operation of the script: sh.run, fs.read.
func operation(e *engine.Effect, r *capability.Request) string {
	if e.Kind == engine.EffectExec {
		return "sh." + r.Op
	}
	return string(e.Kind) + "." + r.Op
}

// inDir reports whether an operation on files concerns the directory of the test.
func (w *world) inDir(r *capability.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir == "" {
		return false
	}
	at, _ := r.Args.Get("path")
	name, ok := at.AsStr()
	if !ok {
		return false
	}
	rel, err := filepath.Rel(w.dir, filepath.FromSlash(name))
	return err == nil && filepath.IsLocal(rel)
}

// Call carries out a call of a tool of the script, unless the test answers it.
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

// CutOff excuses the answers of agents whose branch a sibling ended.
func (w *world) CutOff(agents []string) { w.answers.Excusing()(agents) }

// prices know what calls cost: those of a model that the table does not know cost nothing, as the test answers them.
type prices struct{ *llm.Registry }

func (p prices) PriceCall(req *model.Request, u model.Usage) (usd float64, unpriced string) {
	usd, _ = p.Registry.PriceCall(req, u)
	return usd, ""
}

// serve makes the list of a server's tools.
func serve(tools []double.Served) generable.Value {
	var list []remote.Tool
	for _, t := range tools {
		list = append(list, remote.Tool{Name: t.Name, Description: t.Doc, Input: t.Params.JSONSchema()})
	}
	return remote.EncodeTools(list)
}

// check refuses a name that nothing has, and names the nearest.
func (n names) check(what, name string, all []string) *engine.Error {
	if slices.Contains(all, name) {
		return nil
	}
	e := engine.Errorf(engine.KindTest, diag.BadTest, "there is no %s %q", what, name)
	e.Help = diag.DidYouMean(name, all)
	if e.Help == "" && len(all) > 0 {
		e.Help = "there are " + strings.Join(slices.Sorted(slices.Values(all)), ", ")
	}
	return e
}
