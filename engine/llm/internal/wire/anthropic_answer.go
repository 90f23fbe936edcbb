package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// claudeState is the part of an answer that only this dialect collects.
type claudeState struct {
	noUsage bool   // a count was invalid: later ones do not correct it
	refusal string // why the model refused, in the provider's words
}

// claudeMessage is a whole answer, and the first event of a stream.
type claudeMessageAnswer struct {
	Type    string          `json:"type"`
	ID      loose           `json:"id"`
	Model   loose           `json:"model"`
	Content json.RawMessage `json:"content"`
	claudeStop
	Usage *claudeUsage `json:"usage"`
}

type claudeStop struct {
	Reason  loose           `json:"stop_reason"`
	Details json.RawMessage `json:"stop_details"`
}

// claudeContent is a block of an answer. Only a few types are read. The calls and results of the provider's own tools,
// its compactions and unknown types do not appear in an answer: they are state, which is sent back unchanged.
type claudeContent struct {
	Type      string          `json:"type"`
	Text      loose           `json:"text"`
	Thinking  loose           `json:"thinking"`
	Signature loose           `json:"signature"`
	Data      loose           `json:"data"`
	ID        loose           `json:"id"`
	Name      loose           `json:"name"`
	Input     json.RawMessage `json:"input"`
	Citations json.RawMessage `json:"citations"`

	raw json.RawMessage
}

func claudeContentOf(raw json.RawMessage) *claudeContent {
	c := &claudeContent{raw: raw}
	if json.Unmarshal(raw, c) != nil {
		return &claudeContent{}
	}
	return c
}

type claudeEvent struct {
	Type    string              `json:"type"`
	Index   int                 `json:"index"`
	Message claudeMessageAnswer `json:"message"`
	Block   json.RawMessage     `json:"content_block"`
	Delta   struct {
		Type      string          `json:"type"`
		Text      loose           `json:"text"`
		Thinking  loose           `json:"thinking"`
		Signature loose           `json:"signature"`
		Partial   loose           `json:"partial_json"`
		Content   loose           `json:"content"`
		Citation  json.RawMessage `json:"citation"`
		claudeStop
	} `json:"delta"`
	Usage *claudeUsage `json:"usage"`
}

