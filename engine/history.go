package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// History says what an agent sees of what was said before its call. Without one each call begins
// anew.
//
// Agents that share their history go on with one conversation: each sees what those before it on
// its branch were asked, did and answered, and its own system text alone. Branches that run at once
// go on with the conversation as it was before them and do not see each other; after them it is as
// it was before them, and what they gave is in the input of what follows. What is tried and fails
// leaves nothing in it.
type History struct {
	Shared   bool         // with the agents before and after; else only Compress counts, in the agent's own turns
	Compress *Compression // of what has become too long; nil: never
}

// shared reports whether an agent goes on with the conversation.
func (h *History) shared() bool { return h != nil && h.Shared }

// compresses reports whether what has become too long is made shorter.
func (h *History) compresses() bool { return h != nil && h.Compress != nil }

// WithHistory gives a history to the agents of a node that have none of their own, the innermost
// structure first. It returns the node.
func (s *Session) WithHistory(at diag.Span, n *Node, h *History) *Node {
	switch {
	case s.Sealed():
		s.Errorf(diag.ComposedWhileRunning, at, "a history is given to %s while it runs", n.Label())
	case n.history != nil:
		d := s.Errorf(diag.WrongArgument, at, "%s has a history already", n.Label())
		NoteDefined(d, n)
		d.Helpf("say it once")
	default:
		n.history = h
	}
	return n
}

// History is what [Session.WithHistory] gave the node, nil for none.
func (n *Node) History() *History { return n.history }

// inherit settles the histories of a plan's agents.
func (s *step) inherit(h *History) {
	if s.node.History() != nil {
		h = s.node.History()
	}
	if s.agent != nil {
		own := s.agent.spec.History
		if own == nil {
			own = h
		}
		for _, sk := range s.agent.skills {
			sk.history = own
		}
	}
	for _, list := range [][]*step{s.kids, s.maps} {
		for _, k := range list {
			if k != nil {
				k.inherit(h)
			}
		}
	}
	if s.merge != nil {
		s.merge.inherit(h)
	}
}

// shares adds a call that has come to an answer to what agents share. Its frame is not to be one
// with that of [turns.run], on which parked runs stand.
//
//go:noinline
func (t *turns) shares(req *Request, parts []Part, err error) {
	if err == nil && t.sk.history.shared() {
		t.b.talk = req.thread(parts)
	}
}

// continued puts what was said before in front of an agent's first request.
func (t *turns) continued(req *Request) (*Request, error) {
	if c := t.b.talk; c != nil && t.sk.history.shared() {
		input := req.Messages
		if len(req.Tools) == 0 && hasCalls(c.messages) {
			req.replace(withoutCalls(c.messages))
		} else {
			req.resume(c)
		}
		t.own = len(req.Messages)
		req = req.Extend(input...)
	}
	return t.compressed(req, 0)
}

func hasCalls(messages []Message) bool {
	for i := range messages {
		for j := range messages[i].Parts {
			if k := messages[i].Parts[j].Kind; k == PartCall || k == PartResult {
				return true
			}
		}
	}
	return false
}

// withoutCalls tells of calls and results in words, for an agent that has no tools: providers
// refuse calls where no tool is declared. Thoughts belong to the calls and go with them.
func withoutCalls(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	for i := range messages {
		m := &messages[i]
		if !hasCalls(messages[i : i+1]) {
			out = append(out, *m)
			continue
		}
		said := Message{Role: m.Role}
		if m.Role == RoleTool {
			said.Role = RoleUser
		}
		for j := range m.Parts {
			switch p := m.Parts[j]; p.Kind {
			case PartReasoning:
			case PartCall:
				said.Parts = append(said.Parts, Part{Kind: PartText, Text: "(called " + p.Call.Name + " with " + p.Call.Args + ")"})
			case PartResult:
				said.Parts = append(said.Parts, Part{Kind: PartText, Text: "(" + p.Result.Name + " gave: " + p.Result.Text + ")"})
			default:
				p.Opaque = nil
				said.Parts = append(said.Parts, p)
			}
		}
		out = append(out, said)
	}
	return out
}

// transcriptKey is where a session keeps the conversation of its last run.
const transcriptKey = "transcript"

// transcriptFormat is the version of the form in which a session keeps a conversation.
const transcriptFormat = 1

// Transcript is a conversation as a session keeps it.
type Transcript struct {
	Format   int       `json:"format"`
	Messages []Message `json:"messages"`
}

// MaxTranscriptBytes bounds the conversation that a session keeps.
const MaxTranscriptBytes = 16 << 20

