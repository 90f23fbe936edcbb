// Package agent declares agents: typed functions that a model or code carries out.
//
// A [Spec] names the types, the prompt and the model of an agent. Its [Skill]s are what it can do; its [Tool]s are
// what a model may call, with [ToolRules] that limit the calls and a [Recovery] for calls that fail. [Hooks] observe
// or change its calls, a [MemoryBank] keeps its notes, and a [History] determines what it sees of earlier calls.
// [Spec.Check] reports what is wrong with a declaration before anything runs. Declarations are data: package flow
// composes them, package run executes them.
package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Check fills in the defaults of an agent that is declared at a place of a script, and reports what is wrong with it:
// a mistake in a tool, skill, policy, hook or prompt, or an input for which no skill, or more than one, yields the
// output. The specification belongs to one agent; skills and tools may be shared.
func (a *Spec) Check(r *diag.Reporter, at diag.Span) bool {
	a.In, a.Out = cmp.Or(a.In, generable.StrT), cmp.Or(a.Out, generable.StrT)
	return (&checker{r, at}).checkAgent(a)
}

// checker checks the parts of an agent's declaration.
type checker struct {
	*diag.Reporter
	at diag.Span // of the agent
}

func (c *checker) checkAgent(a *Spec) bool {
	what := "agent " + a.Name // for the only skill, which is the run function
	switch {
	case a.Run != nil && (a.Prompt != "" || a.Template != nil || a.HasTask() || len(a.Skills) > 0 || len(a.Tools)+len(a.Servers) > 0 || a.Select != nil || a.ReasoningEvery > 0):
		d := c.Errorf(diag.SkillConflict, c.at, "agent %q has run = and %s", a.Name, beside(a))
		d.Helpf("run = is the whole agent; write a deterministic part as skill(name, doc, run = f)")
		return false
	case a.Run != nil:
		a.Skills = []*Skill{{Name: a.Name, Run: a.Run, Span: c.at}}
	case len(a.Skills) > 0:
		what = ""
	case a.Prompt == "" && a.Template == nil && !a.HasTask():
		d := c.Errorf(diag.NoSkill, c.at, "agent %q has nothing to do", a.Name)
		d.Helpf("set prompt = \"...\", run = f or skills = [...]")
		return false
	default:
		a.Skills = []*Skill{{Name: a.Name, Span: c.at}}
	}
	prompt := a.PromptSpan.Or(c.at)
	ok := true
	if a.ReasoningEvery < 0 {
		d := c.Errorf(diag.LoopBound, c.at, "reasoning_every of agent %q is at least 1, got %d", a.Name, a.ReasoningEvery)
		d.Helpf("leave it out for an agent that is not asked for its thoughts")
		ok = false
	}
	ok = (a.Template == nil || a.Template.Check(c.Reporter, prompt, a.In)) && ok
	if !a.Verbatim {
		c.literalBraces("a prompt", prompt, a.Prompt, a.In)
	}
	ok = (a.TaskText == nil || a.TaskText.Check(c.Reporter, a.TaskSpan.Or(c.at), a.In)) && ok
	if !a.Verbatim {
		c.literalBraces("a task", a.TaskSpan.Or(c.at), a.Task, a.In)
	}
	ok = c.checkTools(a.Tools, nil) && ok
	ok = c.checkRecovery(c.at, a.OnToolError) && ok
	ok = c.checkServers(a.Servers, nil) && ok
	ok = c.checkSkills(a, what) && ok
	ok = c.checkPolicies(a) && c.checkHooks(a) && ok
	ok = ok && c.checkYield(a) && c.checkSelect(a) && c.checkEarlyStop(a)
	return callback.CheckArity(c.Reporter, c.at, a.OnBadOutput, 1, "on_bad_output") && ok
}

// beside names what an agent has that its run function excludes.
func beside(a *Spec) string {
	switch {
	case len(a.Skills) > 0:
		return "skills"
	case len(a.Tools)+len(a.Servers) > 0:
		return "tools"
	case a.Select != nil:
		return "select"
	case a.ReasoningEvery > 0:
		return "reasoning_every"
	case a.Template != nil:
		return "a template"
	case a.Prompt == "":
		return "a task"
	}
	return "a prompt"
}

