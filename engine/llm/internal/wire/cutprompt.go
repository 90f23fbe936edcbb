package wire

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// cutPrompt returns a failure if the server answered only a part of the prompt. Some servers silently cut a prompt that
// is longer than their window, but report how many tokens they read. Tokenizers make at least one token from a word, so
// far fewer tokens than words prove a cut. The reverse does not hold: a prompt that is only a little too long is not
// detected.
func (p *Plan) cutPrompt(u model.Usage) *failure {
	if d, ok := p.Dialect.(*OpenAI); !ok || !d.MayCut || u.Estimated || u.In == 0 {
		return nil
	}
	const slack = 500 // for servers that count only the last message, or not the system's
	size, words, texts := 0, 0, said(p.Request)
	for _, text := range texts {
		size += len(text)
	}
	if size/2 <= 2*u.In+slack { // a word and a blank take at least two bytes
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
		kind: engine.KindContextLength, help: "send less input, or configure a larger window on the server",
		what: fmt.Sprintf("the server cut the prompt in silence: it read %d tokens of %d words", u.In, words),
	}
}

// said returns the texts of a request, without reasoning, which is not always sent back.
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
