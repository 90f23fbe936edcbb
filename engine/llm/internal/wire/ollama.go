package wire

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// Ollama is the dialect of Ollama's own chat endpoint.
type Ollama struct{}

type ollamaMessage struct {
	Role     string       `json:"role"`
	Content  string       `json:"content"`
	Thinking string       `json:"thinking,omitempty"`
	Calls    []ollamaCall `json:"tool_calls,omitempty"`
	Images   []string     `json:"images,omitempty"` // base64
	ToolName string       `json:"tool_name,omitempty"`
	CallID   string       `json:"tool_call_id,omitempty"`
}

type ollamaCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"` // an object
	} `json:"function"`
}

func (d *Ollama) limit() (object string, names []string) {
	return "options", []string{"num_predict"}
}

// write writes the conversation with calls and results, the tools, the schema, and only the options that the request
// has. A prompt that does not fit the window must be an error: by default the server silently cuts it.
func (d *Ollama) write(p *Plan) (*Body, error) {
	b, r := modelBody(p), p.Request
	if err := ollamaTakes(r); err != nil {
		return nil, err
	}
	messages, err := ollamaMessages(r)
	if err != nil {
		return nil, err
	}
	think := ollamaThink(p.Model, &r.Params)
	b.add(
		member{true, "messages", messages},
		member{think != nil, "think", think},
		member{len(r.Tools) > 0 && r.Choice.Mode != model.ChoiceNone, "tools", ollamaTools(p.Tools)},
	)
	if o := p.Output; o != nil {
		format := o.Schema
		if format == nil {
			format = json.RawMessage(`"json"`)
		}
		b.SetRaw("format", format)
	}
	options := newBody()
	options.add(
		member{r.Params.Temperature != nil, "temperature", r.Params.Temperature},
		member{r.Params.TopP != nil, "top_p", r.Params.TopP},
		member{r.Params.MaxTokens != nil, "num_predict", r.Params.MaxTokens},
		member{r.Params.Seed != nil, "seed", r.Params.Seed},
		member{len(r.Params.Stop) > 0, "stop", r.Params.Stop},
	)
	b.add(
		member{options.Len() > 0, "options", options},
		member{true, "truncate", false},
		member{true, "shift", false},
		member{true, "stream", p.Stream},
	)
	return b, nil
}

// ollamaTakes rejects parameters that the server would silently ignore.
func ollamaTakes(r *model.Request) error {
	switch {
	case len(r.Tools) > 0 && (r.Choice.Mode == model.ChoiceRequired || r.Choice.Mode == model.ChoiceTool):
		return &Unsupported{"cannot be made to call a tool", "leave out tool_choice, or say in the prompt that the tool is to be called"}
	case len(r.Tools) > 0 && r.Params.ParallelCalls != nil && !*r.Params.ParallelCalls:
		return &Unsupported{"cannot be held to one call at a time", "leave out parallel_tool_calls, or say in the prompt that one tool is to be called at a time"}
	case r.Params.ReasoningTokens != nil && *r.Params.ReasoningTokens > 0:
		return &Unsupported{"takes no reasoning_tokens", `say effort = "low", "medium" or "high" instead`}
	}
	return nil
}

// ollamaThink turns thinking off or on, or sets one of three efforts for the only family of models that supports them:
// for any other model the server refuses an effort. It returns nil if the request does not set thinking.
func ollamaThink(model string, p *model.Params) any {
	switch {
	case p.Effort == "none" || p.ReasoningTokens != nil:
		return false
	case p.Effort == "":
		return nil
	case !strings.Contains(model, "gpt-oss"):
		return true
	}
	return cmp.Or(map[string]string{"minimal": "low", "low": "low", "medium": "medium"}[p.Effort], "high")
}

