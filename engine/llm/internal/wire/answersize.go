package wire

import (
	"cmp"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// The minimum tokens of an answer in addition to its thoughts, and of thoughts without a set number: with fewer, a
// reasoning model is paid for nothing.
const (
	leastAnswer  = 16
	leastThought = 128
)

// longest lists the maximum tokens of an answer, thoughts included, by prefix of the model id. A longer prefix comes
// before a shorter one that it starts with. Sources: the providers' model tables, November 2026.
var longest = []struct {
	prefix string
	tokens int
	thinks bool
}{
	{"gpt-5-chat", 16_384, false}, {"gpt-5", 128_000, true}, {"gpt-4.1", 32_768, false}, {"gpt-4.5", 16_384, false},
	{"gpt-4o-2024-05-13", 4096, false}, {"gpt-4o", 16_384, false}, {"chatgpt-4o", 16_384, false},
	{"gpt-4-turbo", 4096, false}, {"gpt-4-1106", 4096, false}, {"gpt-4-0125", 4096, false}, {"gpt-4-vision", 4096, false},
	{"gpt-4-32k", 32_768, false}, {"gpt-4", 8192, false}, {"gpt-3.5", 4096, false},
	{"o1-mini", 65_536, true}, {"o1-preview", 32_768, true}, {"o1", 100_000, true}, {"o3", 100_000, true}, {"o4", 100_000, true},
	{"gemini-1", 8192, false}, {"gemini-2.0", 8192, false}, {"gemini-2.5-pro", 65_536, true}, {"gemini-2.5-flash-lite", 65_536, false},
	{"gemini-2.5", 65_536, true}, {"gemini-3", 65_536, true},
	{"deepseek-chat", 8192, false}, {"deepseek-reasoner", 65_536, true},
}

// answerMost returns whether a model thinks by default, and the maximum tokens of its answers, 0 if unknown.
func answerMost(id string) (thinks bool, most int) {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	if strings.Contains(id, "claude") {
		return false, ClaudeOf(id).MaxTokens
	}
	for _, m := range longest {
		if strings.HasPrefix(id, m.prefix) {
			return m.thinks, m.tokens
		}
	}
	return false, 0
}

// thoughts are the minimum tokens that make an effort of thinking worth paying for.
var thoughts = map[string]int{"none": 0, "minimal": 0, "low": leastThought, "": leastThought, "medium": 2 * leastThought, "high": 4 * leastThought, "xhigh": 8 * leastThought, "max": 8 * leastThought}

// AnswerSize returns the smallest limit of an answer that the provider accepts and that lets the model answer after its
// thoughts, and the maximum size of an answer; 0 is unknown.
func AnswerSize(d Dialect, id string, r *model.Request) (least, most int) {
	thinks, most := answerMost(id)
	switch d := d.(type) {
	case *Anthropic:
		c, err := claudeCallOf(&Plan{Model: id, Request: r})
		switch {
		case err != nil: // the call will fail with this error
			return 1, most
		case c.thinking != nil && c.thinking.Budget > 0:
			return c.thinking.Budget + leastAnswer, c.maxTokens
		case c.thinking != nil && c.thinking.Type == "adaptive":
			return thoughts[r.Params.Effort] + leastAnswer, c.maxTokens
		}
		return leastAnswer, c.maxTokens
	case *Gemini:
		t := geminiThinking(id, &r.Params)
		switch {
		case t != nil && t.Budget != nil && *t.Budget >= 0:
			return *t.Budget + leastAnswer, most
		case thinks:
			return cmp.Or(thoughts[r.Params.Effort], 1) + leastAnswer, most
		}
		return leastAnswer, most
	case *OpenAI:
		switch n := r.Params.ReasoningTokens; {
		case n != nil && *n == 0:
			return leastAnswer, most
		case n != nil && d.Thinking == ThinkReasoning:
			return max(*n, leastBudget) + leastAnswer, most
		case d.Thinking == ThinkReasoning && strings.Contains(id, "claude") && thoughts[r.Params.Effort] > 0 && r.Params.Effort != "":
			return leastBudget + leastAnswer, most // the budget that an effort becomes there
		case thinks || r.Params.Effort != "":
			return thoughts[r.Params.Effort] + leastAnswer, most
		}
		return leastAnswer, most
	}
	return 1, most
}