// checkSkills sets the skills' types and checks each skill. what names the only skill of an agent without others.
func (c *checker) checkSkills(a *Spec, what string) bool {
	ok := true
	seen := map[string]*Skill{}
	skills := make([]*Skill, len(a.Skills))
	for i, sk := range a.Skills {
		own := *sk // this agent determines its types
		sk = &own
		skills[i] = sk
		at := sk.Span.Or(c.at)
		if prev := seen[sk.Name]; prev != nil {
			d := c.Errorf(diag.DuplicateName, at, "agent %q has two skills named %q", a.Name, sk.Name)
			d.Notef(prev.Span.Pos, "the first is made")
			d.Helpf("rename one: skill(\"...\", doc)")
			ok = false
		}
		seen[sk.Name] = sk
		sk.In, sk.Out = cmp.Or(sk.In, a.In), cmp.Or(sk.Out, a.Out)
		if sk.Run != nil && len(sk.Tools)+len(sk.Servers) > 0 {
			d := c.Errorf(diag.SkillConflict, at, "skill %q has run and tools", sk.Name)
			d.Helpf("run = is deterministic and calls no model; tools belong to a skill that a model carries out: choose one")
			ok = false
		}
		if sk.Run != nil {
			ok = callback.CheckArity(c.Reporter, at, sk.Run, callback.SkillArity(sk.Run), cmp.Or(what, "skill "+sk.Name)) && ok
		}
		ok = c.checkServers(sk.Servers, a.Servers) && ok
		if !c.checkKnowledge(at, sk) {
			ok = false
			continue
		}
		ok = c.checkTools(slices.Concat(sk.Tools, sk.keys()), a.Tools) && ok
	}
	a.Skills = skills
	return ok
}

// checkYield checks that each case of the agent's input is taken by exactly one of the skills that return the agent's
// output: the engine does not guess.
func (c *checker) checkYield(a *Spec) bool {
	fit := a.Candidates()
	if len(fit) == 0 {
		d := c.Errorf(diag.NoSkill, c.at, "Agent %q has no skill producing %s. At least one skill must return the agent's output type.", a.Name, a.Out)
		for _, sk := range a.Skills {
			d.Notef(sk.Span.Pos, "skill %s returns %s", sk.Name, sk.Out)
		}
		d.Helpf("set output = %s on the skill that answers, or change the agent's output", a.Out)
		return false
	}
	for _, in := range typing.Cases(a.In) {
		var taking []*Skill
		possible := false
		for _, sk := range fit {
			possible = possible || generable.Assignable(in, sk.In) == nil
			if typing.Proven(in, sk.In) {
				taking = append(taking, sk)
			}
		}
		switch {
		case !possible:
			d := c.Errorf(diag.NoSkill, c.at, "agent %q has no skill that takes %s", a.Name, in)
			for _, sk := range fit {
				d.Notef(sk.Span.Pos, "skill %s takes %s", sk.Name, sk.In)
			}
			d.Helpf("add a skill with input = %s and output = %s, or change the agent's input", in, a.Out)
			return false
		case len(taking) > 1 && a.Select == nil:
			d := c.Errorf(diag.NoSkill, c.at, "agent %q has several skills for %s: %s", a.Name, in, strings.Join(namesOf(taking), ", "))
			for _, sk := range taking {
				d.Notef(sk.Span.Pos, "skill %s takes %s", sk.Name, sk.In)
			}
			d.Helpf("%s", SkillsHelp)
			return false
		}
	}
	return true
}

// SkillsHelp says what can be done about skills that take the same input.
const SkillsHelp = "give the skills different input types, or say how to choose: select = router() asks a model, select = lambda x: \"...\" names one"

