package wire

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/agentscript/agentscript/engine/model"
)

// Converse is the form of Amazon Bedrock's Converse and ConverseStream, and of Amazon's own models at any address: a
// list of blocks. Generated pictures are skipped.
type Converse struct{}

// bedrockFamily is the family that signatures of thoughts are sent back to.
const bedrockFamily = "bedrock"

type converseBlock struct {
	Text      *loose             `json:"text"`
	Call      *converseCall      `json:"toolUse"`
	Reasoning *converseReasoning `json:"reasoningContent"`
	Cited     *struct {          // text with its sources
		Content []struct {
			Text loose `json:"text"`
		} `json:"content"`
		Citations json.RawMessage `json:"citations"`
	} `json:"citationsContent"`
	Citation json.RawMessage `json:"citation"` // of a stream, after its text
}

// converseCall is a call. Its input is an object, in a stream text in pieces.
type converseCall struct {
	Type  string          `json:"type"` // server_tool_use for a call that the provider runs
	ID    loose           `json:"toolUseId"`
	Name  loose           `json:"name"`
	Input json.RawMessage `json:"input"`
}

// converseReasoning is a thought. A stream sends it without the surrounding reasoningText.
type converseReasoning struct {
	Whole struct {
		Text      loose `json:"text"`
		Signature loose `json:"signature"`
	} `json:"reasoningText"`
	Text      loose `json:"text"`
	Signature loose `json:"signature"`
	Redacted  loose `json:"redactedContent"`
}

type converseUsage struct {
	In         count `json:"inputTokens"`
	Out        count `json:"outputTokens"`
	CacheRead  count `json:"cacheReadInputTokens"`
	CacheWrite count `json:"cacheWriteInputTokens"`
	Reasoning  count `json:"reasoningTokens"`
	Details    struct {
		Reasoning count `json:"reasoningTokens"`
	} `json:"outputTokensDetails"`
}

func (*Converse) document(data []byte, a *answer) error {
	var r struct {
		Output struct {
			Message struct {
				Content []converseBlock `json:"content"`
			} `json:"message"`
		} `json:"output"`
		Stop  loose          `json:"stopReason"`
		Usage *converseUsage `json:"usage"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return wrongForm("converse answer", err)
	}
	for i := range r.Output.Message.Content {
		a.seal(a.conversePiece(nil, &r.Output.Message.Content[i]), bedrockFamily)
	}
	a.converseUsage(r.Usage)
	a.end(string(r.Stop))
	return nil
}

// event takes a named event. A stream marks the beginning only of blocks that are calls.
func (*Converse) event(data []byte, a *answer) error {
	var e struct {
		Begin *struct {
			Index int           `json:"contentBlockIndex"`
			Start converseBlock `json:"start"`
		} `json:"contentBlockStart"`
		Delta *struct {
			Index int           `json:"contentBlockIndex"`
			Delta converseBlock `json:"delta"`
		} `json:"contentBlockDelta"`
		Close *struct {
			Index int `json:"contentBlockIndex"`
		} `json:"contentBlockStop"`
		Stop *struct {
			Reason loose `json:"stopReason"`
		} `json:"messageStop"`
		Metadata *struct {
			Usage *converseUsage `json:"usage"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return wrongForm("converse event", err)
	}
	switch {
	case e.Begin != nil:
		a.open[e.Begin.Index] = a.conversePiece(nil, &e.Begin.Start)
	case e.Delta != nil:
		a.open[e.Delta.Index] = a.conversePiece(a.open[e.Delta.Index], &e.Delta.Delta)
	case e.Close != nil:
		a.seal(a.open[e.Close.Index], bedrockFamily)
		delete(a.open, e.Close.Index)
	case e.Stop != nil:
		a.end(string(e.Stop.Reason))
		for _, index := range slices.Sorted(maps.Keys(a.open)) {
			a.seal(a.open[index], bedrockFamily)
		}
		a.ended = true // the usage may follow
	case e.Metadata != nil:
		a.converseUsage(e.Metadata.Usage)
	}
	return nil
}

// conversePiece adds a piece to a block, or begins a block with it.
func (a *answer) conversePiece(o *openBlock, p *converseBlock) *openBlock {
	switch {
	case p.Call != nil && (p.Call.Type == "server_tool_use" || o == nil && p.Call.Name == ""):
		return nil // a call that the provider runs, or a piece of one
	case p.Call != nil && (o == nil || o.call == nil):
		return &openBlock{block: a.wholeCallBlock(p.Call.ID, p.Call.Name, arguments(p.Call.Input))}
	case p.Call != nil:
		a.growArgs(o, arguments(p.Call.Input))
	case p.Text != nil:
		o = a.continued(o, model.PartText)
		a.grow(o.block, string(*p.Text))
	case p.Cited != nil:
		o = a.continued(o, model.PartText)
		for i := range p.Cited.Content {
			a.grow(o.block, string(p.Cited.Content[i].Text))
		}
		a.citeBlock(p.Cited.Citations, o.block)
	case p.Citation != nil:
		o = a.continued(o, model.PartText)
		a.citeBlock(p.Citation, o.block)
	case p.Reasoning != nil:
		o = a.continued(o, model.PartReasoning)
		r := p.Reasoning
		a.grow(o.block, string(r.Whole.Text+r.Text))
		o.signature.WriteString(string(r.Whole.Signature + r.Signature + r.Redacted))
	}
	return o
}

// continued returns the open block if it has this kind, or else a new one.
func (a *answer) continued(o *openBlock, kind model.PartKind) *openBlock {
	if o != nil && o.kind == kind {
		return o
	}
	return &openBlock{block: a.addBlock(kind)}
}

// converseUsage adds cache reads and writes, which the provider counts separately, to the input.
func (a *answer) converseUsage(u *converseUsage) {
	if u == nil {
		return
	}
	if n := tokens(u.In, u.Out, max(u.Reasoning, u.Details.Reasoning), u.CacheRead, u.CacheWrite); n != nil {
		n.In += n.CacheRead + n.CacheWrite
		a.usage = n
	}
}
