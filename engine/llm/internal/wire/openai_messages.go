package wire

import (
	"encoding/json"

	"github.com/agentscript/agentscript/engine/model"
)

// escaped is a text in which JSON writes <, > and & as \u003c, \u003e and \u0026. The conversations and tools of this
// dialect are written this way, except for thoughts.
type escaped string

// MarshalJSON implements json.Marshaler.
func (s escaped) MarshalJSON() ([]byte, error) { return json.Marshal(string(s)) }

type openAIMessage struct {
	Role     string          `json:"role"`
	Content  any             `json:"content"` // an escaped text, or a list of openAIText and openAIPicture
	Calls    []openAICall    `json:"tool_calls,omitempty"`
	CallID   escaped         `json:"tool_call_id,omitempty"`
	Thoughts *string         `json:"reasoning_content,omitempty"`
	Details  json.RawMessage `json:"reasoning_details,omitempty"`
}

type openAICall struct {
	ID       escaped `json:"id,omitempty"`
	Type     string  `json:"type"`
	Function struct {
		Name escaped `json:"name"`
		Args escaped `json:"arguments"`
	} `json:"function"`
}

type openAIText struct {
	Text escaped `json:"text"`
	Type string  `json:"type"`
}

type openAIPicture struct {
	Type  string             `json:"type"`
	Image map[string]escaped `json:"image_url"`
}

// markedText is a text that marks the end of the part to cache.
type markedText struct {
	Type  string    `json:"type"`
	Text  escaped   `json:"text"`
	Cache cacheMark `json:"cache_control"`
}

// bridgeWords is the text of the model's turn that some providers require between results of tools and the user's next
// turn. It is as short as possible: an empty one is refused too.
const bridgeWords = "OK."

// messages writes the conversation.
func (d *OpenAI) messages(p *Plan) []openAIMessage {
	r := p.Request
	out := make([]openAIMessage, 0, len(r.Messages)+1)
	switch {
	case r.System == "":
	case d.CacheMarks && r.Params.Cache:
		out = append(out, openAIMessage{Role: "system", Content: []any{markedText{"text", escaped(r.System), *ephemeral}}})
	default:
		out = append(out, openAIMessage{Role: "system", Content: escaped(r.System)})
	}
	bridges := d.Bridges != nil && d.Bridges(p.Model)
	asked := -1 // the index of the last user message
	for i := range r.Messages {
		if r.Messages[i].Role == model.RoleUser {
			asked = i
		}
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		switch m.Role {
		case model.RoleTool:
			for j := range m.Parts {
				if res := m.Parts[j].Result; res != nil {
					out = append(out, openAIMessage{Role: "tool", Content: escaped(res.Text), CallID: escaped(d.callID(res.CallID))})
				}
			}
		case model.RoleAssistant:
			out = append(out, d.turn(p.Model, m, i > asked))
		default:
			if n := len(out); bridges && n > 0 && out[n-1].Role == "tool" {
				out = append(out, openAIMessage{Role: "assistant", Content: escaped(bridgeWords)})
			}
			out = append(out, openAIMessage{Role: "user", Content: openAIContent(m.Parts)})
		}
	}
	return out
}

// turn writes a turn of the model, with its reasoning if the provider requires it back: for the turns since the last
// user message, or for all.
func (d *OpenAI) turn(name string, m *model.Message, since bool) openAIMessage {
	out := openAIMessage{Role: "assistant", Content: escaped(Joined(m.Parts, model.PartText, ""))}
	for i := range m.Parts {
		if c := m.Parts[i].Call; c != nil {
			call := openAICall{ID: escaped(d.callID(c.ID)), Type: "function"}
			call.Function.Name, call.Function.Args = escaped(c.Name), escaped(c.Args)
			out.Calls = append(out.Calls, call)
		}
		if o := m.Parts[i].Opaque; d.EchoDetails && o != nil && o.Provider == detailsOf && json.Valid([]byte(o.Data)) {
			out.Details = json.RawMessage(o.Data)
		}
	}
	if d.EchoReasoning {
		thoughts := Joined(m.Parts, model.PartReasoning, "")
		if d.EchoAll != nil && d.EchoAll(name) || since && thoughts != "" {
			out.Thoughts = &thoughts
		}
	}
	return out
}

// openAIContent returns the content of a user's turn: one text, or texts and pictures in order.
func openAIContent(parts []model.Part) any {
	var out []any
	pictures := false
	for _, p := range InOrder(parts) {
		if p.Image == nil {
			out = append(out, openAIText{escaped(p.Text), "text"})
			continue
		}
		pictures = true
		out = append(out, openAIPicture{"image_url", map[string]escaped{"url": escaped(p.Image.URL)}})
	}
	if !pictures {
		return escaped(Joined(parts, model.PartText, "\n\n"))
	}
	return out
}

// callID returns the id, or nine characters derived from it.
func (d *OpenAI) callID(id string) string {
	if !d.ShortCallIDs || len(id) == 9 && isAlnum(id) {
		return id
	}
	return shortID(id)
}

// escapedTools are tools written with escapes, as the conversation is.
type escapedTools []openAITool

type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (t escapedTools) MarshalJSON() ([]byte, error) { return json.Marshal([]openAITool(t)) }

func openAITools(tools []Tool) escapedTools {
	out := make(escapedTools, len(tools))
	for i, t := range tools {
		out[i] = openAITool{"function", openAIFunction(t)}
	}
	return out
}
