package model

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/agentscript/agentscript/generable"
)

// Thread is a conversation so far, with the digest of it. It never changes, so that branches fork
// it at no cost.
type Thread struct {
	Messages []Message
	Given    *generable.Value  // what the last answer came to, in this run; nil when that is not known
	chain    [sha256.Size]byte // as of a Request
	hashed   int32
}

// Thread returns the conversation of a request, with the answer to it.
func (r *Request) Thread(parts []Part) *Thread {
	full := r.Extend(Message{Role: RoleAssistant, Parts: parts})
	return &Thread{Messages: full.Messages, chain: full.chain, hashed: full.hashed}
}

// Resume has the request go on with a conversation, in place of its messages.
func (r *Request) Resume(t *Thread) {
	r.Messages, r.chain, r.hashed, r.passed = t.Messages, t.chain, t.hashed, 0
}

// Replace replaces the messages of the request.
func (r *Request) Replace(messages []Message) {
	r.Messages, r.chain, r.hashed, r.passed = messages, [sha256.Size]byte{}, 0, 0
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
// what the model sees of it. It is for watching, and is not read back.
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
