package engine

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// Role says who a [Message] is from.
type Role string

// The roles of a conversation. The system text is no message: see [Request].
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of a conversation. Messages are immutable once in a [Request].
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// PartKind tells what a [Part] holds.
type PartKind string

// The kinds of parts.
const (
	PartText      PartKind = "text"
	PartReasoning PartKind = "reasoning" // the model's thoughts: never shown as its answer
	PartCall      PartKind = "call"
	PartResult    PartKind = "result"
)

// Part is a piece of a message: text, reasoning, a tool call or a tool's result.
type Part struct {
	Kind   PartKind    `json:"kind"`
	Text   string      `json:"text,omitempty"` // of text and reasoning
	Call   *ToolCall   `json:"call,omitempty"`
	Result *ToolResult `json:"result,omitempty"`
	Opaque *Opaque     `json:"opaque,omitempty"`
}

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"` // the arguments as the model wrote them, meant to be a JSON object
	// Dialect is that of the schema which gave the arguments another form, as of a [Response].
	Dialect string `json:"dialect,omitempty"`
}

// ToolResult answers the call of the same ID.
type ToolResult struct {
	CallID  string `json:"call_id"`
	Name    string `json:"name"`
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
}

// Opaque is provider state (a signature, redacted reasoning) that is sent back to the same
// provider family and dropped for any other.
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
}