func ollamaMessages(r *model.Request) ([]ollamaMessage, error) {
	var out []ollamaMessage
	if r.System != "" {
		out = append(out, ollamaMessage{Role: "system", Content: r.System})
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		switch m.Role {
		case model.RoleTool:
			for j := range m.Parts {
				if res := m.Parts[j].Result; res != nil {
					out = append(out, ollamaMessage{Role: "tool", Content: res.Text, ToolName: res.Name, CallID: res.CallID})
				}
			}
		case model.RoleAssistant:
			msg := ollamaMessage{Role: "assistant", Content: Joined(m.Parts, model.PartText, ""), Thinking: Joined(m.Parts, model.PartReasoning, "")}
			for j := range m.Parts {
				if c := m.Parts[j].Call; c != nil {
					call := ollamaCall{ID: c.ID}
					call.Function.Name, call.Function.Args = c.Name, argsObject(c.Args)
					msg.Calls = append(msg.Calls, call)
				}
			}
			out = append(out, msg)
		default:
			turn, err := ollamaAsked(m.Parts)
			if err != nil {
				return nil, err
			}
			out = append(out, turn...)
		}
	}
	return out, nil
}

// ollamaAsked writes a user's turn. The server puts the pictures of a message before its text, and joins messages with
// the same role. A picture after a text therefore begins a new message, which keeps the order.
func ollamaAsked(parts []model.Part) ([]ollamaMessage, error) {
	out := []ollamaMessage{{Role: "user"}}
	for _, p := range InOrder(parts) {
		last := &out[len(out)-1]
		if p.Image == nil {
			last.Content = p.Text
			continue
		}
		_, data, ok := DataURL(p.Image.URL)
		switch {
		case !ok:
			return nil, &Unsupported{"reads no images from the net, as " + quote(p.Image.URL), "pass the picture as a data URL"}
		case last.Content != "":
			out = append(out, ollamaMessage{Role: "user", Images: []string{data}})
		default:
			last.Images = append(last.Images, data)
		}
	}
	return out, nil
}

// argsObject returns a call's arguments as the object that the server requires. A model's broken arguments are wrapped
// in one, so that the model sees what it wrote.
func argsObject(args string) json.RawMessage {
	if args == "" {
		return json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) == nil && object != nil {
		return json.RawMessage(args)
	}
	return json.RawMessage(`{"arguments":` + quoted(args) + "}")
}

func ollamaTools(tools []Tool) []any {
	out := make([]any, len(tools))
	for i, t := range tools {
		out[i] = struct {
			Type     string `json:"type"`
			Function any    `json:"function"`
		}{"function", struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		}{t.Name, t.Description, t.Schema}}
	}
	return out
}

type ollamaAnswer struct {
	Model   loose `json:"model"`
	Message struct {
		Content  loose `json:"content"`
		Thinking loose `json:"thinking"`
		Thoughts loose `json:"reasoning_content"` // of servers that speak both this and chat completions
		Calls    []struct {
			ID       loose         `json:"id"`
			Function functionPiece `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Response loose `json:"response"` // of the endpoint that completes a text
	Thinking loose `json:"thinking"`
	Done     bool  `json:"done"`
	Reason   loose `json:"done_reason"`
	In       count `json:"prompt_eval_count"`
	Out      count `json:"eval_count"`
}

func (d *Ollama) document(data []byte, a *answer) error { return d.event(data, a) }

func (d *Ollama) event(data []byte, a *answer) error {
	var o ollamaAnswer
	if err := json.Unmarshal(data, &o); err != nil {
		return wrongForm("chat answer", err)
	}
	a.identify("", o.Model)
	a.addReasoning(string(o.Message.Thinking + o.Message.Thoughts + o.Thinking))
	a.addText(string(o.Message.Content + o.Response))
	for i := range o.Message.Calls {
		c := &o.Message.Calls[i]
		// Each call arrives whole, whatever its index is.
		a.addWholeCall(string(c.ID), string(c.Function.Name), arguments(c.Function.Args))
	}
	if !o.Done {
		return nil
	}
	a.end(string(cmp.Or(o.Reason, "stop"))) // older servers send no done_reason
	a.usage = tokens(o.In, o.Out, 0, 0, 0)
	a.done()
	return nil
}
