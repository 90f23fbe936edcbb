package wire

import (
	"encoding/json"

	"github.com/agentscript/agentscript/engine"
)

// Converse is the form of Amazon Bedrock's Converse, whole. Its streams are no text and are not
// read.
type Converse struct{}

var _ Form = (*Converse)(nil)

func (*Converse) lines() bool { return false }

func (c *Converse) event(data []byte, a *answer) error { return c.document(data, a) }

func (*Converse) document(data []byte, a *answer) error {
	var r struct {
		Output struct {
			Message struct {
				Content []struct {
					Text *loose `json:"text"`
					Call *struct {
						ID    loose           `json:"toolUseId"`
						Name  loose           `json:"name"`
						Input json.RawMessage `json:"input"`
					} `json:"toolUse"`
					Reasoning *struct {
						Text struct {
							Text      loose `json:"text"`
							Signature loose `json:"signature"`
						} `json:"reasoningText"`
						Redacted loose `json:"redactedContent"`
					} `json:"reasoningContent"`
				} `json:"content"`
			} `json:"message"`
		} `json:"output"`
		Stop  loose `json:"stopReason"`
		Usage *struct {
			In         count `json:"inputTokens"`
			Out        count `json:"outputTokens"`
			CacheRead  count `json:"cacheReadInputTokens"`
			CacheWrite count `json:"cacheWriteInputTokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return wrongForm("converse answer", err)
	}
	for _, part := range r.Output.Message.Content {
		switch {
		case part.Text != nil:
			a.grow(a.addBlock(engine.PartText), string(*part.Text))
		case part.Call != nil:
			a.addCallBlock(a.addWholeCall(string(part.Call.ID), string(part.Call.Name), arguments(part.Call.Input)))
		case part.Reasoning != nil:
			b := a.addBlock(engine.PartReasoning)
			a.grow(b, string(part.Reasoning.Text.Text))
			if state := part.Reasoning.Text.Signature + part.Reasoning.Redacted; state != "" {
				b.opaque = &engine.Opaque{Provider: "bedrock", Data: string(state)}
			}
		}
	}
	if u := r.Usage; u != nil && u.In != noCount && u.Out != noCount {
		read, written := int(max(u.CacheRead, 0)), int(max(u.CacheWrite, 0))
		a.usage = &engine.Usage{In: int(u.In) + read + written, Out: int(u.Out), CacheRead: read, CacheWrite: written}
	}
	a.end(string(r.Stop))
	a.ended = true
	return nil
}
