package export

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// agent adds an agent that performs a task.
func (x *exporter) agent(n *flow.Node, in []*edge, h *agent.History) []*edge {
	a := n.Agent()
	s := x.add(&step{node: n, spec: a, out: n.Out(), file: fileAgent{Type: "task"}}, in)
	x.modelled(s, n, h, a.Prompt, a.Task)
	if k := a.ReasoningEvery; k > 0 {
		s.file.Type, s.file.Params.ReasoningInterval = "react", k
	}
	return s.leave()
}

// verify adds an agent that judges.
func (x *exporter) verify(n *flow.Node, in []*edge, h *agent.History) []*edge {
	judge := n.Children()[0]
	if own := judge.History(); own != nil {
		h = own
	}
	a := judge.Agent()
	if a == nil {
		x.cannot(n, n.Site().Span, n.Label(), "a verdict by "+article(judge.Kind()), "let one agent judge: verify(task = \"...\")")
		x.aside(judge, h)
		return x.unknown(in)
	}
	system, task := judging(a)
	s := x.add(&step{node: n, spec: a, out: n.Out(), file: fileAgent{Type: "verify"}}, in)
	x.modelled(s, judge, h, system, task)
	if a.ReasoningEvery > 0 {
		x.cannot(judge, n.Site().Span, s.label(), "reasoning_every of one that verifies", leaveOut)
	}
	return s.leave()
}

// modelled sets what all agents executed by a model have.
func (x *exporter) modelled(s *step, n *flow.Node, h *agent.History, system, task string) {
	a := s.spec
	system, readable := literal(system)
	task, readable2 := literal(task)
	if !readable || !readable2 {
		x.cannot(n, a.PromptSpan.Or(n.Site().Span), s.label(), "a text that begins or ends with blanks", "take them away")
	}
	if system != "" {
		s.file.Prompt = &filePrompt{system}
	}
	s.file.Params = &fileParams{Task: task}
	x.named(s)
	s.file.Config = configOf(a)
	for _, f := range features(a) {
		if f.has {
			x.cannot(n, f.at.Or(n.Site().Span), s.label(), f.what, f.help)
		}
	}
	for _, k := range n.Children() { // agents that are tools, and agents that handle failed calls
		x.aside(k, nil)
	}
	if a.History != nil {
		h = a.History
	}
	if h.Compresses() {
		x.cannot(n, n.Site().Span, s.label(), "history that is shortened", `share it whole: history = "shared"`)
	}
	if !h.Shares() && x.fresh == nil {
		x.fresh = n
	}
}

// configOf returns the settings of an agent, or nil if it has none.
func configOf(a *agent.Spec) *fileConfig {
	c := fileConfig{Temperature: a.Params.Temperature, TopP: a.Params.TopP, MaxTokens: a.Params.MaxTokens, Speculation: speculation(a)}
	if turns, set := a.Budget.Turns.Value(); set {
		c.MaxIterations = &turns
	}
	switch a.Choice.Mode {
	case model.ChoiceRequired, model.ChoiceNone:
		c.ToolChoice = string(a.Choice.Mode)
	case model.ChoiceAuto:
	default:
		c.ToolChoice = a.Choice.Tool
	}
	if c == (fileConfig{}) {
		return nil
	}
	return &c
}

// named sets the name of an agent, which must be unique in the file.
func (x *exporter) named(s *step) {
	name := s.spec.Name
	if name == "" || name == unnamed {
		return
	}
	if name == finish {
		x.cannot(s.node, s.node.Site().Span, name, "an agent of that name", "rename it: __finish__ is the end of a flow")
	}
	if x.names[name] == nil {
		x.names[name] = s
	}
	s.file.Name = name
}

// twins removes agents that the file already contains: a parallel may run an agent that is also elsewhere. It reports
// different agents with one name.
func (x *exporter) twins() {
	kept, dropped := map[string]*step{}, map[*step]bool{}
	for _, s := range x.steps {
		if s.spec == nil || s.file.Name == "" {
			continue
		}
		first := kept[s.file.Name]
		switch {
		case first == nil:
			kept[s.file.Name] = s
		case !s.inner && !first.inner || s.spec.Model != first.spec.Model || !bytes.Equal(encoded(s.file, ""), encoded(first.file, "")):
			x.cannot(s.node, s.node.Site().Span, s.spec.Name, "a second agent of that name", `name each: name = "..."`)
			x.found[len(x.found)-1].Notef(first.node.Pos(), "the first is defined")
		case s.inner:
			dropped[s] = true
		default: // transitions lead to this one
			dropped[first], kept[s.file.Name] = true, s
		}
	}
	x.steps = slices.DeleteFunc(x.steps, func(s *step) bool { return dropped[s] })
}

// unnamed is the language's default name of an agent.
const unnamed = "agent"

// nameSteps names the steps without a name: unnamed ones of the script, and those that are not agents there.
func (x *exporter) nameSteps() {
	for _, s := range x.steps {
		if s.file.Name != "" || s.node == nil {
			continue
		}
		base := unnamed
		switch s.file.Type {
		case "transform":
			base = cmp.Or(s.node.Name(), "take_"+cmp.Or(s.node.Field(), "all"))
		case "parallel":
			base = cmp.Or(s.node.Name(), "parallel")
		}
		name := base
		for i := 2; x.names[name] != nil || name == finish; i++ {
			name = base + "_" + strconv.Itoa(i)
		}
		x.names[name], s.file.Name = s, name
	}
	of := map[*flow.Node]*step{}
	for _, s := range x.steps {
		of[s.node] = s
	}
	for _, s := range x.steps {
		if s.file.Type != "parallel" {
			continue
		}
		for _, k := range membersOf(s.node) {
			if inner := of[k]; inner != nil { // otherwise it was reported
				s.file.Params.Agents = append(s.file.Params.Agents, inner.file.Name)
			}
		}
		if c := s.merge; c != nil {
			if inner := of[c.branch]; inner != nil && c.branch != nil {
				c.literal = generable.StrOf(inner.file.Name)
			}
			s.file.Params.Merge = c.file()
		}
	}
}

// oneConversation warns that agents of the format see what earlier agents said, if those of the script do not.
func (x *exporter) oneConversation() {
	models := 0
	for _, s := range x.steps {
		if s.spec != nil {
			models++
		}
	}
	if x.fresh == nil || models < 2 {
		return
	}
	x.warn(x.fresh.Site().Span, x.fresh.Label()+" begins a new conversation, but agents of a JSON flow continue with one",
		"put conversation(...) around the flow to have the same here, or note that models see more there")
}
