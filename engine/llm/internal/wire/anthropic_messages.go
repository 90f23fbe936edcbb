package wire

import (
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

type claudeMessages []*claudeMessage

type claudeMessage struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // a *claudeBlock, a *claudeSeal, or a block sent back unchanged
}

type cacheMark struct {
	Type string `json:"type"`
}

// ephemeral is the only kind of mark; it is never modified.
var ephemeral = &cacheMark{"ephemeral"}

// claudeBlock is a part of a message that may carry a cache mark: a text, a picture, a call, or a call's result.
type claudeBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	Source  *claudeSource   `json:"source,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    *string         `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"` // an object
	CallID  string          `json:"tool_use_id,omitempty"`
	Content any             `json:"content,omitempty"` // of a result: text, or a list of *claudeBlock
	IsError bool            `json:"is_error,omitempty"`
	Cache   *cacheMark      `json:"cache_control,omitempty"`
}

type claudeSource struct {
	Type  string `json:"type"`
	Media string `json:"media_type,omitempty"`
	Data  string `json:"data,omitempty"`
	URL   string `json:"url,omitempty"`
}

// messages writes the conversation. Consecutive turns of one side become one message: the results of parallel calls
// must be in one message after the calls.
func (d *Anthropic) messages(r *model.Request) (claudeMessages, error) {
	var out claudeMessages
	add := func(role string, blocks ...any) {
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			return
		}
		if len(blocks) > 0 {
			out = append(out, &claudeMessage{role, blocks})
		}
	}
	inside := picturesOf(r.Messages, func(*model.Image) bool { return true })
	for i := range r.Messages {
		m := &r.Messages[i]
		role := "user"
		if m.Role == model.RoleAssistant {
			role = "assistant"
		}
		blocks, err := d.blocks(m, inside)
		if err != nil {
			return nil, err
		}
		add(role, blocks...)
	}
	if n := len(out); n == 0 || out[n-1].Role == "assistant" && r.Messages[len(r.Messages)-1].Role == model.RoleUser {
		add("user", &claudeBlock{Type: "text", Text: "(no input)"}) // blank text is refused, and a turn is required
	}
	return out, nil
}

func (d *Anthropic) blocks(m *model.Message, inside results) ([]any, error) {
	var out []any
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case inside.inside(p):
		case p.Call != nil:
			out = append(out, &claudeBlock{Type: "tool_use", ID: d.callID(p.Call.ID), Name: &p.Call.Name, Input: argsObject(p.Call.Args)})
		case p.Result != nil:
			content, err := claudeResult(p.Result, inside[p.Result.CallID])
			if err != nil {
				return nil, err
			}
			out = append(out, &claudeBlock{Type: "tool_result", CallID: d.callID(p.Result.CallID), Content: content, IsError: p.Result.IsError})
		case p.Image != nil:
			block, err := pictureBlock(p.Image)
			if err != nil {
				return nil, err
			}
			out = append(out, block)
		case p.Kind == model.PartReasoning:
			if block := stateBlock(p); block != nil {
				out = append(out, block)
			}
		case strings.TrimSpace(p.Text) != "":
			out = append(out, &claudeBlock{Type: "text", Text: p.Text})
		}
	}
	return out, nil
}

// claudeResult returns the content of a result: its text, nil if it is empty, or a list of the text and the tool's
// pictures.
func claudeResult(r *model.ToolResult, pictures []*model.Image) (any, error) {
	text := r.Text
	if text == "" && r.IsError {
		text = "error"
	}
	var list []*claudeBlock
	if strings.TrimSpace(text) != "" {
		list = append(list, &claudeBlock{Type: "text", Text: text})
	}
	for _, p := range pictures {
		block, err := pictureBlock(p)
		if err != nil {
			return nil, err
		}
		list = append(list, block)
	}
	switch {
	case len(pictures) > 0:
		return list, nil
	case text == "":
		return nil, nil
	}
	return text, nil
}

func pictureBlock(img *model.Image) (*claudeBlock, error) {
	if !isData(img) {
		return &claudeBlock{Type: "image", Source: &claudeSource{Type: "url", URL: img.URL}}, nil
	}
	media, data, ok := DataURL(img.URL)
	if img.MIME != "" {
		media = img.MIME
	}
	if !ok || !strings.HasPrefix(media, "image/") {
		return nil, &Unsupported{"received a data URL that holds no picture", "write it as data:image/png;base64,… with the picture's own type"}
	}
	return &claudeBlock{Type: "image", Source: &claudeSource{Type: "base64", Media: media, Data: data}}, nil
}

// mark sets the cache mark at the end of the conversation, where the next turn will find it.
func (m claudeMessages) mark() {
	last := m[len(m)-1].Content
	if block, ok := last[len(last)-1].(*claudeBlock); ok {
		block.Cache = ephemeral
	}
}

// claudeSeal is what is kept of a thought in addition to its text: the block without it.
type claudeSeal struct {
	Type      string  `json:"type"`
	Thinking  *string `json:"thinking,omitempty"` // of a thinking block that is sent back
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"`
}

const (
	thinkingBlock = "thinking"
	redactedBlock = "redacted_thinking"
)

// stateBlock returns the block that is sent back for a part that does not appear in an answer: a thought, as a
// *claudeSeal with its signature, which the provider requires, or a block of the provider's own unchanged. It returns
// nil for the state of another family.
func stateBlock(p *model.Part) any {
	var s claudeSeal
	if p.Kind != model.PartReasoning || p.Opaque == nil || p.Opaque.Provider != claudeFamily || json.Unmarshal([]byte(p.Opaque.Data), &s) != nil {
		return nil
	}
	switch s.Type {
	case "":
		return nil
	case thinkingBlock:
		s.Thinking = &p.Text
	case redactedBlock:
		s.Thinking = nil
	default:
		return json.RawMessage(p.Opaque.Data)
	}
	if s.Type == thinkingBlock && s.Signature == "" || s.Type == redactedBlock && s.Data == "" {
		return nil
	}
	return &s
}
