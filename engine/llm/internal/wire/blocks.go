package wire

import (
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// block is one part of an answer in the form of a list of parts. The order of the parts, and the state that each
// carries, are kept for sending them back.
type block struct {
	kind   model.PartKind
	text   strings.Builder
	call   *callPieces
	image  *model.Image
	sound  *sound
	opaque *model.Opaque
}

// openBlock is a block whose pieces are arriving.
type openBlock struct {
	*block
	signature strings.Builder // of a thought or call
	input     json.RawMessage // of a call, used if no piece of it follows
	state     *Body           // of a block that does not appear in the answer, extended by its pieces
	grows     string          // the member of state that they extend
	added     strings.Builder
}

// addBlock begins a part: text or reasoning that is still empty.
func (a *answer) addBlock(kind model.PartKind) *block {
	b := &block{kind: kind}
	a.blocks = append(a.blocks, b)
	a.part()
	return b
}

// addCallBlock begins a part that is a call.
func (a *answer) addCallBlock(c *callPieces) *block {
	b := a.addBlock(model.PartCall)
	b.call = c
	return b
}

// wholeCallBlock takes a call that arrives in one piece, or its beginning.
func (a *answer) wholeCallBlock(id, name loose, args string) *block {
	return a.addCallBlock(a.addWholeCall(string(id), string(name), args))
}

// grow adds text to a part, and passes it to the sink.
func (a *answer) grow(b *block, s string) {
	b.text.WriteString(s)
	if b.kind == model.PartReasoning {
		a.addReasoning(s)
		return
	}
	a.addText(s)
}

// growArgs adds a piece to the arguments of a call.
func (a *answer) growArgs(o *openBlock, piece string) {
	if piece == "" {
		return
	}
	o.input = nil
	o.call.args.WriteString(piece)
	a.sink(engine.Token{Call: &engine.CallDelta{Index: o.call.index, Args: piece}})
}

// seal ends a block. A call without pieces gets its initial arguments, and a signature is kept for the family that
// signed it.
func (a *answer) seal(o *openBlock, family string) {
	if o == nil {
		return
	}
	if o.call != nil {
		a.growArgs(o, arguments(o.input))
	}
	if o.signature.Len() > 0 {
		o.opaque = &model.Opaque{Provider: family, Data: o.signature.String()}
	}
}

// lastBlock returns the part that text of a kind continues: the last one, unless it is of another kind or already has
// state attached.
func (a *answer) lastBlock(kind model.PartKind) *block {
	if n := len(a.blocks); n > 0 && a.blocks[n-1].kind == kind && a.blocks[n-1].opaque == nil {
		return a.blocks[n-1]
	}
	return a.addBlock(kind)
}

// parts returns the blocks as parts of a message, without empty ones.
func (a *answer) parts() []model.Part {
	var parts []model.Part
	for _, b := range a.blocks {
		p := model.Part{Kind: b.kind, Text: b.text.String(), Image: b.image, Audio: b.sound.made(), Opaque: b.opaque}
		if b.call != nil {
			p.Call = b.call.made()
		}
		if p.Call != nil || p.Image != nil || p.Audio != nil || p.Text != "" || p.Opaque != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// opaque returns state for the family that it came from, nil if it cannot be encoded.
func opaque(family string, state any) *model.Opaque {
	data, err := encode(state)
	if err != nil {
		return nil
	}
	return &model.Opaque{Provider: family, Data: string(data)}
}
