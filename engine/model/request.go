package model

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/agentscript/agentscript/generable"
)

// Thread is a conversation so far, with its digest. It is immutable, so branches fork it at no cost.
type Thread struct {
	Messages []Message
	Given    *generable.Value  // the value of the last answer in this run; nil if it is not known
	chain    [sha256.Size]byte // as of a Request
	hashed   int32
}

// Thread returns the conversation of a request including the answer to it.
func (r *Request) Thread(parts []Part) *Thread {
	full := r.Extend(Message{Role: RoleAssistant, Parts: parts})
	return &Thread{Messages: full.Messages, chain: full.chain, hashed: full.hashed}
}

// Resume makes the request continue a conversation, in place of its messages.
func (r *Request) Resume(t *Thread) {
	r.Messages, r.chain, r.hashed, r.passed = t.Messages, t.chain, t.hashed, 0
}

// Replace replaces the messages of the request.
func (r *Request) Replace(messages []Message) {
	r.Messages, r.chain, r.hashed, r.passed = messages, [sha256.Size]byte{}, 0, 0
}

// Reheaded discards the cached head digest of a copied request in which more than the messages changed. The original
// request keeps its digest.
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

// TakePictures returns the result's pictures and removes them from it.
func (r *ToolResult) TakePictures() []Image {
	pictures := r.Pictures
	r.Pictures = nil
	return pictures
}

// jsonRequest is the form of a request for people and programs: types by name, and only the part of a tool that the
// model sees. It is for observation and is not read back.
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

// MarshalJSON encodes what is sent to the model, with the output type by name.
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