// Params are a model call's parameters. A nil member is not sent, so that the provider's
// default holds; a zero is sent.
type Params struct {
	Temperature *float64 `json:"temperature,omitempty"` // 0 to 2
	TopP        *float64 `json:"top_p,omitempty"`       // 0 to 1
	MaxTokens   *int     `json:"max_tokens,omitempty"`  // of the answer
	Seed        *int     `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

// Structured says how firmly a model is held to its output type.
type Structured string

// The tiers of structured output.
const (
	StructuredAuto        Structured = "auto"        // the best that the provider has
	StructuredConstrained Structured = "constrained" // schema-constrained decoding or an error
	StructuredGuided      Structured = "guided"      // the prompt alone
)

// Output is the type a model is to answer with; str needs none.
type Output struct {
	Type       *generable.Type
	Structured Structured
}

// Request is one call of a model: all that decides its answer, and nothing else. It is data,
// so that another process can make the call, and its digest is part of the effect's id.
//
// A Request is immutable once dispatched. Conversations grow by [Request.Extend], which
// chains digests, so that turn n does not hash turns 0 to n-1 again.
type Request struct {
	Model    string // "provider/model", "" for the host's default
	System   string
	Messages []Message
	Tools    []ToolDef
	Output   *Output
	Params   Params

	head   [sha256.Size]byte // digest of everything but the messages
	chain  [sha256.Size]byte // H(chain of the messages before, the last message)
	hashed int               // messages covered by chain
	headed bool
	known  *atomic.Pointer[headDigest] // of the agent that makes the request, nil when there is none
}

// Extend returns a request that continues r's conversation. It shares r's messages and the
// digests that were taken so far; r stays valid.
func (r *Request) Extend(messages ...Message) *Request {
	next := *r
	next.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], messages...)
	return &next
}

// Digest returns the hash of the canonical request. Branches must not share a Request whose
// digest was never taken.
func (r *Request) Digest() [sha256.Size]byte {
	if !r.headed {
		r.head, r.headed = r.digestHead(), true
	}
	for ; r.hashed < len(r.Messages); r.hashed++ {
		b := append(make([]byte, 0, 256), r.chain[:]...)
		r.chain = sha256.Sum256(r.Messages[r.hashed].appendCanon(b))
	}
	var both [2 * sha256.Size]byte
	copy(both[:], r.head[:])
	copy(both[sha256.Size:], r.chain[:])
	return sha256.Sum256(both[:])
}

// headDigest is the digest of all but the messages of the requests that an agent makes, as long
// as they are the same: a long prompt is hashed once and not by every run.
type headDigest struct {
	of  headKey
	sum [sha256.Size]byte
}

// headKey tells heads apart by what they point to, which does not change.
type headKey struct {
	model, system   string
	tools           *ToolDef
	output          *Output
	temperature     *float64
	topP            *float64
	maxTokens, seed *int
	stop            *string
	nTools, nStop   int
}

func (r *Request) digestHead() [sha256.Size]byte {
	p := &r.Params
	key := headKey{r.Model, r.System, unsafe.SliceData(r.Tools), r.Output, p.Temperature, p.TopP, p.MaxTokens, p.Seed,
		unsafe.SliceData(p.Stop), len(r.Tools), len(p.Stop)}
	if r.known != nil {
		if d := r.known.Load(); d != nil && d.of == key {
			return d.sum
		}
	}
	sum := sha256.Sum256(r.appendHead(make([]byte, 0, 512+len(r.System))))
	if r.known != nil {
		r.known.Store(&headDigest{key, sum})
	}
	return sum
}

func (r *Request) appendHead(b []byte) []byte {
	b = abi.AppendText(b, r.Model)
	b = abi.AppendText(b, r.System)
	for _, t := range r.Tools {
		b = abi.AppendText(append(b, 't'), t.Name)
		b = abi.AppendText(b, t.Description)
		if t.Params != nil {
			b = append(b, t.Params.ID()...)
		}
	}
	if r.Output != nil {
		b = append(append(b, 'o'), r.Output.Type.ID()...)
		b = append(b, r.Output.Structured...)
	}
	return r.Params.appendCanon(b)
}

func (p *Params) appendCanon(b []byte) []byte {
	for _, f := range []*float64{p.Temperature, p.TopP} {
		b = append(b, ';')
		if f != nil {
			b = strconv.AppendFloat(b, *f, 'g', -1, 64)
		}
	}
	for _, n := range []*int{p.MaxTokens, p.Seed} {
		b = append(b, ';')
		if n != nil {
			b = strconv.AppendInt(b, int64(*n), 10)
		}
	}
	for _, s := range p.Stop {
		b = abi.AppendText(b, s)
	}
	return b
}

func (m *Message) appendCanon(b []byte) []byte {
	b = append(b, m.Role...)
	for i := range m.Parts {
		p := &m.Parts[i]
		b = append(append(b, '/'), p.Kind...)
		b = abi.AppendText(b, p.Text)
		if p.Call != nil {
			b = abi.AppendText(b, p.Call.ID)
			b = abi.AppendText(b, p.Call.Name)
			b = abi.AppendText(b, p.Call.Args)
		}
		if p.Result != nil {
			b = abi.AppendText(b, p.Result.CallID)
			b = abi.AppendText(b, p.Result.Name)
			b = abi.AppendText(b, p.Result.Text)
			b = strconv.AppendBool(b, p.Result.IsError)
		}
		if p.Opaque != nil {
			b = abi.AppendText(b, p.Opaque.Provider)
			b = abi.AppendText(b, p.Opaque.Data)
		}
	}
	return b
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
	Model     string `json:"model,omitempty"`      // the model that answered, as the provider names it
	RequestID string `json:"request_id,omitempty"`
	// Dialect is that of the schema which gave the answer another form than the output type
	// has by itself, "" when none did. The text is as the model wrote it; Decode of
	// generable/dialect reads it.
	Dialect string `json:"dialect,omitempty"`
	Usage   Usage  `json:"usage"`
}

// Text returns the answer's text: all text parts joined, without reasoning.
func (r *Response) Text() string {
	var text strings.Builder
	for i := range r.Parts {
		if r.Parts[i].Kind == PartText {
			text.WriteString(r.Parts[i].Text)
		}
	}
	return text.String()
}

// Calls returns the tool calls of the answer, in order.
func (r *Response) Calls() []*ToolCall {
	var calls []*ToolCall
	for i := range r.Parts {
		if r.Parts[i].Kind == PartCall {
			calls = append(calls, r.Parts[i].Call)
		}
	}
	return calls
}
