package model

import (
	"crypto/sha256"
	"encoding/json"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/agentscript/agentscript/engine/internal/abi"
)

// Thread is a conversation so far, with the digest of it. It never changes, so that branches fork
// it at no cost.
type Thread struct {
	Messages []Message
	chain    [sha256.Size]byte // as of a Request
	hashed   int
}

// Thread returns the conversation of a request, with the answer to it.
func (r *Request) Thread(parts []Part) *Thread {
	full := r.Extend(Message{Role: RoleAssistant, Parts: parts})
	return &Thread{Messages: full.Messages, chain: full.chain, hashed: full.hashed}
}

// Resume has the request go on with a conversation, in place of its messages.
func (r *Request) Resume(t *Thread) { r.Messages, r.chain, r.hashed = t.Messages, t.chain, t.hashed }

// Replace gives the request other messages.
func (r *Request) Replace(messages []Message) {
	r.Messages, r.chain, r.hashed = messages, [sha256.Size]byte{}, 0
}

// Reheaded has the digest of a copy computed anew, of which more than the messages differs. The
// requests that it was copied from keep theirs.
func (r *Request) Reheaded() { r.headed, r.known = false, nil }

// Since returns the messages after the last answer.
func (r *Request) Since() []Message {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == RoleAssistant {
			return r.Messages[i+1:]
		}
	}
	return r.Messages
}

// TakePictures returns the result's pictures, which it does not keep any longer.
func (r *ToolResult) TakePictures() []Image {
	pictures := r.Pictures
	r.Pictures = nil
	return pictures
}

// jsonRequest is what people and programs read of a request: types by name, and of a tool
// what the model is told of it. It is for watching, and is not read back.
type jsonRequest struct {
	Model      string      `json:"model,omitempty"`
	System     string      `json:"system,omitempty"`
	Messages   []Message   `json:"messages"`
	Tools      []ToolDef   `json:"tools,omitempty"`
	Choice     *ToolChoice `json:"choice,omitempty"`
	Output     string      `json:"output,omitempty"`
	Structured Structured  `json:"structured,omitempty"`
	Params     *Params     `json:"params,omitempty"`
	Fallbacks  []string    `json:"fallbacks,omitempty"`
}

// MarshalJSON encodes what the model is sent, with the output type by its name.
func (r *Request) MarshalJSON() ([]byte, error) {
	out := jsonRequest{Model: r.Model, System: r.System, Messages: r.Messages, Tools: r.Tools, Fallbacks: r.Fallbacks}
	if r.Output != nil {
		out.Output, out.Structured = r.Output.Type.String(), r.Output.Structured
	}
	if p := r.Params; p.sent() {
		out.Params = &p
	}
	if r.Choice != (ToolChoice{}) {
		out.Choice = &r.Choice
	}
	return json.Marshal(out)
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

// HeadCache holds the digest that the requests of an agent share.
type HeadCache struct{ last atomic.Pointer[headDigest] }

// CacheHead has the request take its digest from a cache, and put it there.
func (r *Request) CacheHead(c *HeadCache) { r.known = c }

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
	choice          ToolChoice
	effort          string
	reasoning       *int
	cache           bool
	parallel        *bool
	extra           *byte
	fallbacks       *string
	nExtra, nBack   int
}

func (r *Request) digestHead() [sha256.Size]byte {
	p := &r.Params
	key := headKey{r.Model, r.System, unsafe.SliceData(r.Tools), r.Output, p.Temperature, p.TopP, p.MaxTokens, p.Seed,
		unsafe.SliceData(p.Stop), len(r.Tools), len(p.Stop), r.Choice, p.Effort, p.ReasoningTokens, p.Cache, p.ParallelCalls,
		unsafe.SliceData(p.Extra), unsafe.SliceData(r.Fallbacks), len(p.Extra), len(r.Fallbacks)}
	if r.known != nil {
		if d := r.known.last.Load(); d != nil && d.of == key {
			return d.sum
		}
	}
	sum := sha256.Sum256(r.appendHead(make([]byte, 0, 512+len(r.System))))
	if r.known != nil {
		r.known.last.Store(&headDigest{key, sum})
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
		if t.Schema != "" {
			b = abi.AppendText(append(b, 's'), t.Schema)
		}
	}
	if r.Output != nil {
		b = r.Output.appendCanon(b)
	}
	// What is added to a request over time is written only when it is there: the digests of
	// requests without it stay as they were.
	if r.Choice != (ToolChoice{}) {
		b = abi.AppendText(abi.AppendText(append(b, 'c'), string(r.Choice.Mode)), r.Choice.Tool)
	}
	for _, m := range r.Fallbacks {
		b = abi.AppendText(append(b, 'f'), m)
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
	if p.Effort != "" {
		b = abi.AppendText(append(b, 'e'), p.Effort)
	}
	if p.ReasoningTokens != nil {
		b = strconv.AppendInt(append(b, 'r'), int64(*p.ReasoningTokens), 10)
	}
	if p.Cache {
		b = append(b, 'C')
	}
	if p.ParallelCalls != nil {
		b = strconv.AppendBool(append(b, 'p'), *p.ParallelCalls)
	}
	if len(p.Extra) > 0 {
		b = abi.AppendText(append(b, 'x'), string(p.Extra))
	}
	return b
}

// sent reports whether any parameter is.
func (p *Params) sent() bool {
	return p.Temperature != nil || p.TopP != nil || p.MaxTokens != nil || p.Seed != nil || p.Stop != nil || p.Effort != "" ||
		p.ReasoningTokens != nil || p.Cache || p.ParallelCalls != nil || len(p.Extra) > 0
}

func (m *Message) appendCanon(b []byte) []byte {
	b = append(b, m.Role...)
	for i := range m.Parts {
		p := &m.Parts[i]
		b = append(append(b, '/'), p.Kind...)
		b = abi.AppendText(b, p.Text)
		if p.Image != nil {
			b = abi.AppendText(abi.AppendText(b, p.Image.URL), p.Image.MIME)
		}
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
			if p.Result.Untrusted {
				b = append(b, 'u')
			}
		}
		if p.Opaque != nil {
			b = abi.AppendText(b, p.Opaque.Provider)
			b = abi.AppendText(b, p.Opaque.Data)
		}
	}
	return b
}
