package wire

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// completion is a chat completion, or a chunk of one, in all the shapes that servers of this dialect use.
type completion struct {
	ID      loose            `json:"id"`
	Model   loose            `json:"model"`
	Choices []choice         `json:"choices"`
	Usage   *completionUsage `json:"usage"`
	searched
	Groq struct {
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
	Text    loose             `json:"text"`  // of servers that answer in the older form, for some together with the newer one
	Error   json.RawMessage   `json:"error"` // OpenRouter's, from the provider behind it
}

// unfinished stands for an explicit null as the finish reason of a whole answer: the server broke it off. Many servers
// omit the reason, which has no meaning.
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
	Thinking  loose           `json:"thinking"` // of servers that name it as Ollama does
	Audio     struct {
		Data       loose `json:"data"` // base64
		Transcript loose `json:"transcript"`
	} `json:"audio"` // a spoken answer has no other text
	Annotations json.RawMessage `json:"annotations"`
	Images      json.RawMessage `json:"images"` // OpenRouter's, from models that generate pictures
	Details     json.RawMessage `json:"reasoning_details"`
	Calls       []callPiece     `json:"tool_calls"`
	Function    *functionPiece  `json:"function_call"` // the older form of a call
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

// named returns the tool and arguments in a piece of a call. Servers that write members without a value send an empty
// custom call next to the real one.
func (p *callPiece) named() (name, args string) {
	if p.Custom != nil && p.Custom.Name+p.Custom.Input != "" {
		return string(p.Custom.Name), string(p.Custom.Input)
	}
	return string(p.Function.Name), arguments(p.Function.Args)
}

type functionPiece struct {
	Name loose           `json:"name"`
	Args json.RawMessage `json:"arguments"` // JSON in a string, from some servers the object itself
}

// empty reports whether the piece is nil or has no content.
func (f *functionPiece) empty() bool {
	return f == nil || f.Name == "" && arguments(f.Args) == ""
}

type completionUsage struct {
	In        *count     `json:"prompt_tokens"`
	Out       count      `json:"completion_tokens"`
	Total     count      `json:"total_tokens"`
	Details   inDetails  `json:"prompt_tokens_details"`
	Spent     outDetails `json:"completion_tokens_details"`
	CacheHit  count      `json:"prompt_cache_hit_tokens"` // DeepSeek's name
	Cached    count      `json:"cached_tokens"`           // Moonshot's
	NumCached count      `json:"num_cached_tokens"`       // Mistral's
	Reasoning count      `json:"reasoning_tokens"`        // Perplexity's
	Cost      cost       `json:"cost"`                    // OpenRouter's and Perplexity's: US dollars
}

type inDetails struct {
	Cached  count `json:"cached_tokens"`
	Written count `json:"cache_write_tokens"`
}

type outDetails struct {
	Reasoning count `json:"reasoning_tokens"`
}

func (d *OpenAI) document(data []byte, a *answer) error {
	c, err := parseCompletion(data)
	if err == nil && len(c.Choices) == 0 {
		err = &malformed{"the answer holds no choice"}
	}
	if err != nil {
		return err
	}
	a.completion(c, true)
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

func (a *answer) completion(c *completion, whole bool) {
	a.identify(c.ID, c.Model)
	for _, u := range []*completionUsage{c.Groq.Usage, c.Usage} {
		if u != nil && u.In != nil {
			a.usage = u.normal()
		}
	}
	a.search(&c.searched)
	document := whole
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index != 0 {
			continue // not requested
		}
		m := &ch.Delta
		if whole || m.empty() && a.empty() {
			// A server that was asked for a stream may send the whole answer in one event; one that repeats it at the
			// end of a stream must not be counted twice.
			m, whole = &ch.Message, true
		}
		reasoning, _ := pieces(m.Reasoning)
		content, thoughts := pieces(m.Content)
		a.addDetails(m.Details)
		a.addReasoning(cmp.Or(string(m.Thoughts), reasoning, string(m.Thinking), thoughtsIn(m.Details)) + thoughts)
		a.addText(cmp.Or(content, string(ch.Text+m.Audio.Transcript)))
		a.cite(m.Annotations, nil)
		a.references(m.Content)
		a.drawn(m.Images)
		a.heard(string(m.Audio.Data))
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
		if f := m.Function; !f.empty() && len(m.Calls) == 0 {
			zero := 0
			a.addCall(&zero, "", string(f.Name), arguments(f.Args))
		}
		finish := string(ch.Finish)
		if finish == unfinished && !document { // the reason comes with a later event
			finish = ""
		}
		a.end(finish)
		if finish == "error" || finish == "insufficient_system_resource" {
			a.brokeOff(finish, string(ch.Native))
			if !empty(ch.Error) {
				a.failedBy(ch.Error)
			}
		}
		break // one choice was requested: a second one is another answer, not a continuation
	}
	if c.Groq.Error != "" && a.failure == nil {
		a.failure = a.inAnswer([]byte(`{"message":` + quoted(string(c.Groq.Error)) + `}`))
	}
}

func (m *completionMessage) empty() bool {
	return empty(m.Content) && m.Refusal == "" && empty(m.Reasoning) && m.Thoughts == "" && m.Thinking == "" && m.Audio.Transcript == "" && m.Audio.Data == "" && empty(m.Details) && empty(m.Annotations) && empty(m.Images) && len(m.Calls) == 0 && m.Function.empty()
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
	if raw[0] == '{' { // a single piece
		raw = json.RawMessage("[" + string(raw) + "]")
	}
	if json.Unmarshal(raw, &list) != nil {
		return "", ""
	}
	for _, p := range list {
		if p.Type != "thinking" && p.Type != "reasoning" {
			text += p.Text
			continue
		}
		inner, _ := pieces(p.Thinking)
		summary, _ := pieces(p.Summary)
		thoughts += inner + summary + p.Text
	}
	return text, thoughts
}

// normal counts cached tokens as input and reasoning as output. If the total exceeds the parts, the rest is reasoning
// that the provider left out of the output. It returns nil if the counts are invalid.
func (u *completionUsage) normal() *model.Usage {
	n := tokens(*u.In, u.Out, max(u.Spent.Reasoning, u.Reasoning), max(u.Details.Cached, u.CacheHit, u.Cached, u.NumCached), u.Details.Written)
	if n == nil {
		return nil
	}
	n.CostUSD = float64(u.Cost)
	if hidden := int(u.Total) - n.In - n.Out; hidden > 0 {
		n.Out += hidden
		n.Reasoning = max(n.Reasoning, hidden)
	}
	return n
}
