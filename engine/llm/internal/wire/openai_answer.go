package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// completion is a chat completion, and a chunk of one, in all the shapes that the speakers
// of this dialect give it.
type completion struct {
	ID      loose            `json:"id"`
	Model   loose            `json:"model"`
	Choices []choice         `json:"choices"`
	Usage   *completionUsage `json:"usage"`
	Groq    struct {
		Usage *completionUsage `json:"usage"`
		Error loose            `json:"error"` // why a stream ends early
	} `json:"x_groq"`
}

type choice struct {
	Index   count             `json:"index"`
	Message completionMessage `json:"message"`
	Delta   completionMessage `json:"delta"`
	Finish  finishWord        `json:"finish_reason"`
	Native  loose             `json:"native_finish_reason"`
	Text    loose             `json:"text"`  // of servers that answer in the older form, by some beside the newer
	Error   json.RawMessage   `json:"error"` // OpenRouter's, of the provider behind it
}

// unfinished stands for the finish reason of a whole answer that says it has none: the server gave
// it up midway. Many servers leave the reason out, which means nothing.
const unfinished = "null"

// finishWord is a finish reason, or [unfinished].
type finishWord string

// UnmarshalJSON implements json.Unmarshaler.
func (f *finishWord) UnmarshalJSON(data []byte) error {
	var word loose
	err := word.UnmarshalJSON(data)
	if *f = finishWord(word); strings.TrimSpace(string(data)) == unfinished {
		*f = unfinished
	}
	return err
}

type completionMessage struct {
	Content   json.RawMessage `json:"content"` // a string or a list of pieces
	Refusal   loose           `json:"refusal"`
	Reasoning json.RawMessage `json:"reasoning"`
	Thoughts  loose           `json:"reasoning_content"`
	Thinking  loose           `json:"thinking"` // of servers that call it as Ollama does
	Audio     struct {
		Transcript loose `json:"transcript"`
	} `json:"audio"` // an answer that is spoken has no other text
	Details  json.RawMessage `json:"reasoning_details"`
	Calls    []callPiece     `json:"tool_calls"`
	Function *functionPiece  `json:"function_call"` // the older form of a call
}

type callPiece struct {
	Index    *int          `json:"index"`
	ID       loose         `json:"id"`
	Function functionPiece `json:"function"`
	Custom   *struct {     // a call of a tool that takes text
		Name  loose `json:"name"`
		Input loose `json:"input"`
	} `json:"custom"`
}

// named is what a piece of a call says of its tool and arguments.
func (p *callPiece) named() (name, args string) {
	if p.Custom != nil {
		return string(p.Custom.Name), string(p.Custom.Input)
	}
	return string(p.Function.Name), arguments(p.Function.Args)
}

type functionPiece struct {
	Name loose           `json:"name"`
	Args json.RawMessage `json:"arguments"` // JSON in a string, by some the object itself
}

type completionUsage struct {
	In      *count `json:"prompt_tokens"`
	Out     count  `json:"completion_tokens"`
	Total   count  `json:"total_tokens"`
	Details struct {
		Cached  count `json:"cached_tokens"`
		Written count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Spent struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit  count `json:"prompt_cache_hit_tokens"` // DeepSeek's name
	Cached    count `json:"cached_tokens"`           // Moonshot's
	NumCached count `json:"num_cached_tokens"`       // Mistral's
	Reasoning count `json:"reasoning_tokens"`        // Perplexity's
	Cost      cost  `json:"cost"`                    // OpenRouter's and Perplexity's: US dollars
}

func (d *OpenAI) document(data []byte, a *answer) error {
	c, err := parseCompletion(data)
	if err != nil {
		return err
	}
	if len(c.Choices) == 0 {
		return &malformed{"the answer holds no choice"}
	}
	a.completion(c, true)
	a.ended = true
	return nil
}

func (d *OpenAI) event(data []byte, a *answer) error {
	c, err := parseCompletion(data)
	if err != nil {
		return err
	}
	a.completion(c, false)
	return nil
}

func parseCompletion(data []byte) (*completion, error) {
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, wrongForm("chat completion", err)
	}
	return &c, nil
}

// wrongForm says which part of an answer has the wrong type.
func wrongForm(what string, err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return &malformed{fmt.Sprintf("the answer does not have the form of a %s: %s is a JSON %s", what, wrong.Field, wrong.Value)}
	}
	return &malformed{"the answer does not have the form of a " + what}
}

