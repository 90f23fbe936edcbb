package wire

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// cutPrompt is the failure of an answer to a part of the prompt alone. Some servers cut a prompt
// that is longer than their window and say nothing; but they report how many tokens they read.
// Tokenizers make at least one token of a word, so that far fewer tokens than words prove it.
// The reverse does not hold: a prompt that is only a little too long is not detected.
func (p *Plan) cutPrompt(u model.Usage) *failure {
	if d, ok := p.Dialect.(*OpenAI); !ok || !d.MayCut || u.Estimated || u.In == 0 {
		return nil
	}
	const slack = 500 // of servers that count the last message alone, or not the system's
	size, words, texts := 0, 0, said(p.Request)
	for _, text := range texts {
		size += len(text)
	}
	if size/2 <= 2*u.In+slack { // a word and its blank are two bytes at least
		return nil
	}
	for _, text := range texts {
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

// said are the texts of a request, without its reasoning, which is not always sent back.
func said(r *model.Request) []string {
	texts := []string{r.System}
	for i := range r.Messages {
		for j := range r.Messages[i].Parts {
			switch part := &r.Messages[i].Parts[j]; {
			case part.Kind == model.PartReasoning:
			case part.Result != nil:
				texts = append(texts, part.Result.Text)
			default:
				texts = append(texts, part.Text)
			}
		}
	}
	return texts
}
