// Package model defines requests to models and their answers: messages, message parts, token usage, and the digests
// that identify recorded requests.
package model

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// Role says who sent a [Message].
type Role string

// The roles of a conversation. The system text is not a message: see [Request].
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of a conversation. Messages are immutable once in a [Request].
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`

	// stands is the full text of the first part, which refers to the message before instead of repeating it: see
	// [Message.HandOver]. Digests cover the full text.
	stands *string
}

// PartKind says what a [Part] holds.
type PartKind string

// The kinds of parts.
const (
	PartText      PartKind = "text"
	PartImage     PartKind = "image"
	PartAudio     PartKind = "audio"     // a model's spoken answer
	PartReasoning PartKind = "reasoning" // the model's thoughts: never shown as its answer
	PartCall      PartKind = "call"
	PartResult    PartKind = "result"
)

// Part is a piece of a message: text, an image, a sound, reasoning, a tool call or a tool's result.
type Part struct {
	Kind   PartKind    `json:"kind"`
	Text   string      `json:"text,omitempty"` // of text and reasoning
	Image  *Image      `json:"image,omitempty"`
	Audio  *Audio      `json:"audio,omitempty"`
	Call   *ToolCall   `json:"call,omitempty"`
	Result *ToolResult `json:"result,omitempty"`
	Opaque *Opaque     `json:"opaque,omitempty"`
	// Of is the ID of the call whose tool returned the picture. The picture is in a user message after the results;
	// providers that accept pictures inside results receive it there. It is a pointer to keep parts small, since few
	// have one.
	Of *string `json:"of,omitempty"`
}

// HandedOver is the text of an input that equals the answer before it.
const HandedOver = "The input is the answer above."

// leastHandedOver is the minimum length in bytes of an answer that an input refers to: for shorter ones the reference
// is much longer than the text.
const leastHandedOver = 8

// HandOver shortens a message whose text begins with said, the answer before it: the text then refers to that answer
// instead of repeating it. The message's parts must not be shared with another message.
func (m *Message) HandOver(said string) {
	if len(said) >= leastHandedOver && len(m.Parts) == 1 && m.Parts[0].Kind == PartText && m.stands == nil {
		if rest, ok := strings.CutPrefix(m.Parts[0].Text, said); ok {
			whole := m.Parts[0].Text
			m.Parts[0].Text, m.stands = HandedOver+rest, &whole
		}
	}
}

// Whole returns the message with its full text, without a reference to the message before it.
func (m Message) Whole() Message {
	if m.stands != nil && len(m.Parts) > 0 {
		m.Parts = slices.Clone(m.Parts)
		m.Parts[0].Text, m.stands = *m.stands, nil
	}
	return m
}

// Image is a picture by reference. Building a request fetches nothing: the provider itself reads an http or https URL,
// and a data URL contains the picture.
type Image struct {
	URL string `json:"url"`
	// MIME is the media type, such as image/png. A data URL contains it; for other URLs it may be empty if the provider
	// does not require it.
	MIME string `json:"mime,omitempty"`
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"` // the arguments as the model wrote them, meant to be a JSON object
	// Dialect is the schema dialect that changed the form of the arguments, as in [Response].
	Dialect string `json:"dialect,omitempty"`
}

// ToolResult answers the call of the same ID.
type ToolResult struct {
	CallID  string `json:"call_id"`
	Name    string `json:"name"`
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
	// Untrusted reports whether the text is an envelope around content that a tool brought from outside.
	Untrusted bool `json:"untrusted,omitempty"`

	Pictures []Image `json:"-"` // the tool's pictures, until they are in a message; never recorded
}

// Opaque is provider state (a signature, redacted reasoning). It is sent back to the same provider family and dropped
// for any other.
type Opaque struct {
	Provider string `json:"provider"`
	Data     string `json:"data"`
}

// TextMessage returns a message of one text part.
func TextMessage(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Kind: PartText, Text: text}}}
}

// ToolDef describes a tool to a model.
type ToolDef struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Params      *generable.Type `json:"-"` // a schema
	// Schema is the JSON Schema of the parameters, verbatim. It is set for tools of another process, where Params
	// cannot express all of it, and is then sent to providers instead.
	Schema string `json:"-"`
	// After lists the tools that must succeed before a call of this one is permitted. It is not sent to models: they
	// learn it from the description and from the refusal.
	After []string `json:"-"`
}

