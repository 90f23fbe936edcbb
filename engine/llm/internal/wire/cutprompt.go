package wire

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// cutPrompt is the failure of an answer to a part of the prompt alone. Some servers cut a prompt
// that is longer than their window and say nothing; what they give away is how many tokens they
// read. Tokenizers make at least one token of a word, so that far fewer tokens than words prove
// it. The reverse does not hold: a prompt that is but a little too long is not found out.
func (p *Plan) cutPrompt(u model.Usage) *failure {
	if d, ok := p.Dialect.(*OpenAI); !ok || !d.MayCut || u.Estimated || u.In == 0 {
		return nil
	}
	const slack = 500 // of servers that count the last message alone, or not the system's
	size, words := 0, 0
	for text := range said(p.Request) {
		size += len(text)
	}
	if size/2 <= 2*u.In+slack { // a word and its blank are two bytes at least
		return nil
	}
	for text := range said(p.Request) {
		for range strings.FieldsSeq(text) {
			words++
		}
	}
	if words <= 2*u.In+slack {
		return nil
	}
	return &failure{
		kind: engine.KindContextLength, help: "send less input, or give the server a larger window",
		what: fmt.Sprintf("the server cut the prompt in silence: it read %d tokens of %d words", u.In, words),
	}
}

// said yields the texts of a request.
func said(r *model.Request) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !yield(r.System) {
			return
		}
		for i := range r.Messages {
			for j := range r.Messages[i].Parts {
				part := &r.Messages[i].Parts[j]
				text := part.Text
				if part.Kind == model.PartReasoning {
					continue // which is not always sent back
				}
				if part.Result != nil {
					text = part.Result.Text
				}
				if !yield(text) {
					return
				}
			}
		}
	}
}
