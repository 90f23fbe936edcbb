package wire

import "encoding/json"

// Cohere is the form of Cohere's chat. A model's plan for its tool calls is its reasoning.
type Cohere struct{}

type cohereContent struct {
	Type     string `json:"type"`
	Text     loose  `json:"text"`
	Thinking loose  `json:"thinking"`
}

type cohereUsage struct {
	Tokens cohereTokens `json:"tokens"`
	Billed cohereTokens `json:"billed_units"`
	Cached count        `json:"cached_tokens"`
}

type cohereTokens struct {
	In  *count `json:"input_tokens"`
	Out count  `json:"output_tokens"`
}

func (*Cohere) document(data []byte, a *answer) error {
	var r struct {
		ID      loose `json:"id"`
		Message struct {
			Content   []cohereContent `json:"content"`
			Plan      loose           `json:"tool_plan"`
			Calls     []callPiece     `json:"tool_calls"`
			Citations json.RawMessage `json:"citations"`
		} `json:"message"`
		Finish loose        `json:"finish_reason"`
		Usage  *cohereUsage `json:"usage"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return wrongForm("chat of Cohere", err)
	}
	a.id = string(r.ID)
	a.addReasoning(string(r.Message.Plan))
	for _, c := range r.Message.Content {
		a.addReasoning(string(c.Thinking))
		a.addText(string(c.Text))
	}
	for i := range r.Message.Calls {
		name, args := r.Message.Calls[i].named()
		a.addWholeCall(string(r.Message.Calls[i].ID), name, args)
	}
	a.cohereCites(r.Message.Citations)
	a.cohereEnd(string(r.Finish), r.Usage)
	return nil
}

func (*Cohere) event(data []byte, a *answer) error {
	var e struct {
		Type  string `json:"type"`
		ID    loose  `json:"id"`
		Index *int   `json:"index"`
		Delta struct {
			Message struct {
				Content  json.RawMessage `json:"content"`
				Plan     loose           `json:"tool_plan"`
				Call     json.RawMessage `json:"tool_calls"`
				Citation json.RawMessage `json:"citations"`
			} `json:"message"`
			Finish loose        `json:"finish_reason"`
			Usage  *cohereUsage `json:"usage"`
			Error  loose        `json:"error"`
		} `json:"delta"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return wrongForm("chat event of Cohere", err)
	}
	switch e.Type {
	case "message-start":
		a.id = string(e.ID)
	case "content-start", "content-delta":
		var c cohereContent
		if json.Unmarshal(e.Delta.Message.Content, &c) == nil {
			a.addReasoning(string(c.Thinking))
			a.addText(string(c.Text))
		}
	case "tool-plan-delta":
		a.addReasoning(string(e.Delta.Message.Plan))
	case "tool-call-start", "tool-call-delta":
		var c callPiece
		if json.Unmarshal(e.Delta.Message.Call, &c) == nil {
			name, args := c.named()
			a.addCall(e.Index, string(c.ID), name, args)
		}
	case "citation-start":
		a.cohereCites(e.Delta.Message.Citation)
	case "message-end":
		if e.Delta.Error != "" {
			a.brokeOff("", quote(a.keys.String(string(e.Delta.Error))))
		}
		a.cohereEnd(string(e.Delta.Finish), e.Delta.Usage)
		a.done()
	}
	return nil
}

// cohereCites stores a list of citations, or one: words of the answer and their sources, which are documents and tool
// results.
func (a *answer) cohereCites(raw json.RawMessage) {
	type citation struct {
		Text    loose `json:"text"`
		Sources []struct {
			ID       loose  `json:"id"`
			Document citing `json:"document"`
		} `json:"sources"`
	}
	if empty(raw) {
		return
	}
	list := make([]citation, 1)
	if raw[0] == '[' {
		_ = json.Unmarshal(raw, &list) // another form contains no citation
	} else {
		_ = json.Unmarshal(raw, &list[0])
	}
	for _, c := range list {
		for i := range c.Sources {
			source := c.Sources[i].Document.citation()
			source.Source, source.Text = string(c.Sources[i].ID), string(c.Text)
			a.citeAs(cited{Citation: source})
		}
	}
}

// cohereEnd counts all tokens, if reported, not only the billed ones.
func (a *answer) cohereEnd(finish string, u *cohereUsage) {
	a.end(finish)
	if finish == "ERROR" && a.failure == nil {
		a.brokeOff(finish, "")
	}
	if u == nil {
		return
	}
	t := u.Tokens
	if t.In == nil {
		t = u.Billed
	}
	if t.In != nil {
		a.usage = tokens(*t.In, t.Out, 0, u.Cached, 0)
	}
}