// checkTools checks names and effect classes of tools; inherited are the agent's.
func (c *checker) checkTools(tools, inherited []*Tool) bool {
	ok := true
	seen := map[string]*Tool{}
	for _, t := range inherited {
		seen[t.Name] = t
	}
	for _, t := range tools {
		at := t.Span.Or(c.at)
		ok = !c.reserved(t, at) && ok
		if prev := seen[t.Name]; prev != nil && prev != t {
			d := c.Errorf(diag.DuplicateName, at, "two tools are named %q", t.Name)
			d.Notef(prev.Span.Or(c.at).Pos, "the first is made")
			d.Helpf("rename one: tool(f, name = \"...\")")
			ok = false
		}
		seen[t.Name] = t
		if bad := badToolName(t.Name); bad != "" {
			d := c.Errorf(diag.WrongArgument, at, "no model can call a tool named %q: %s", text.Clip(t.Name, MaxToolName), bad)
			d.Helpf("use letters from a to z, digits, _ and -: tool(f, name = \"...\"), knowledge = {\"key\": ...}")
			ok = false
		}
		if k := t.Parameters().Deref().Kind; k != generable.RecordType && k != generable.DictType {
			d := c.Errorf(diag.WrongArgument, at, "the parameters of tool %q are a schema or a dict, not %s", text.Clip(t.Name, MaxToolName), t.Params)
			d.Helpf("arguments have names: make them the fields of a schema")
			ok = false
		}
		if ok = c.checkRecovery(at, t.OnError) && ok; ok {
			c.checkFixed(at, t, t.OnError)
		}
		if (t.Run != nil || t.Node != nil) && t.Class == engine.ClassOnce {
			d := c.Errorf(diag.WrongArgument, at, "tool %q runs in the script and cannot be effect = \"once\"", t.Name)
			d.Helpf("leave effect out: a function of the script runs again on a replay, while its requests and commands are recorded and made once. For an action that must not repeat, use a host tool with effect once; to ask a person before this tool, policy(ask = [%q])", t.Name)
			ok = false
		}
	}
	return ok
}

// checkServers checks the names of MCP servers; inherited are the agent's.
func (c *checker) checkServers(list, inherited []*remote.Server) bool {
	ok := true
	first := map[string]*remote.Server{}
	for i, spec := range slices.Concat(inherited, list) {
		prev := first[spec.Name]
		if prev == nil {
			first[spec.Name] = spec
		}
		if prev != nil && prev != spec && i >= len(inherited) {
			d := c.Errorf(diag.ServerClash, spec.Span.Or(c.at), "two MCP servers are named %q", spec.Name)
			d.Notef(prev.Span.Or(c.at).Pos, "the first is declared")
			d.Helpf("name one: mcp(..., name = \"...\")")
			ok = false
		}
	}
	return ok
}

// Candidates returns the skills that yield the agent's output.
func (a *Spec) Candidates() []*Skill {
	var out []*Skill
	for _, sk := range a.Skills {
		if generable.Assignable(sk.Out, a.Out) == nil {
			out = append(out, sk)
		}
	}
	return out
}

// Helpers calls give with each function, an [engine.Func] or a [Judge], that is called in addition to a model:
// functions of tools, knowledge, hooks and remedies, and functions that choose a skill or read an answer that does
// not fit.
func (a *Spec) Helpers(give func(any)) {
	each := func(fs ...engine.Func) {
		for _, f := range fs {
			if f != nil {
				give(f)
			}
		}
	}
	each(a.OnBadOutput)
	if a.Select != nil {
		each(a.Select.By)
	}
	for _, h := range a.Hooks {
		for _, k := range hookKinds {
			each(*k.of(h)...)
		}
	}
	for _, sk := range a.Skills {
		for i := range sk.Knowledge {
			each(sk.Knowledge[i].Load)
		}
	}
	recoveries := []*Recovery{a.OnToolError}
	for _, t := range a.AllTools() {
		each(t.Run)
		recoveries = append(recoveries, t.OnError)
	}
	for _, r := range recoveries {
		for m := range r.remedies {
			if m.Judge != nil {
				give(m.Judge)
			}
		}
	}
}

// HasTask reports whether a user message follows the input.
func (a *Spec) HasTask() bool { return a.Task != "" || a.TaskText != nil }

// AllTools returns the tools of the agent and then those of its skills.
//
//go:noinline
func (a *Spec) AllTools() []*Tool {
	tools := slices.Clone(a.Tools)
	for _, sk := range a.Skills {
		tools = append(tools, sk.Tools...)
	}
	return tools
}

// AllServers returns the MCP servers of the agent and then those of its skills.
func (a *Spec) AllServers() []*remote.Server {
	servers := slices.Clone(a.Servers)
	for _, sk := range a.Skills {
		servers = append(servers, sk.Servers...)
	}
	return servers
}

