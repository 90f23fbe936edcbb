package wire

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// Interactions is the form of Gemini's Interactions: a list of steps, of which outputs, thoughts and function calls are
// read. Steps of the provider's own tools are skipped. Its first version had the contents of an output in place of a
// step.
type Interactions struct{}

type interaction struct {
	ID      loose             `json:"id"`
	Model   loose             `json:"model"`
	Status  loose             `json:"status"`
	Steps   []interactionStep `json:"steps"`
	Outputs []interactionStep `json:"outputs"`
	Errors  []json.RawMessage `json:"errors"`
	Error   json.RawMessage   `json:"error"`
	Usage   *interactionUsage `json:"usage"`
}

type interactionStep struct {
	Type        string            `json:"type"`
	Text        loose             `json:"text"`
	Content     []interactionText `json:"content"` // of an output
	Annotations json.RawMessage   `json:"annotations"`
	Summary     []interactionText `json:"summary"` // of a thought
	Signature   loose             `json:"signature"`
	ID          loose             `json:"id"`
	Name        loose             `json:"name"`
	Args        json.RawMessage   `json:"arguments"`
	interactionMedia
}

type interactionText struct {
	Type        string          `json:"type"`
	Text        loose           `json:"text"`
	Annotations json.RawMessage `json:"annotations"`
	interactionMedia
}

// interactionMedia is a picture or a sound.
type interactionMedia struct {
	MIME loose `json:"mime_type"`
	Data loose `json:"data"` // base64
}

// interactionUsage is a [geminiUsage] with other names.
type interactionUsage struct {
	In       count `json:"total_input_tokens"`
	ToolUse  count `json:"total_tool_use_tokens"`
	Cached   count `json:"total_cached_tokens"`
	Out      count `json:"total_output_tokens"`
	Thoughts count `json:"total_thought_tokens"`
	Total    count `json:"total_tokens"`
}

func (*Interactions) document(data []byte, a *answer) error {
	var r interaction
	if err := json.Unmarshal(data, &r); err != nil {
		return wrongForm("interaction", err)
	}
	a.steps(&r)
	a.interactionEnd(&r)
	return nil
}

func (*Interactions) event(data []byte, a *answer) error {
	var e struct {
		Type        string           `json:"event_type"`
		Index       int              `json:"index"`
		Interaction *interaction     `json:"interaction"`
		Step        *interactionStep `json:"step"`
		Content     *interactionStep `json:"content"`
		Delta       struct {
			Type        string          `json:"type"`
			Text        loose           `json:"text"`
			Content     interactionText `json:"content"`
			Signature   loose           `json:"signature"`
			ID          loose           `json:"id"`
			Name        loose           `json:"name"`
			Args        json.RawMessage `json:"arguments"`
			Annotations json.RawMessage `json:"annotations"`
			interactionMedia
		} `json:"delta"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return wrongForm("interaction's event", err)
	}
	if e.Step == nil {
		e.Step = e.Content
	}
	if e.Interaction != nil {
		a.identify(e.Interaction.ID, e.Interaction.Model)
	}
	switch kind, what, _ := strings.Cut(e.Type, "."); {
	case kind == "interaction" && strings.HasPrefix(what, "complete"):
		if e.Interaction != nil {
			if a.empty() { // a server that sends no pieces
				a.steps(e.Interaction)
			}
			a.interactionEnd(e.Interaction)
		}
		a.done()
	case what == "start" && e.Step != nil:
		a.open[e.Index] = a.step(e.Step)
	case what == "delta":
		o := a.open[e.Index]
		switch {
		case o == nil:
		case o.call != nil:
			o.call.id, o.call.name = cmp.Or(string(e.Delta.ID), o.call.id), cmp.Or(string(e.Delta.Name), o.call.name)
			a.growArgs(o, arguments(e.Delta.Args))
		case e.Delta.Signature != "" && o.kind == model.PartReasoning:
			o.signature.WriteString(string(e.Delta.Signature))
		case e.Delta.Type == "text", e.Delta.Type == "thought_summary":
			a.grow(o.block, string(e.Delta.Text+e.Delta.Content.Text))
			a.cite(e.Delta.Annotations, o.block)
		case a.interactionMedia(e.Delta.Type, &e.Delta.interactionMedia):
			o.block = a.addBlock(model.PartText) // of the following pieces
		case strings.HasPrefix(e.Delta.Type, "text_annotation"):
			a.cite(e.Delta.Annotations, o.block)
		}
	case what == "stop":
		a.seal(a.open[e.Index], geminiFamily)
		delete(a.open, e.Index)
	}
	return nil
}

// steps takes whole steps.
func (a *answer) steps(r *interaction) {
	for _, list := range [][]interactionStep{r.Steps, r.Outputs} {
		for i := range list {
			a.seal(a.step(&list[i]), geminiFamily)
		}
	}
}

// step takes a step, or its content when it begins; nil if it is not the model's.
func (a *answer) step(s *interactionStep) *openBlock {
	switch s.Type {
	case "model_output", "text":
		o := &openBlock{block: a.addBlock(model.PartText)}
		a.grow(o.block, string(s.Text))
		a.cite(s.Annotations, o.block)
		for i := range s.Content {
			t := &s.Content[i]
			if a.interactionMedia(t.Type, &t.interactionMedia) {
				o.block = a.addBlock(model.PartText)
			}
			a.grow(o.block, string(t.Text))
			a.cite(t.Annotations, o.block)
		}
		return o
	case "image", "audio":
		a.interactionMedia(s.Type, &s.interactionMedia)
	case "thought":
		o := &openBlock{block: a.addBlock(model.PartReasoning)}
		for _, t := range s.Summary {
			a.grow(o.block, string(t.Text))
		}
		o.signature.WriteString(string(s.Signature))
		return o
	case "function_call":
		o := &openBlock{block: a.wholeCallBlock(s.ID, s.Name, ""), input: s.Args}
		o.signature.WriteString(string(s.Signature))
		return o
	}
	return nil
}

// interactionMedia takes a picture or a sound, and reports whether there is one.
func (a *answer) interactionMedia(kind string, m *interactionMedia) bool {
	switch {
	case m.Data == "":
		return false
	case kind == "image":
		a.picture(cmp.Or(string(m.MIME), "image/png"), string(m.Data))
	case kind == "audio":
		a.spoken(string(m.MIME), string(m.Data))
	default:
		return false
	}
	return true
}

func (a *answer) interactionEnd(r *interaction) {
	a.identify(r.ID, r.Model)
	if r.Usage != nil {
		a.usage = (*geminiUsage)(r.Usage).normal()
	}
	a.end(string(r.Status))
	switch {
	case len(r.Errors) > 0:
		a.failedBy(r.Errors[0])
	case !empty(r.Error):
		a.failedBy(r.Error)
	case r.Status == "failed" || r.Status == "cancelled":
		a.brokeOff(string(r.Status), "")
	}
}
