package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/model"
)

// answer collects an answer that arrives whole or in pieces.
type answer struct {
	text, reasoning, refusal strings.Builder

	calls   []*callPieces
	byIndex map[int]*callPieces
	byID    map[string]*callPieces

	details []*detail          // reasoning_details, which are sent back
	images  []model.Image      // of forms whose answers list their kinds separately
	sound   *sound             // also of those forms
	blocks  []*block           // of forms whose answers are lists of parts
	open    map[int]*openBlock // of a stream whose pieces contain the index of their block

	claude claudeState
	gemini geminiState
	items  responsesState

	cited     []cited
	searched  searched
	model, id string
	finish    string // the provider's word; a later piece without one does not clear it
	ended     bool   // an end marker was seen: nothing of the answer is missing
	usage     *model.Usage
	count     int      // the number of parts, calls and details
	failure   *failure // an error object inside an answer of status 200
	sink      func(engine.Token)
	keys      *redact.Set
	provider  string
	aloud     string // the media type of spoken answers that the request asks for
	linger    func() // called when only the end of the stream is awaited
}

func newAnswer(p *Plan) *answer {
	a := &answer{sink: p.Sink, keys: p.Keys, provider: p.Provider, aloud: askedAloud(p.Request), linger: func() {}, byIndex: map[int]*callPieces{}, byID: map[string]*callPieces{}, open: map[int]*openBlock{}}
	if a.sink == nil {
		a.sink = func(engine.Token) {}
	}
	return a
}

// longestName bounds the name of a call that arrives in pieces, far above what providers accept.
const longestName = 1024

type callPieces struct {
	index    int // position in the answer
	id, name string
	args     strings.Builder
}

func (c *callPieces) made() *model.ToolCall {
	return &model.ToolCall{ID: c.id, Name: c.name, Args: c.args.String()}
}

// identify stores the id of the answer and the name of the model if a piece contains them.
func (a *answer) identify(id, name loose) {
	a.id, a.model = cmp.Or(string(id), a.id), cmp.Or(string(name), a.model)
}

// mostParts bounds the parts, calls and details of an answer, far above what any model generates: each takes many times
// the memory of its few bytes on the wire.
const mostParts = 20_000

func (a *answer) part() { a.count++ }

// crowded returns the error of an answer with too many parts.
func (a *answer) crowded() error {
	if a.count <= mostParts {
		return nil
	}
	return &malformed{fmt.Sprintf("the answer has more than %d parts", mostParts)}
}

func (a *answer) addText(s string) { a.add(&a.text, engine.Token{Text: s}) }

func (a *answer) addReasoning(s string) { a.add(&a.reasoning, engine.Token{Text: s, Reasoning: true}) }

func (a *answer) add(to *strings.Builder, t engine.Token) {
	if t.Text != "" {
		to.WriteString(t.Text)
		a.sink(t)
	}
}

// addCall takes a piece of a tool call. Pieces belong together by index. If a server sends no index, or the same one
// for all, they belong together by id. A piece with neither continues the last call.
func (a *answer) addCall(index *int, id, name, args string) {
	c := a.find(index, id, name)
	if c == nil {
		c = a.newCall()
	}
	d := engine.CallDelta{Index: c.index, Args: args}
	if index != nil {
		a.byIndex[*index] = c
	}
	if c.id == "" && id != "" {
		c.id, d.ID, a.byID[id] = id, id, c
	}
	if name != c.name && len(c.name) < longestName { // some servers repeat the name in every piece
		c.name += name
		d.Name = name
	}
	c.args.WriteString(args)
	a.sink(engine.Token{Call: &d})
}

func (a *answer) newCall() *callPieces {
	c := &callPieces{index: len(a.calls)}
	a.calls = append(a.calls, c)
	a.part()
	return c
}

// addWholeCall takes a call that arrives in one piece, or its beginning.
func (a *answer) addWholeCall(id, name, args string) *callPieces {
	c := a.newCall()
	c.id, c.name = id, name
	c.args.WriteString(args)
	a.sink(engine.Token{Call: &engine.CallDelta{Index: c.index, ID: id, Name: name, Args: args}})
	return c
}

