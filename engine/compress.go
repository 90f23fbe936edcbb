package engine

import (
	"fmt"

	"github.com/agentscript/agentscript/internal/text"
)

// CompressHow is a way to shorten a conversation.
type CompressHow string

// The ways to shorten a conversation.
const (
	CompressWindow  CompressHow = "window"  // what is old is left out
	CompressSummary CompressHow = "summary" // a model sums up what is old
)

// Compression says when a conversation has become too long, and what is done about it. The newest
// messages and the agent's own input are kept as they are, and a call is never parted from its
// result. The system text is none of the messages.
type Compression struct {
	After  int // messages; 0: any number
	Tokens int // about, at 4 characters a token; 0: any number
	Keep   int // at least so many of the newest messages stay
	How    CompressHow
	Model  string // that sums up; "" is the agent's
}

// Defaults of a compression.
const (
	DefaultCompressAfter = 40
	DefaultCompressKeep  = 10
)

// dueFor says why a conversation is too long.
type dueFor uint8

const (
	notDue dueFor = iota
	dueMessages
	dueTokens
)

// due tells whether messages are too many or too long.
func (c *Compression) due(messages []Message) dueFor {
	switch {
	case c.After > 0 && len(messages) > c.After:
		return dueMessages
	case c.Tokens > 0 && tokensOf(messages) > int64(c.Tokens):
		return dueTokens
	}
	return notDue
}

// cut is where what is old ends: behind it stay at least Keep of the newest messages, less when
// they alone are too long, and more where a call would be parted from its result. The newest
// message always stays.
func (c *Compression) cut(messages []Message) int {
	at := max(len(messages)-max(c.Keep, 1), 0)
	for at > 0 && holds(&messages[at], PartResult) { // its call stands before it
		at--
	}
	for c.Tokens > 0 && tokensOf(messages[at:]) > int64(c.Tokens/2) {
		next := at + 1
		for next < len(messages) && holds(&messages[next], PartResult) {
			next++
		}
		if next == len(messages) {
			break
		}
		at = next
	}
	return at
}

// holds reports whether a message has a part of a kind.
func holds(m *Message, kind PartKind) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == kind {
			return true
		}
	}
	return false
}

// paired reports whether every call is answered by the message behind it, and every result
// answers a call of the message before it.
func paired(messages []Message) bool {
	open := map[string]int{} // calls without a result, by id
	for i := range messages {
		results := 0
		for j := range messages[i].Parts {
			if r := messages[i].Parts[j].Result; r != nil {
				if open[r.CallID] == 0 {
					return false
				}
				open[r.CallID]--
				if open[r.CallID] == 0 {
					delete(open, r.CallID)
				}
				results++
			}
		}
		if results == 0 && len(open) > 0 {
			return false
		}
		for j := range messages[i].Parts {
			if c := messages[i].Parts[j].Call; c != nil {
				open[c.ID]++
			}
		}
	}
	return len(open) == 0
}

// compressed is the request with a shorter conversation, where that has become too long.
func (t *turns) compressed(req *Request, turn int) (*Request, error) {
	if !t.sk.history.compresses() {
		return req, nil
	}
	c := t.sk.history.Compress
	why := c.due(req.Messages)
	if why == notDue {
		return req, nil
	}
	at := c.cut(req.Messages)
	old, own := req.Messages[:at], []Message(nil)
	if t.own < at { // the input is what it is all about
		own = req.Messages[t.own : t.own+1]
		old = append(append([]Message(nil), req.Messages[:t.own]...), req.Messages[t.own+1:at]...)
	}
	if len(old) < 2 || why == dueTokens && tokensOf(old) < int64(c.Tokens/4) {
		return req, nil // what would stand for it is hardly shorter
	}
	short, how, err := t.inShort(c, req, old, turn)
	if err != nil {
		return nil, err
	}
	next := *req
	next.replace(append(append([]Message{TextMessage(RoleUser, short)}, own...), req.Messages[at:]...))
	t.seen = 0
	t.own = max(t.own-at, 0) + 1
	if t.b.Wants(EventHistory) {
		t.b.emit(Event{Kind: EventHistory, Data: &HistoryData{t.a.Name, fmt.Sprintf("%s of %d %s", text.CountInWords(len(old), "message"), len(req.Messages), how)}})
	}
	return &next, nil
}