type claudeUsage struct {
	In      *count    `json:"input_tokens"`
	Out     *count    `json:"output_tokens"`
	Written *count    `json:"cache_creation_input_tokens"`
	Read    *count    `json:"cache_read_input_tokens"`
	Lives   *struct { // cache writes by lifetime
		Minutes count `json:"ephemeral_5m_input_tokens"`
		Hour    count `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Details struct {
		Thinking  *count `json:"thinking_tokens"`
		Reasoning *count `json:"reasoning_tokens"` // of other servers that speak this dialect
	} `json:"output_tokens_details"`
}

func (d *Anthropic) document(data []byte, a *answer) error {
	var m claudeMessageAnswer
	if err := json.Unmarshal(data, &m); err != nil {
		return wrongForm("message", err)
	}
	if m.Content == nil {
		return &malformed{"the answer does not have the form of a message: it has no content"}
	}
	a.claudeMessage(&m)
	a.ended = true
	return nil
}

func (d *Anthropic) event(data []byte, a *answer) error {
	var e claudeEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return wrongForm("message's event", err)
	}
	switch e.Type {
	case "message": // a server that was asked for a stream may send everything in one event
		return d.document(data, a)
	case "message_start":
		a.claudeMessage(&e.Message)
	case "content_block_start":
		a.claudeBegin(e.Index, claudeContentOf(e.Block))
	case "content_block_delta":
		a.claudePiece(&e)
	case "content_block_stop":
		a.claudeClose(a.open[e.Index])
	case "message_delta":
		a.claudeStop(&e.Delta.claudeStop)
		a.claudeUsage(e.Usage)
	case "message_stop":
		for _, index := range slices.Sorted(maps.Keys(a.open)) {
			a.claudeClose(a.open[index])
		}
		a.done()
	}
	return nil
}

func (a *answer) claudeMessage(m *claudeMessageAnswer) {
	a.identify(m.ID, m.Model)
	if len(m.Content) > 0 && m.Content[0] == '"' {
		a.grow(a.addBlock(model.PartText), text(m.Content))
	}
	var list []json.RawMessage
	if json.Unmarshal(m.Content, &list) == nil {
		for _, raw := range list {
			a.claudeWhole(claudeContentOf(raw))
		}
	}
	a.claudeStop(&m.claudeStop)
	a.claudeUsage(m.Usage)
}

// claudeWhole takes a block that arrives in one piece.
func (a *answer) claudeWhole(c *claudeContent) {
	if c.Type == "tool_use" {
		a.wholeCallBlock(c.ID, c.Name, arguments(c.Input))
		return
	}
	a.claudeClose(a.claudeText(c))
}

// claudeText begins a part of text, thoughts or state with the content of its first piece.
func (a *answer) claudeText(c *claudeContent) *openBlock {
	o := &openBlock{}
	switch c.Type {
	case "text":
		o.block = a.addBlock(model.PartText)
		a.grow(o.block, string(c.Text))
		a.citeBlock(c.Citations, o.block)
	case thinkingBlock:
		o.block = a.addBlock(model.PartReasoning)
		a.grow(o.block, string(c.Thinking+c.Text))
		o.signature.WriteString(string(c.Signature))
	case redactedBlock:
		o.block = a.addBlock(model.PartReasoning)
		if c.Data != "" {
			o.opaque = opaque(claudeFamily, claudeSeal{Type: redactedBlock, Data: string(c.Data)})
		}
	default:
		o.block = a.addBlock(model.PartReasoning)
		if state, err := ParseBody(c.raw); err == nil && c.Type != "" {
			o.state = state
		}
	}
	return o
}

func (a *answer) claudeBegin(index int, c *claudeContent) {
	a.claudeClose(a.open[index])
	if c.Type == "tool_use" {
		a.open[index] = &openBlock{block: a.wholeCallBlock(c.ID, c.Name, ""), input: bytes.Clone(c.Input)}
		return
	}
	a.open[index] = a.claudeText(c)
}

func (a *answer) claudePiece(e *claudeEvent) {
	d := &e.Delta
	if a.open[e.Index] == nil {
		// If a server omits the start of a block, the type of its pieces shows its kind.
		a.claudeBegin(e.Index, &claudeContent{Type: strings.TrimSuffix(d.Type, "_delta")})
	}
	o := a.open[e.Index]
	switch {
	case o.state != nil && d.Type == "input_json_delta":
		o.grows = "input"
		o.added.WriteString(string(d.Partial))
	case o.state != nil && d.Content != "":
		o.grows = "content"
		o.added.WriteString(string(d.Content))
	case o.state != nil:
	case d.Type == "text_delta" && o.kind == model.PartText:
		a.grow(o.block, string(d.Text))
	case d.Type == "citations_delta" && o.kind == model.PartText:
		a.citeBlock(d.Citation, o.block)
	case d.Type == "thinking_delta" && o.kind == model.PartReasoning:
		a.grow(o.block, string(d.Thinking))
	case d.Type == "signature_delta" && o.kind == model.PartReasoning:
		o.signature.WriteString(string(d.Signature))
	case d.Type == "input_json_delta" && o.call != nil:
		a.growArgs(o, string(d.Partial))
	}
}

// claudeClose ends a block. Its signature is kept as the block without its text.
func (a *answer) claudeClose(o *openBlock) {
	switch a.seal(o, claudeFamily); {
	case o == nil:
	case o.signature.Len() > 0:
		o.opaque = opaque(claudeFamily, claudeSeal{Type: thinkingBlock, Signature: o.signature.String()})
	case o.state != nil:
		o.keep()
	}
}

// keep stores a state block, with its pieces, so that it is sent back.
func (o *openBlock) keep() {
	added := o.added.String()
	switch {
	case o.grows == "input" && json.Valid([]byte(added)):
		o.state.SetRaw("input", json.RawMessage(added))
	case o.grows == "content":
		o.state.Set("content", added)
	}
	o.opaque = opaque(claudeFamily, o.state)
}

func (a *answer) claudeStop(s *claudeStop) {
	if s.Reason != "" {
		a.finish = string(s.Reason)
	}
	var details struct {
		Explanation loose `json:"explanation"`
	}
	if len(s.Details) > 0 && json.Unmarshal(s.Details, &details) == nil && details.Explanation != "" {
		a.claude.refusal = string(details.Explanation)
	}
}

// claudeUsage takes counts, which replace earlier ones. The provider counts cache reads and writes separately from
// input; here they are input.
func (a *answer) claudeUsage(u *claudeUsage) {
	if u == nil || a.claude.noUsage {
		return
	}
	if w := u.Lives; u.Written == nil && w != nil {
		written := max(w.Minutes, 0) + max(w.Hour, 0)
		u.Written = &written
	}
	if u.Details.Thinking == nil {
		u.Details.Thinking = u.Details.Reasoning
	}
	var n model.Usage
	if a.usage != nil {
		n = *a.usage
	}
	in := n.In - n.CacheRead - n.CacheWrite
	for _, c := range []struct {
		to   *int
		from *count
	}{{&in, u.In}, {&n.Out, u.Out}, {&n.CacheRead, u.Read}, {&n.CacheWrite, u.Written}, {&n.Reasoning, u.Details.Thinking}} {
		switch {
		case c.from == nil || *c.from == 0 && *c.to > 0: // some servers count the input only at the beginning
		case *c.from == noCount:
			a.usage, a.claude.noUsage = nil, true
			return
		default:
			*c.to = int(*c.from)
		}
	}
	n.In = in + n.CacheRead + n.CacheWrite
	if n.In > model.MaxUsage {
		a.usage, a.claude.noUsage = nil, true
		return
	}
	a.usage = &n
}