// ReadTranscript reads what a session keeps under "transcript".
func ReadTranscript(text string) (*Transcript, error) {
	var t Transcript
	if text == "" {
		return &t, nil
	}
	err := json.Unmarshal([]byte(text), &t)
	switch {
	case err != nil:
		return nil, Errorf(KindStore, diag.StoreFailed, "the session's conversation is damaged: %w", err).WithHelp("remove the session, or restore its store")
	case t.Format != transcriptFormat:
		return nil, Errorf(KindStore, diag.StoreFailed, "the session's conversation has format %d, and this version reads %d", t.Format, transcriptFormat).
			WithHelp("use the version of agentscript that wrote it, or another session")
	case !paired(t.Messages):
		return nil, Errorf(KindStore, diag.StoreFailed, "the session's conversation is damaged: a call has no result, or a result no call").WithHelp("remove the session, or restore its store")
	}
	return &t, nil
}

// transcriptRequest asks for the conversation of the session, or for keeping one.
type transcriptRequest struct {
	Op   MemoryOp `json:"op"`
	Text string   `json:"text,omitempty"`
}

// Digest implements [Payload].
func (r *transcriptRequest) Digest() [32]byte {
	return sha256.Sum256([]byte("transcript\x00" + string(r.Op) + "\x00" + r.Text))
}

// resume has the branch go on with the conversation of the session's last run.
func (b *branch) resume() error {
	if b.run.spec.Session == nil {
		return nil
	}
	if err := b.take(); err != nil {
		return err
	}
	text, err := b.transcript(MemoryRead, "")
	if err != nil {
		return err
	}
	t, err := ReadTranscript(text)
	if err != nil || len(t.Messages) == 0 {
		return err
	}
	b.talk = &thread{messages: t.Messages}
	b.run.resumed = b.talk
	return nil
}

// keep has the session keep the conversation that the run has come to. A run that fails leaves the
// session's as it was.
func (b *branch) keep() error {
	if b.run.spec.Session == nil || b.talk == nil || b.talk == b.run.resumed || b.run.spec.Session.Keep != nil && !b.run.spec.Session.Keep() {
		return nil
	}
	if err := b.run.events.err(); err != nil { // the run has failed by its listener
		return err
	}
	text, err := json.Marshal(&Transcript{transcriptFormat, lighter(b.talk.messages)})
	if err != nil {
		return Errorf(KindStore, diag.StoreFailed, "the conversation has no form that a session keeps: %w", err)
	}
	if len(text) > MaxTranscriptBytes {
		return Errorf(KindStore, diag.MemoryLimit, "the conversation has grown to %d bytes, and a session keeps %d", len(text), MaxTranscriptBytes).
			WithHelp("compress it: history = compress(after = 40)")
	}
	_, err = b.transcript(MemoryWrite, string(text))
	return err
}

func (b *branch) transcript(op MemoryOp, text string) (string, error) {
	e := (&inFlight{effect: Effect{Kind: EffectMemory, Name: "session", Run: b.RunID(), At: b.at.child("session", string(op), 0), Req: &transcriptRequest{op, text}, Class: ClassIdempotent}}).begin()
	out := b.own(e, func(ctx context.Context) Outcome {
		var at Entry
		open, err := b.run.notes().taken()
		switch {
		case err != nil:
		case op == MemoryRead:
			at, err = open.Load(ctx, transcriptKey)
		default:
			_, err = open.Save(ctx, transcriptKey, e.Run+"/"+e.ID(), text)
		}
		if err != nil {
			return Failed(storeFailed(err, string(op)+" the conversation"))
		}
		return Outcome{Value: generable.StrOf(at.Text), Attempt: 1}
	})
	if out.Err != nil {
		return "", out.Err
	}
	was, ok := out.Value.AsStr()
	if !ok {
		return "", Errorf(KindReplay, diag.ReplayMismatch, "what was recorded of the session's conversation is %s, want str", out.Value.TypeName())
	}
	return was, nil
}

// lighter leaves out pictures that are in the messages themselves: they would be kept with
// every run that follows.
func lighter(messages []Message) []Message {
	var out []Message
	for i := range messages {
		for j, p := range messages[i].Parts {
			if p.Kind != PartImage || p.Image == nil || !strings.HasPrefix(p.Image.URL, "data:") {
				continue
			}
			if out == nil {
				out = append(out, messages...)
			}
			parts := append([]Part(nil), out[i].Parts...)
			parts[j] = Part{Kind: PartText, Text: "(a picture was shown here)"}
			out[i].Parts = parts
		}
	}
	if out == nil {
		return messages
	}
	return out
}
