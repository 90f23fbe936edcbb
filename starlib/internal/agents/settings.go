package agents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// modelDoc describes the parameter that names a model.
const modelDoc = `"provider/model", a list of them, where each is asked if the one before it cannot answer, or model(...); by default the run's`

// samplingNames lists the names of samplingParams.
const samplingNames = "temperature top_p max_tokens seed stop effort reasoning_tokens cache parallel_tool_calls extra"

func toolChoiceParam() table.Param {
	return table.Opt("tool_choice", toolChoiceKind, `"auto"`, `"auto", "required", "none" or the name of a tool: what the model's first answer must do`)
}

func structuredParam() table.Param {
	return table.Opt("structured", table.OneOf("auto", "constrained", "guided"), `"auto"`, "how strictly the model is held to the output type")
}

// samplingParams are the parameters of a model call that agent and model share.
func samplingParams() []table.Param {
	opt := func(name string, kind *table.Kind, doc string) table.Param { return table.Opt(name, kind, "None", doc) }
	return []table.Param{
		opt("temperature", table.RangeKind(2), "0 to 2; by default the provider's default"),
		opt("top_p", table.RangeKind(1), "0 to 1"),
		opt("max_tokens", table.LeastKind(1, diag.WrongArgument), "the maximum number of tokens in one answer"),
		opt("seed", table.IntKind, "asks for reproducible answers, if the provider supports it"),
		opt("stop", table.AnyOf(table.StrKind, table.ListOf(table.StrKind)), "texts that end the answer"),
		opt("effort", table.OneOf("none", "minimal", "low", "medium", "high", "xhigh", "max"), "how much effort a reasoning model spends on reasoning"),
		opt("reasoning_tokens", table.LeastKind(0, diag.WrongArgument), "the maximum number of reasoning tokens, if the provider counts them; 0 turns reasoning off"),
		opt("cache", table.BoolKind, "marks the prompt for the provider's cache, if the provider requires a mark"),
		opt("parallel_tool_calls", table.BoolKind, "whether one answer may call several tools"),
		opt("extra", table.DictKind, "additional members of the provider's request, sent verbatim: {\"service_tier\": \"flex\"}; tools are added to the agent's, and members that the request sets itself are not replaced"),
	}
}

// intervalKind takes after how many steps an agent is asked for its thoughts.
var intervalKind = table.Ints(func(_ *table.Param, n int64) []table.Fault {
	return table.Coded(diag.LoopBound, table.FaultIf(n < 1, "leave it out for an agent that is not asked for its reasoning", "want at least 1, got %d", n))
})

// settings are the parameters of agent and model that configure a model and its calls.
type settings struct {
	name       string
	fallbacks  []string
	structured model.Structured
	params     model.Params
}

func settingsGiven(c *table.Call) settings {
	s := settings{structured: model.Structured(c.Str("structured"))}
	p := &s.params
	*p = model.Params{Temperature: c.Float("temperature"), TopP: c.Float("top_p"), Effort: c.Str("effort"), Cache: c.Bool("cache", false)}
	p.MaxTokens, p.ReasoningTokens, p.Seed = c.OptInt("max_tokens"), c.OptInt("reasoning_tokens"), c.OptInt("seed")
	if c.Has("parallel_tool_calls") {
		b := c.Bool("parallel_tool_calls", false)
		p.ParallelCalls = &b
	}
	p.Stop = c.Texts("stop")
	if c.Has("extra") {
		v, err := c.Value("extra")
		if err != nil {
			c.Problemf(diag.WrongArgument, c.ArgSpan("extra"), "extra: %v", err)
		} else {
			p.Extra = generable.AppendJSON(nil, v, nil)
			ownMembers(c)
		}
	}
	return s
}

// ownMembers reports members of extra that every request sets itself, and that extra could only replace. What else a
// provider's requests set is known only when one is built.
func ownMembers(c *table.Call) {
	extra, ok := c.Arg("extra").(*starlark.Dict)
	if !ok {
		return
	}
	n := 0
	for key, v := range extra.Entries() {
		n++
		at := c.PartSpan(c.Refs[c.ParamIndex("extra")], table.Piece{N: n, Key: key.String()})
		name, _ := key.(starlark.String)
		instead := map[string]string{"model": "it is model = ...", "messages": "it is made of prompt, input and task", "contents": "it is made of prompt, input and task",
			"stream": "answers are read as they arrive", "stream_options": "the usage is always asked for"}[string(name)]
		if instead != "" {
			c.Problemf(diag.WrongArgument, at, "extra: every request sets %q itself", string(name)).Help = []string{"leave it out: " + instead}
		}
		if _, list := v.(*starlark.List); name == "tools" && !list {
			c.Problemf(diag.WrongArgument, at, "extra: \"tools\" must be a list, got %s", value.Describe(v)).Help =
				[]string{"its tools are added to those of the agent: {\"tools\": [{\"type\": \"...\"}]}"}
		}
	}
}

var (
	// modelNames takes a list of models, which are tried in order.
	modelNames = table.Vetted(table.ListOf(modelName), func(_ *table.Param, v starlark.Value) []table.Fault {
		if starlark.Len(v) == 0 {
			return table.Faultf(`write ["provider/model", ...], or leave it out for the run's default`, "the list names no model")
		}
		names := table.Sequence(v)
		seen := map[starlark.Value]bool{} // texts only
		for i, m := range names {
			if _, text := m.(starlark.String); text && seen[m] {
				found := table.Faultf("a model that could not answer is not asked again; retry(...) asks the same agent again", "%s is listed twice", m)
				found[0].Part = table.Piece{N: i + 1}
				return found
			} else if text {
				seen[m] = true
			}
		}
		return nil
	})
	modelsKind = table.AnyOf(modelName, modelKind, modelNames)
	modelName  = table.Naming(table.StrKind, table.ModelName)
)

