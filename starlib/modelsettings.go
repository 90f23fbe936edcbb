package starlib

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// modelDoc describes the parameter that names a model.
const modelDoc = `"provider/model", a list of them, of which each is asked when the one before cannot answer, or model(...); the run's default when not given`

// samplingParams are the parameters of a model call that agent and model share.
func samplingParams() []Param {
	opt := func(name string, kind Kind, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: "None", Doc: doc}
	}
	return []Param{
		opt("temperature", rangeKind(2), "0 to 2; the provider's default when not given"),
		opt("top_p", rangeKind(1), "0 to 1"),
		opt("max_tokens", leastKind(1, diag.WrongArgument), "the most tokens of one answer"),
		opt("seed", IntKind, "asks for the same answer again, where the provider can"),
		opt("stop", anyOf(StrKind, listOf(StrKind)), "texts that end the answer"),
		opt("effort", oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max"), "how long a model that thinks is to think"),
		opt("reasoning_tokens", leastKind(0, diag.WrongArgument), "the most tokens of thinking, where the provider counts them; 0 turns it off"),
		opt("cache", BoolKind, "marks the prompt for the provider's cache, where it must be marked"),
		opt("parallel_tool_calls", BoolKind, "whether one answer may call several tools"),
		opt("extra", DictKind, "members of the provider's own request, sent as they are: {\"service_tier\": \"flex\"}"),
	}
}

// settings are what agent and model say of a model and its calls.
type settings struct {
	name       string
	fallbacks  []string
	structured engine.Structured
	params     engine.Params
}

func (c *Call) settingsGiven() settings {
	s := settings{structured: engine.Structured(c.Str("structured"))}
	p := &s.params
	*p = engine.Params{Temperature: c.Float("temperature"), TopP: c.Float("top_p"), Effort: c.Str("effort"), Cache: c.Bool("cache", false)}
	p.MaxTokens = c.given("max_tokens")
	p.ReasoningTokens = c.given("reasoning_tokens")
	p.Seed = c.given("seed")
	if c.Has("parallel_tool_calls") {
		b := c.Bool("parallel_tool_calls", false)
		p.ParallelCalls = &b
	}
	p.Stop = c.texts("stop")
	if c.Has("extra") {
		v, err := c.Value("extra")
		if err != nil {
			c.complain(diag.WrongArgument, c.spanOf("extra"), "extra: %v", err)
		} else {
			p.Extra = generable.AppendJSON(nil, v, nil)
		}
	}
	return s
}

// texts reads a text or a list of texts.
func (c *Call) texts(name string) []string {
	var out []string
	switch v := c.Arg(name).(type) {
	case starlark.String:
		out = []string{string(v)}
	case *starlark.List:
		for item := range starlark.Elements(v) {
			text, _ := item.(starlark.String)
			out = append(out, string(text))
		}
	}
	return out
}

// given is a number, nil when it was not given.
func (c *Call) given(name string) *int {
	if !c.Has(name) {
		return nil
	}
	n := c.Int(name, 0)
	return &n
}

var (
	// modelNames takes a list of models, of which the first is asked first.
	modelNames = vetted(listOf(StrKind), func(_ *Param, v starlark.Value) []fault {
		list, _ := v.(starlark.Sequence)
		if list.Len() == 0 {
			return wrong(`write ["provider/model", ...], or leave it out for the run's default`, "the list names no model")
		}
		seen, n := map[starlark.Value]bool{}, 0
		for m := range starlark.Elements(list) {
			n++
			if seen[m] {
				found := wrong("a model that could not answer is not asked again; retry(...) asks the same agent again", "%s is listed twice", m)
				found[0].part = piece{n: n}
				return found
			}
			seen[m] = true
		}
		return nil
	})
	modelsKind = anyOf(StrKind, modelKind, modelNames)
)

// models reads a model, or a list of them.
func (c *Call) models(name string, s *settings) {
	all := c.texts(name)
	if len(all) > 0 {
		s.name, s.fallbacks = all[0], all[1:]
	}
}

// modelNamed is what the parameter model says.
func (c *Call) modelNamed() settings {
	if m, ok := c.Arg("model").(*modelValue); ok {
		return m.s
	}
	var s settings
	c.models("model", &s)
	return s
}

// into puts the settings into an agent.
func (s settings) into(spec *engine.AgentSpec) {
	spec.Model, spec.Fallbacks, spec.Params, spec.Structured = s.name, s.fallbacks, s.params, s.structured
}

// over fills in what s leaves open from other.
func (s settings) over(other settings) settings {
	if s.name == "" {
		s.name, s.fallbacks = other.name, other.fallbacks
	}
	if s.structured == "" {
		s.structured = other.structured
	}
	p, q := &s.params, other.params
	orElse(&p.Temperature, q.Temperature)
	orElse(&p.TopP, q.TopP)
	orElse(&p.MaxTokens, q.MaxTokens)
	orElse(&p.Seed, q.Seed)
	orElse(&p.ReasoningTokens, q.ReasoningTokens)
	orElse(&p.ParallelCalls, q.ParallelCalls)
	if p.Stop == nil {
		p.Stop = q.Stop
	}
	if p.Effort == "" {
		p.Effort = q.Effort
	}
	if p.Extra == nil {
		p.Extra = q.Extra
	}
	p.Cache = p.Cache || q.Cache
	return s
}

func orElse[T any](p **T, other *T) {
	if *p == nil {
		*p = other
	}
}

// toolChoice reads what the first answer must do: a word, or the name of a tool.
func (c *Call) toolChoice() engine.ToolChoice {
	switch word := c.Str("tool_choice"); word {
	case "", "auto":
		return engine.ToolChoice{}
	case "required":
		return engine.ToolChoice{Mode: engine.ChoiceRequired}
	case "none":
		return engine.ToolChoice{Mode: engine.ChoiceNone}
	default:
		return engine.ToolChoice{Mode: engine.ChoiceTool, Tool: word}
	}
}

// toolNames are the tools that an agent's model may call, whatever skill they belong to.
func toolNames(spec *engine.AgentSpec) []string {
	var names []string
	for _, t := range spec.Tools {
		names = append(names, t.Name)
	}
	for _, sk := range spec.Skills {
		for _, t := range sk.Tools {
			names = append(names, t.Name)
		}
		for _, k := range sk.Knowledge {
			names = append(names, k.Key)
		}
	}
	return names
}

// chosen reports a tool that must be called and is not there.
func (c *Call) chosen(choice engine.ToolChoice, tools []string) {
	if !c.Has("tool_choice") || choice.Mode == engine.ChoiceAuto || choice.Mode == engine.ChoiceNone {
		return
	}
	switch {
	case len(tools) == 0:
		c.complain(diag.WrongArgument, c.spanOf("tool_choice"), "tool_choice: the agent has no tools").Help = []string{"give it tools = [...], or leave out tool_choice"}
	case choice.Mode == engine.ChoiceTool && !slices.Contains(tools, choice.Tool):
		d := c.complain(diag.WrongArgument, c.spanOf("tool_choice"), "tool_choice: the agent has no tool %q", choice.Tool)
		if near, ok := diag.Suggest(choice.Tool, append(tools, "auto", "required", "none")); ok {
			d.Help = []string{fmt.Sprintf("did you mean %q?", near)}
		} else {
			d.Help = []string{"its tools are " + strings.Join(tools, ", ") + "; else \"auto\", \"required\" or \"none\""}
		}
	}
}

func modelFunc(c *Call) (starlark.Value, error) {
	s := c.settingsGiven()
	c.models("name", &s)
	return &modelValue{s: s}, nil
}