func (a *answer) completion(c *completion, whole bool) {
	if c.ID != "" {
		a.id = string(c.ID)
	}
	if c.Model != "" {
		a.model = string(c.Model)
	}
	for _, u := range []*completionUsage{c.Groq.Usage, c.Usage} {
		if u != nil && u.In != nil {
			a.usage = u.normal()
		}
	}
	document := whole
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index != 0 {
			continue // never asked for
		}
		m := &ch.Delta
		if whole || m.empty() && a.empty() {
			// A server that was asked for a stream may put all of the answer into one event;
			// one that repeats it at the end of a stream must not be heard twice.
			m, whole = &ch.Message, true
		}
		reasoning := string(m.Thoughts)
		if reasoning == "" {
			reasoning, _ = pieces(m.Reasoning)
		}
		if reasoning == "" {
			reasoning = string(m.Thinking)
		}
		if reasoning == "" {
			reasoning = thoughtsIn(m.Details)
		}
		a.addDetails(m.Details)
		content, thoughts := pieces(m.Content)
		a.addReasoning(reasoning + thoughts)
		if content == "" {
			content = string(ch.Text + m.Audio.Transcript)
		}
		a.addText(content)
		a.refusal.WriteString(string(m.Refusal))
		for j := range m.Calls {
			p := &m.Calls[j]
			name, args := p.named()
			if whole {
				a.addWholeCall(string(p.ID), name, args)
				continue
			}
			a.addCall(p.Index, string(p.ID), name, args)
		}
		if f := m.Function; f != nil && len(m.Calls) == 0 {
			zero := 0
			a.addCall(&zero, "", string(f.Name), arguments(f.Args))
		}
		finish := string(ch.Finish)
		if finish == unfinished && !document { // it comes with a later event
			finish = ""
		}
		a.end(finish)
		if finish == "error" || finish == "insufficient_system_resource" {
			a.failure = &failure{kind: engine.KindServer, what: "the provider broke the answer off", code: finish, says: string(ch.Native), retryable: true}
			if !empty(ch.Error) {
				a.failure = a.inAnswer([]byte(`{"error":` + string(ch.Error) + `}`))
			}
		}
		break // one choice was asked for: another one is another answer, not more of this
	}
	if c.Groq.Error != "" && a.failure == nil {
		a.failure = a.inAnswer([]byte(`{"message":` + quoted(string(c.Groq.Error)) + `}`))
	}
}

func (m *completionMessage) empty() bool {
	return empty(m.Content) && m.Refusal == "" && empty(m.Reasoning) && m.Thoughts == "" && m.Thinking == "" && m.Audio.Transcript == "" && empty(m.Details) && len(m.Calls) == 0 && m.Function == nil
}

// pieces reads content that is a string or a list of text and thinking pieces.
func pieces(raw json.RawMessage) (text, thoughts string) {
	if len(raw) == 0 || raw[0] == 'n' {
		return "", ""
	}
	if raw[0] == '"' {
		var s string
		_ = json.Unmarshal(raw, &s) // raw is a valid JSON string
		return s, ""
	}
	var list []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
		Summary  json.RawMessage `json:"summary"` // of thoughts, by Databricks
	}
	if raw[0] == '{' { // one piece alone
		raw = json.RawMessage("[" + string(raw) + "]")
	}
	if json.Unmarshal(raw, &list) != nil {
		return "", ""
	}
	for _, p := range list {
		switch p.Type {
		case "thinking":
			inner, _ := pieces(p.Thinking)
			thoughts += inner + p.Text
			continue
		case "reasoning":
			inner, _ := pieces(p.Summary)
			thoughts += inner + p.Text
			continue
		}
		text += p.Text
	}
	return text, thoughts
}

func arguments(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] == 'n' {
		return ""
	}
	if raw[0] != '"' {
		var b bytes.Buffer
		_ = json.Compact(&b, raw) // raw is valid JSON
		return b.String()
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// normal counts cached tokens as input and reasoning as output. Where the total is larger
// than the parts, the rest is reasoning that the provider left out of the output. It is nil when
// the counts are none.
func (u *completionUsage) normal() *model.Usage {
	if *u.In == noCount || u.Out == noCount {
		return nil
	}
	n := &model.Usage{
		In: int(*u.In), Out: int(u.Out), Reasoning: int(max(u.Spent.Reasoning, u.Reasoning, 0)),
		CacheRead: int(max(u.Details.Cached, u.CacheHit, u.Cached, u.NumCached, 0)), CacheWrite: int(max(u.Details.Written, 0)),
		CostUSD: float64(u.Cost),
	}
	withHidden(n, u.Total)
	return n
}

// withHidden counts what a total has beyond input and output as reasoning.
func withHidden(n *model.Usage, total count) {
	if hidden := int(total) - n.In - n.Out; hidden > 0 {
		n.Out += hidden
		n.Reasoning = max(n.Reasoning, hidden)
	}
}

// count is a number of tokens. Null, fractions and strings are taken for what they mean; what
// cannot be a number of tokens is noCount.
type count int

const noCount count = -1

func (c *count) UnmarshalJSON(data []byte) error {
	var n json.Number
	if json.Unmarshal(bytes.Trim(data, `"`), &n) != nil || n == "" {
		return nil
	}
	*c = noCount
	if f, err := n.Float64(); err == nil && f >= 0 && f <= model.MaxUsage {
		*c = count(f)
	}
	return nil
}

// cost is an amount of money, by Perplexity in an object with what it is made of; what is none is
// 0, which is not known.
type cost float64

func (c *cost) UnmarshalJSON(data []byte) error {
	var parts struct {
		Total json.RawMessage `json:"total_cost"`
	}
	if json.Unmarshal(data, &parts) == nil && parts.Total != nil {
		data = parts.Total
	}
	var f float64
	if json.Unmarshal(data, &f) == nil && f > 0 && f <= model.MaxCostUSD {
		*c = cost(f)
	}
	return nil
}

// loose is a string that some servers give as null or as a number.
type loose string

func (l *loose) UnmarshalJSON(data []byte) error {
	if s := strings.TrimSpace(string(data)); s != "null" {
		*l = loose(text(data))
	}
	return nil
}
