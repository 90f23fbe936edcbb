package engine

import "crypto/sha256"

// thread is a conversation so far, with the digest of it. It never changes, so that branches fork
// it at no cost.
type thread struct {
	messages []Message
	chain    [sha256.Size]byte // as of a Request
	hashed   int
}

// thread returns the conversation of a request, with the answer to it.
func (r *Request) thread(parts []Part) *thread {
	full := r.Extend(Message{Role: RoleAssistant, Parts: parts})
	return &thread{messages: full.Messages, chain: full.chain, hashed: full.hashed}
}

// resume has the request go on with a conversation, in place of its messages.
func (r *Request) resume(t *thread) { r.Messages, r.chain, r.hashed = t.messages, t.chain, t.hashed }

// replace gives the request other messages.
func (r *Request) replace(messages []Message) {
	r.Messages, r.chain, r.hashed = messages, [sha256.Size]byte{}, 0
}

// reheaded has the digest of a copy computed anew, of which more than the messages differs. The
// requests that it was copied from keep theirs.
func (r *Request) reheaded() { r.headed, r.known = false, nil }

// since returns the messages after the last answer.
func (r *Request) since() []Message {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == RoleAssistant {
			return r.Messages[i+1:]
		}
	}
	return r.Messages
}

// keepPictures keeps what a tool gave beside its text, until it stands in a message.
func (r *ToolResult) keepPictures(pictures []Image) { r.pictures = pictures }

// takePictures returns the pictures that were kept, which the result does not keep any longer.
func (r *ToolResult) takePictures() []Image {
	pictures := r.pictures
	r.pictures = nil
	return pictures
}