// models reads a model, or a list of them.
func models(c *table.Call, name string, s *settings) {
	if all := c.Texts(name); len(all) > 0 {
		s.name, s.fallbacks = all[0], all[1:]
	}
}

// modelNamed returns the settings that the parameter model holds.
func modelNamed(c *table.Call) settings {
	if m, ok := c.Arg("model").(*modelValue); ok {
		return m.Of
	}
	var s settings
	models(c, "model", &s)
	return s
}

// into copies the settings into an agent.
func (s settings) into(spec *agent.Spec) {
	spec.Model, spec.Fallbacks, spec.Params, spec.Structured = s.name, s.fallbacks, s.params, s.structured
}

// over returns s, with the settings that s leaves open taken from other.
func (s settings) over(other settings) settings {
	if s.name == "" {
		s.name, s.fallbacks = other.name, other.fallbacks
	}
	s.structured = cmp.Or(s.structured, other.structured)
	p, q := &s.params, other.params
	p.Temperature = cmp.Or(p.Temperature, q.Temperature)
	p.TopP = cmp.Or(p.TopP, q.TopP)
	p.MaxTokens = cmp.Or(p.MaxTokens, q.MaxTokens)
	p.Seed = cmp.Or(p.Seed, q.Seed)
	p.ReasoningTokens = cmp.Or(p.ReasoningTokens, q.ReasoningTokens)
	p.ParallelCalls = cmp.Or(p.ParallelCalls, q.ParallelCalls)
	p.Effort = cmp.Or(p.Effort, q.Effort)
	if p.Stop == nil {
		p.Stop = q.Stop
	}
	if p.Extra == nil {
		p.Extra = q.Extra
	}
	p.Cache = p.Cache || q.Cache
	return s
}

// toolNames returns the tools that an agent's model may call, in any skill.
func toolNames(spec *agent.Spec) []string {
	name := func(t *agent.Tool) string { return t.Name }
	names := text.Each(spec.Tools, name)
	for _, sk := range spec.Skills {
		names = append(names, text.Each(sk.Tools, name)...)
		for _, k := range sk.Knowledge {
			names = append(names, k.Key)
		}
	}
	return names
}

// chosen reports a tool choice that names a missing tool.
func chosen(c *table.Call, choice model.ToolChoice, tools []string) {
	if !c.Has("tool_choice") || choice.Mode == model.ChoiceAuto || choice.Mode == model.ChoiceNone {
		return
	}
	switch {
	case len(tools) == 0:
		c.Problemf(diag.WrongArgument, c.ArgSpan("tool_choice"), "tool_choice: the agent has no tools").Help = []string{"pass tools = [...], or leave out tool_choice"}
	case choice.Mode == model.ChoiceTool && !slices.Contains(tools, choice.Tool):
		d := c.Problemf(diag.WrongArgument, c.ArgSpan("tool_choice"), "tool_choice: the agent has no tool %q", choice.Tool)
		near := diag.DidYouMean(choice.Tool, append(tools, "auto", "required", "none"))
		d.Advise(cmp.Or(near, "its tools are "+strings.Join(tools, ", ")+"; else \"auto\", \"required\" or \"none\""))
	}
}

func modelFunc(c *table.Call) (starlark.Value, error) {
	s := settingsGiven(c)
	models(c, "name", &s)
	return &modelValue{Kind: "model", Text: fmt.Sprintf("model(%q)", s.name), Of: s}, nil
}

func imageRows() []table.Builtin {
	return []table.Builtin{
		table.TypeRow("Image", "The type of a picture that an agent takes: url, an http, https or data URL, and mime, its media type if the URL does not specify it. An input may be an Image or contain Images.", table.GroupAgents, model.ImageType, nil),
		table.TypeRow("Audio", "The type of speech that a model generates, as an agent's output: url, a data URL, mime, its media type, and transcript, the words if the provider sends them. Models receive the transcript in its place.", table.GroupAgents, model.AudioType, nil),
		{Name: "image", Group: table.GroupAgents, Returns: "Image", Effect: table.Pure, May: true, Whole: true, Func: imageFunc,
			Params: []table.Param{{Name: "source", Kind: table.Naming(table.StrKind, table.FilePath), Doc: "a file in the script's directory, or an http, https or data URL"}},
			Doc:    "Returns a picture for an agent. A file is read when the script loads and becomes part of it; a URL is fetched by the provider."},
	}
}

func imageFunc(c *table.Call) (starlark.Value, error) {
	source, at := c.Str("source"), c.ArgSpan("source")
	if model.IsImageURL(source) {
		return value.FromData(model.ImageValue(model.Image{URL: source})), nil
	}
	data, ok, err := c.ReadFile(source, at)
	if !ok {
		return nil, err
	}
	picture, ok := model.ReadImage(data)
	if !ok {
		c.Problemf(diag.WrongValue, at, "%s is not a picture that models read", source).Help = []string{"png, jpeg, gif and webp are read"}
		return nil, nil
	}
	return value.FromData(model.ImageValue(picture)), nil
}
