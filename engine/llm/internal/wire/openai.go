package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
)

// SchemaForm is how a provider takes a constraint on its answer.
type SchemaForm string

// The forms of constraint.
const (
	SchemaNone   SchemaForm = ""            // the prompt alone
	SchemaNative SchemaForm = "json_schema" // decoding is held to a schema
	SchemaObject SchemaForm = "json_object" // decoding is held to JSON
)

// OpenAI is the dialect of chat completions, with what its many speakers do differently.
type OpenAI struct {
	MaxTokens       string                  // the member for the answer's limit; default max_completion_tokens
	Seed            string                  // default seed
	NoSeed          bool                    // it has none
	NoParallel      bool                    // it cannot be held to one call of a tool at a time
	Schema          SchemaForm              // what response_format takes
	NoStreamOptions bool                    // stream_options is refused; usage comes anyway
	ShortCallIDs    bool                    // ids of calls must be 9 letters and digits
	EchoReasoning   bool                    // reasoning is to be sent back as reasoning_content, that since the user spoke last
	EchoAll         func(model string) bool // all of it is, and an empty one where there was none; nil: for no model
	EchoDetails     bool                    // reasoning_details are to be sent back as they came
	Thinking        Thinking                // how it takes what a request says of thinking
	AnyTool         string                  // the word for "some tool must be called"; default required
	CacheMarks      bool                    // what is to be cached must be marked
	HoldsCalls      bool                    // a schema may hold the whole answer, so that no tool can be called
	Bridges         func(model string) bool // no turn of the user's may follow results of tools: one of the model's stands between; nil: for no model
	MayCut          bool                    // servers of this kind may cut a prompt that is too long, and say nothing
	Extra           map[string]json.RawMessage
}

var _ Dialect = (*OpenAI)(nil)

func (d *OpenAI) lines() bool { return false }

// CallID returns the id itself, or nine characters derived from it.
func (d *OpenAI) CallID(id string) string {
	if !d.ShortCallIDs || len(id) == 9 && isAlnum(id) {
		return id
	}
	return shortID(id)
}

// Patch sets the parameters that the request has and no other: the client above cannot tell
// an unset one from a zero, sends a temperature always and top_p never.
func (d *OpenAI) Patch(b *Body, p *Plan) error {
	params := &p.Request.Params
	switch {
	case d.NoSeed && params.Seed != nil:
		return &Unsupported{"takes no seed", "leave out seed"}
	case d.NoParallel && params.ParallelCalls != nil:
		return &Unsupported{"cannot be held to one call of a tool at a time, nor allowed several", "leave out parallel_tool_calls"}
	}
	b.Delete("temperature", "top_p", "stop", "seed", "max_tokens", "max_completion_tokens", "metadata", "stream", "stream_options", "response_format",
		"tool_choice", "parallel_tool_calls", "reasoning_effort", "reasoning", "thinking")
	if err := d.echo(b, p.Request); err != nil {
		return err
	}
	if err := d.mark(b, p.Request); err != nil {
		return err
	}
	if err := d.bridge(b); err != nil {
		return err
	}
	set := func(ok bool, key string, value func() any) error {
		if !ok {
			return nil
		}
		return b.Set(key, value())
	}
	maxTokens, seed := d.MaxTokens, d.Seed
	if maxTokens == "" {
		maxTokens = "max_completion_tokens"
	}
	if seed == "" {
		seed = "seed"
	}
	for _, err := range []error{
		set(params.Temperature != nil, "temperature", func() any { return *params.Temperature }),
		set(params.TopP != nil, "top_p", func() any { return *params.TopP }),
		set(params.MaxTokens != nil, maxTokens, func() any { return *params.MaxTokens }),
		set(params.Seed != nil, seed, func() any { return *params.Seed }),
		set(len(params.Stop) > 0, "stop", func() any { return params.Stop }),
		set(p.Stream, "stream", func() any { return true }),
		set(p.Stream && !d.NoStreamOptions, "stream_options", func() any { return map[string]bool{"include_usage": true} }),
		set(p.Output != nil, "response_format", func() any { return responseFormat(p.Output) }),
		set(len(p.Request.Tools) > 0 && p.Request.Choice != (engine.ToolChoice{}), "tool_choice", func() any { return d.Choice(p.Request.Choice) }),
		set(len(p.Request.Tools) > 0 && params.ParallelCalls != nil, "parallel_tool_calls", func() any { return *params.ParallelCalls }),
		d.think(b, p),
	} {
		if err != nil {
			return err
		}
	}
	for _, key := range sortedKeys(d.Extra) {
		b.SetRaw(key, d.Extra[key])
	}
	return nil
}

func responseFormat(o *Output) any {
	if o.Schema == nil {
		return map[string]string{"type": "json_object"}
	}
	return struct {
		Type   string `json:"type"`
		Schema any    `json:"json_schema"`
	}{"json_schema", struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	}{o.Name, o.Strict, o.Schema}}
}

func joined(parts []engine.Part, kind engine.PartKind, sep string) string {
	var texts []string
	for i := range parts {
		if parts[i].Kind == kind {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, sep)
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Canonical writes the answer as a plain completion of one choice.
func (d *OpenAI) Canonical(r *engine.Response) ([]byte, error) {
	type function struct {
		Name string `json:"name"`
		Args string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	var calls []call
	for _, c := range r.Calls() {
		calls = append(calls, call{c.ID, "function", function{c.Name, c.Args}})
	}
	return encode(map[string]any{
		"id": r.RequestID, "object": "chat.completion", "model": r.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": string(r.Finish),
			"message": map[string]any{
				"role": "assistant", "content": r.Text(), "tool_calls": calls,
				"reasoning_content": joined(r.Parts, engine.PartReasoning, ""),
			},
		}},
		"usage": map[string]any{
			"prompt_tokens": r.Usage.In, "completion_tokens": r.Usage.Out, "total_tokens": r.Usage.In + r.Usage.Out,
			"prompt_tokens_details":     map[string]int{"cached_tokens": r.Usage.CacheRead},
			"completion_tokens_details": map[string]int{"reasoning_tokens": r.Usage.Reasoning},
		},
	})
}