// Spec declares an agent: a typed function that a model or code carries out.
type Spec struct {
	Name        string
	In, Out     *generable.Type // default str
	Model       string          // "provider/model"; "" takes the run's default
	Fallbacks   []string        // models to ask, in order, if Model cannot answer
	ModelSpan   diag.Span       // where the script names them
	Params      model.Params
	Choice      model.ToolChoice // of the model's first answer in a call of the agent
	Structured  model.Structured
	Enough      *predicate.Predicate // ends an answer early: a condition on fields of Out
	EnoughSpan  diag.Span
	Prompt      string           // the system text, literal
	Template    *TemplateText    // the system text with the input's fields, instead of Prompt
	PromptSpan  diag.Span        // of either
	Task        string           // a user message after the input, literal
	TaskText    *TemplateText    // that message with the input's fields, instead of Task
	TaskSpan    diag.Span        // of either
	Verbatim    bool             // text in these that looks like a placeholder is literal
	Skills      []*Skill         // none: Run, Prompt or Task makes the one obvious skill
	Select      *Selection       // chooses among the skills; nil: their types decide
	Tools       []*Tool          // of every skill that a model carries out
	Servers     []*remote.Server // whose tools every such skill has
	Offer       []string         // the tools of servers that a model may call, by their names on the server; nil: all
	Run         engine.Func      // deterministic: no model
	Budget      engine.Limits    // of one call of the agent
	OnBadOutput engine.Func      // raw text → a value of Out
	Observer    Observer         // receives answers while they arrive
	Repairs     int              // how often a model is asked again for an answer that fits

	// ReasoningEvery makes the model state its thoughts before its first answer, and again after this many rounds of
	// tool results; 0 means never. The model is asked with [model.ThoughtsPrompt] in a separate turn, in which it
	// calls no tool. What it says stays in the conversation, and is never the agent's answer.
	ReasoningEvery int

	OnToolError *Recovery      // for tools without their own
	ToolsAtOnce int            // calls of one answer that run concurrently; default [DefaultToolsAtOnce]
	Of          *Spec          // of a router, which is asked like an agent: the agent for which it chooses
	Policy      *policy.Policy // for the calls of tools in all skills, in addition to the host's
	Hooks       []*Hooks       // around its calls, in addition to the run's

	Memory     *MemoryBank // notes that its tools read and write; nil: none
	MemorySpan diag.Span
	History    *History // what it sees of a conversation; nil: what the flow around it determines, or else nothing
}

// Observer receives an agent's answers while they arrive. Nothing in the run depends on it: an answer from a record
// has no tokens to receive, and a failure of the observer is logged and ends that observation, not the run. It is
// called on the effect side, where many answers may arrive at once.
type Observer interface {
	// Observe is called when an answer begins. say writes to the run's log, at the position of the call.
	Observe(say func(text string)) StreamObserver
}

// StreamObserver receives one answer, from one goroutine at a time. Both functions may be nil.
type StreamObserver struct {
	Token func(engine.Token) error // each piece of the text, of thoughts and of calls; no retries

	// Partial receives what is known of a typed answer, each time something is added: field by field if the type has
	// fields; otherwise partial is nil. Another attempt begins with nothing known.
	Partial func(known generable.Value, partial *generable.Partial) error
}

// Defaults of an agent call. No turn begins after DefaultAgentWall, which stands still while a person must decide; a
// wall time that is set cuts off what is running.
const (
	DefaultTurns     = 8
	DefaultToolCalls = 32
	DefaultDepth     = 16
	DefaultSameCall  = 8
	DefaultAgentWall = 5 * time.Minute
)

// RemainingType is the schema of the result of [run.Remaining]. What nothing bounds is null.
var RemainingType = remainingType()

func remainingType() *generable.Type {
	t := &generable.Type{Kind: generable.RecordType, Name: "Remaining", Doc: "What the budgets leave"}
	for _, f := range []struct {
		name, guide string
		of          *generable.Type
	}{
		{"model_calls", "model calls that may still begin", generable.IntT},
		{"tool_calls", "tool calls that the run has left", generable.IntT},
		{"tokens", "tokens, in and out together", generable.IntT},
		{"steps", "steps of the script's own code", generable.IntT},
		{"wall_seconds", "seconds until the time is up", generable.FloatT},
		{"turns", "turns that a budget around several agents has left", generable.IntT},
		{"usd", "US dollars", generable.FloatT},
	} {
		t.Fields = append(t.Fields, generable.Field{Name: f.name, Type: generable.OneOf(f.of, generable.NoneT), Guide: f.guide})
	}
	return t
}