// Params are a model call's parameters. A nil member is not sent, so the provider's default applies; a zero is sent.
type Params struct {
	Temperature *float64 `json:"temperature,omitempty"` // 0 to 2
	TopP        *float64 `json:"top_p,omitempty"`       // 0 to 1
	MaxTokens   *int     `json:"max_tokens,omitempty"`  // of the answer
	Seed        *int     `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	// Effort is the reasoning effort for models that reason: none, minimal, low, medium, high, xhigh or max, as far as
	// the provider supports them; "" leaves it to the provider.
	Effort string `json:"effort,omitempty"`
	// ReasoningTokens limits the reasoning for providers that count it in tokens; 0 turns it off.
	ReasoningTokens *int `json:"reasoning_tokens,omitempty"`
	// Cache marks the prompt for providers that cache only what is marked. Other providers, which cache by themselves
	// or not at all, receive nothing.
	Cache bool `json:"cache,omitempty"`
	// ParallelCalls says whether one answer may contain several tool calls.
	ParallelCalls *bool `json:"parallel_calls,omitempty"`
	// Extra is a JSON object whose members are copied unchanged into the provider's request, last.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// ToolChoice says whether a model must call tools. The zero ToolChoice leaves it to the model.
type ToolChoice struct {
	Mode ChoiceMode `json:"mode"`
	Tool string     `json:"tool,omitempty"` // of ChoiceTool
}

// ToolChoiceOf reads a choice as scripts and flows write it: "auto" or "", "required", "none", or the name of a tool.
func ToolChoiceOf(word string) ToolChoice {
	switch word {
	case "", "auto":
		return ToolChoice{}
	case "required":
		return ToolChoice{Mode: ChoiceRequired}
	case "none":
		return ToolChoice{Mode: ChoiceNone}
	}
	return ToolChoice{Mode: ChoiceTool, Tool: word}
}

// ChoiceMode is a mode of choosing tools.
type ChoiceMode string

// The modes of choosing tools.
const (
	ChoiceAuto     ChoiceMode = ""         // the model decides
	ChoiceRequired ChoiceMode = "required" // some tool must be called
	ChoiceNone     ChoiceMode = "none"     // no tool may be called
	ChoiceTool     ChoiceMode = "tool"     // this one must be called
)

// Structured says how strictly a model is held to its output type.
type Structured string

// The tiers of structured output.
const (
	StructuredAuto        Structured = "auto"        // the best tier that the provider has
	StructuredConstrained Structured = "constrained" // schema-constrained decoding or an error
	StructuredGuided      Structured = "guided"      // the prompt alone
)

// Output is the type a model is to answer with; str needs none.
type Output struct {
	Type       *generable.Type
	Structured Structured
	// Enough ends the answer as soon as it holds for the fields that have arrived; nil waits for all of them. A handler
	// that cannot end a request early returns the whole answer. See [Output.Watch].
	Enough *predicate.Predicate
}

// Request is one call of a model: everything that determines its answer, and nothing else. It is data, so that another
// process can make the call, and its digest is part of the effect's id.
//
// A Request is immutable once dispatched. Conversations grow by [Request.Extend], which chains digests: turn n does not
// hash turns 0 to n-1 again.
type Request struct {
	Model    string // "provider/model", "" for the host's default
	System   string
	Messages []Message
	Tools    []ToolDef
	Choice   ToolChoice
	Output   *Output
	Params   Params
	// Fallbacks are the models to ask, in order, when Model cannot answer.
	Fallbacks []string

	head   [sha256.Size]byte // digest of everything but the messages
	chain  [sha256.Size]byte // H(chain of the messages before, the last message)
	hashed int32             // messages covered by chain
	passed int32             // the number of messages already rewritten
	by     uint32            // by the rewriting with this number
	headed bool
	known  *HeadCache // of the agent that makes the request, may be nil
}

// Extend returns a request that continues r's conversation. It shares r's messages and the digests taken so far; r
// stays valid.
//
//go:noinline
func (r *Request) Extend(messages ...Message) *Request {
	next := *r
	next.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], messages...)
	return &next
}

// Called returns the request for the turn after a tool call. A model that was required to call a tool may now answer;
// otherwise it would call tools forever.
func (r *Request) Called() *Request {
	if r.Choice.Mode == ChoiceRequired || r.Choice.Mode == ChoiceTool {
		r.Choice, r.headed = ToolChoice{}, false
	}
	return r
}

// Finish says why a model stopped.
type Finish string

// The reasons to stop, the same for all providers.
const (
	FinishStop    Finish = "stop"
	FinishLength  Finish = "length" // cut off by the token limit
	FinishCalls   Finish = "tool_calls"
	FinishFilter  Finish = "content_filter"
	FinishRefusal Finish = "refusal"
	FinishUnknown Finish = "unknown"
)

// Response is a model's answer.
type Response struct {
	Parts     []Part `json:"parts"`
	Finish    Finish `json:"finish"`
	RawFinish string `json:"raw_finish,omitempty"` // the provider's own word
	Provider  string `json:"provider,omitempty"`   // the provider that answered, such as "openai"
	Model     string `json:"model,omitempty"`      // the model that answered, as the provider names it
	RequestID string `json:"request_id,omitempty"`
	// Dialect is the schema dialect that changed the form of the answer, "" if none did. The text is as the model wrote
	// it; Decode of generable/dialect reads it.
	Dialect string `json:"dialect,omitempty"`
	Usage   Usage  `json:"usage"`
	// Citations are the sources that the provider names for the answer, in its order.
	Citations []Citation `json:"citations,omitempty"`
	// Read is the value that the text was decoded to when the answer was recorded, nil for an answer from a provider.
	Read *generable.Value `json:"-"`
}

// Citation is a source of an answer: a page that the provider found, or a document in the request.
type Citation struct {
	URL    string `json:"url,omitempty"`
	Title  string `json:"title,omitempty"`
	Source string `json:"source,omitempty"` // the provider's name of the source: the id of a file, document or tool result
	Quote  string `json:"quote,omitempty"`  // words of the source
	Text   string `json:"text,omitempty"`   // the words of the answer that it supports; empty if the provider does not say
}

// EachText calls do with each text of the answer.
func (r *Response) EachText(do func(*string)) {
	for _, t := range []*string{(*string)(&r.Finish), &r.RawFinish, &r.Provider, &r.Model, &r.RequestID, &r.Dialect} {
		do(t)
	}
	for i := range r.Parts {
		r.Parts[i].eachText(do)
	}
	for i := range r.Citations {
		r.Citations[i].EachText(do)
	}
}

// EachText calls do with each text of the citation.
func (c *Citation) EachText(do func(*string)) {
	for _, t := range []*string{&c.URL, &c.Title, &c.Source, &c.Quote, &c.Text} {
		do(t)
	}
}

// Valid returns the answer with all texts made UTF-8 by [ValidText], r itself if they already are. Nil stays nil.
func (r *Response) Valid() *Response { return r.Rewritten(ValidText) }

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	own := *p
	return &own
}

// ValidText returns s with U+FFFD in place of each byte that is not valid UTF-8.
func ValidText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// Text returns the answer's text: all text parts joined, without reasoning.
func (r *Response) Text() string { return TextIn(r.Parts) }

// Pictures returns the pictures of the answer, in order.
func (r *Response) Pictures() []Image {
	var out []Image
	for i := range r.Parts {
		if r.Parts[i].Kind == PartImage && r.Parts[i].Image != nil {
			out = append(out, *r.Parts[i].Image)
		}
	}
	return out
}

// Calls returns the tool calls of the answer, in order.
func (r *Response) Calls() []*ToolCall { return CallsIn(r.Parts) }

// TextIn returns the joined text of parts.
//
//go:noinline
func TextIn(parts []Part) string {
	var text strings.Builder
	for i := range parts {
		if parts[i].Kind == PartText {
			text.WriteString(parts[i].Text)
		}
	}
	return text.String()
}

// CallsIn returns the calls of tools among parts.
//
//go:noinline
func CallsIn(parts []Part) []*ToolCall {
	var calls []*ToolCall
	for i := range parts {
		if parts[i].Kind == PartCall {
			calls = append(calls, parts[i].Call)
		}
	}
	return calls
}

// Stands returns the full text that [Message.HandOver] shortened, nil if it did not shorten the message.
func (m *Message) Stands() *string { return m.stands }

// StandsFor returns the message marked as shortened from whole, as [Message.HandOver] leaves it. It is for reading a
// request that another process wrote.
func (m Message) StandsFor(whole *string) Message {
	m.stands = whole
	return m
}