func (a *answer) empty() bool {
	return a.text.Len() == 0 && a.reasoning.Len() == 0 && a.refusal.Len() == 0 && len(a.calls) == 0 && len(a.images) == 0 && a.sound == nil
}

func (a *answer) find(index *int, id, name string) *callPieces {
	if index != nil {
		c := a.byIndex[*index]
		if c != nil && id != "" && c.id != "" && id != c.id && name != "" {
			return nil // another call with the same index
		}
		return c
	}
	if id != "" {
		return a.byID[id]
	}
	if n := len(a.calls); n > 0 && name == "" {
		return a.calls[n-1]
	}
	return nil
}

func (a *answer) end(finish string) {
	if finish != "" {
		a.finish = finish
		a.ended = true
	}
}

// done marks that the answer is complete and only the end of the stream is missing.
func (a *answer) done() {
	a.ended = true
	a.linger()
}

// brokeOff records that the provider broke off the answer.
func (a *answer) brokeOff(code, says string) {
	a.failure = &failure{kind: engine.KindServer, what: "the provider broke the answer off", code: code, says: says, retryable: true}
}

// failedBy records an error object inside the answer.
func (a *answer) failedBy(object json.RawMessage) {
	a.failure = a.inAnswer([]byte(`{"error":` + string(object) + `}`))
}

// response returns the answer as decoded: nothing is generated, filled in or judged.
func (a *answer) response() *model.Response {
	r := &model.Response{Model: a.model, RequestID: a.id, RawFinish: a.finish, Citations: a.citations()}
	if a.usage != nil {
		r.Usage = *a.usage
	}
	if len(a.blocks) > 0 {
		r.Parts = a.parts()
	} else {
		r.Parts = a.gathered()
	}
	r.Finish = FinishOf(a.finish, len(a.calls) > 0)
	if a.gemini.blocked {
		r.Finish = model.FinishFilter
	}
	if a.refusal.Len() > 0 {
		r.Finish = model.FinishRefusal
		if a.text.Len() == 0 {
			r.Parts = append(r.Parts, model.Part{Kind: model.PartText, Text: a.refusal.String()})
		}
	}
	return r
}

// gathered returns the parts of an answer that lists its kinds separately.
func (a *answer) gathered() []model.Part {
	var parts []model.Part
	if a.reasoning.Len() > 0 || len(a.details) > 0 {
		thought := model.Part{Kind: model.PartReasoning, Text: a.reasoning.String()}
		if len(a.details) > 0 {
			thought.Opaque = opaque(detailsOf, a.details)
		}
		parts = append(parts, thought)
	}
	if a.text.Len() > 0 {
		parts = append(parts, model.Part{Kind: model.PartText, Text: a.text.String()})
	}
	for i := range a.images {
		parts = append(parts, model.Part{Kind: model.PartImage, Image: &a.images[i]})
	}
	if a.sound != nil {
		parts = append(parts, model.Part{Kind: model.PartAudio, Audio: a.sound.made()})
	}
	for _, c := range a.calls {
		parts = append(parts, model.Part{Kind: model.PartCall, Call: c.made()})
	}
	return parts
}

// FinishOf converts a provider's finish reason. Several providers report "stop" after calls.
func FinishOf(raw string, calls bool) model.Finish {
	f := finishOf(raw)
	if calls && (f == model.FinishStop || f == model.FinishUnknown) {
		return model.FinishCalls
	}
	return f
}

func finishOf(raw string) model.Finish {
	switch strings.ToLower(raw) {
	case "stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed":
		return model.FinishStop
	case "length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded", "incomplete":
		return model.FinishLength
	case "tool_calls", "tool_call", "function_call", "tool_use", "requires_action":
		return model.FinishCalls
	case "content_filter", "content_filtered", "guardrail_intervened", "sensitive",
		"safety", "recitation", "blocklist", "prohibited_content", "spii",
		"image_safety", "image_prohibited_content", "image_recitation", "model_armor", "jailbreak":
		return model.FinishFilter
	case "refusal":
		return model.FinishRefusal
	}
	return model.FinishUnknown
}
