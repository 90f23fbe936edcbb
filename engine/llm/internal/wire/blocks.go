package wire

import (
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// block is one part of an answer whose provider gives a list of parts: their order, and what
// each carries to be sent back, are kept.
type block struct {
	kind   model.PartKind
	text   strings.Builder
	call   *callPieces
	opaque *model.Opaque
}

// addBlock begins a part: text or reasoning that is still empty.
func (a *answer) addBlock(kind model.PartKind) *block {
	b := &block{kind: kind}
	a.blocks = append(a.blocks, b)
	return b
}

// addCallBlock begins a part that is a call.
func (a *answer) addCallBlock(c *callPieces) *block {
	b := a.addBlock(model.PartCall)
	b.call = c
	return b
}

// grow adds text to a part, and to what the sink hears.
func (a *answer) grow(b *block, s string) {
	b.text.WriteString(s)
	if b.kind == model.PartReasoning {
		a.addReasoning(s)
		return
	}
	a.addText(s)
}

// lastBlock is the part that text of a kind continues: the last one, unless it is of another
// kind or sealed by what it carries.
func (a *answer) lastBlock(kind model.PartKind) *block {
	if n := len(a.blocks); n > 0 && a.blocks[n-1].kind == kind && a.blocks[n-1].opaque == nil {
		return a.blocks[n-1]
	}
	return a.addBlock(kind)
}

// parts are the blocks as parts of a message. Those that hold nothing are left out.
func (a *answer) parts() []model.Part {
	var parts []model.Part
	for _, b := range a.blocks {
		p := model.Part{Kind: b.kind, Text: b.text.String(), Opaque: b.opaque}
		if b.call != nil {
			p.Call = b.call.made()
		}
		if p.Call != nil || p.Text != "" || p.Opaque != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

func (c *callPieces) made() *model.ToolCall {
	return &model.ToolCall{ID: c.id, Name: c.name, Args: c.args.String()}
}
