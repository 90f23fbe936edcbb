package run

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// paired reports whether every call is answered by the message behind it, and every result
// answers a call of the message before it.
func paired(messages []model.Message) bool {
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

// transcriptKey is where a session keeps the conversation of its last run.
const transcriptKey = "transcript"

// transcriptFormat is the version of the form in which a session keeps a conversation.
const transcriptFormat = 1

// Transcript is a conversation as a session keeps it.
type Transcript struct {
	Format   int             `json:"format"`
	Messages []model.Message `json:"messages"`
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
		return nil, engine.Errorf(engine.KindStore, diag.StoreFailed, "the session's conversation is damaged: %w", err).WithHelp("remove the session, or restore its store")
	case t.Format != transcriptFormat:
		return nil, engine.Errorf(engine.KindStore, diag.StoreFailed, "the session's conversation has format %d, and this version reads %d", t.Format, transcriptFormat).
			WithHelp("use the version of agentscript that wrote it, or another session")
	case !paired(t.Messages):
		return nil, engine.Errorf(engine.KindStore, diag.StoreFailed, "the session's conversation is damaged: a call has no result, or a result no call").WithHelp("remove the session, or restore its store")
	}
	return &t, nil
}

// transcriptRequest asks for the conversation of the session, or for keeping one.
type transcriptRequest struct {
	Op   agent.MemoryOp `json:"op"`
	Text string         `json:"text,omitempty"`
}

// Digest implements [engine.Payload].
func (r *transcriptRequest) Digest() [32]byte {
	return sha256.Sum256([]byte("transcript\x00" + string(r.Op) + "\x00" + r.Text))
}

// resume has the branch go on with the conversation of the session's last run.
func resume(b *exec.Branch) error {
	if b.Run.Spec.Session == nil {
		return nil
	}
	if err := openSession(b); err != nil {
		return err
	}
	text, err := transcript(b, agent.MemoryRead, "")
	if err != nil {
		return err
	}
	t, err := ReadTranscript(text)
	if err != nil || len(t.Messages) == 0 {
		return err
	}
	for i := range t.Messages[1:] { // a session keeps each message whole
		if before, m := &t.Messages[i], &t.Messages[i+1]; before.Role == model.RoleAssistant && m.Role == model.RoleUser && len(m.Parts) == 1 &&
			m.Parts[0].Text != "" && m.Parts[0].Text == (&model.Response{Parts: before.Parts}).Text() {
			m.HandOver(m.Parts[0].Text)
		}
	}
	b.Thread = &model.Thread{Messages: t.Messages}
	b.Run.Resumed = b.Thread
	return nil
}

// keep has the session keep the conversation that the run has come to. A run that fails leaves the
// session's as it was.
func keep(b *exec.Branch) error {
	if b.Run.Spec.Session == nil || b.Thread == nil || b.Thread == b.Run.Resumed || b.Run.Spec.Session.Keep != nil && !b.Run.Spec.Session.Keep() {
		return nil
	}
	if err := b.Run.Events.Err(); err != nil { // the run has failed by its listener
		return err
	}
	text, err := json.Marshal(&Transcript{transcriptFormat, lighter(b.Thread.Messages)})
	if err != nil {
		return engine.Errorf(engine.KindStore, diag.StoreFailed, "the conversation has no form that a session keeps: %w", err)
	}
	if len(text) > MaxTranscriptBytes {
		return engine.Errorf(engine.KindStore, diag.MemoryLimit, "the conversation has grown to %d bytes, and a session keeps %d", len(text), MaxTranscriptBytes).
			WithHelp("compress it: history = compress(after = 40)")
	}
	_, err = transcript(b, agent.MemoryWrite, string(text))
	return err
}

func transcript(b *exec.Branch, op agent.MemoryOp, text string) (string, error) {
	text = b.Run.Secrets.Text(text)
	e := (&exec.InFlight{Effect: engine.Effect{Kind: engine.EffectMemory, Name: "session", Run: b.RunID(), At: b.At.Child("session", string(op), 0), Req: &transcriptRequest{op, text}, Class: engine.ClassIdempotent}}).Begin()
	out := b.Own(e, func(ctx context.Context) engine.Outcome {
		var at engine.Entry
		open, err := b.Run.Notes().Taken()
		switch {
		case err != nil:
		case op == agent.MemoryRead:
			at, err = open.Load(ctx, transcriptKey)
		default:
			_, err = open.Save(ctx, transcriptKey, e.Run+"/"+e.ID(), text)
		}
		if err != nil {
			return engine.Failed(exec.StoreFailed(err, string(op)+" the conversation"))
		}
		return engine.Outcome{Value: generable.StrOf(at.Text), Attempt: 1}
	})
	if out.Err != nil {
		return "", out.Err
	}
	was, ok := out.Value.AsStr()
	if !ok {
		return "", engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "what was recorded of the session's conversation is %s, want str", out.Value.TypeName())
	}
	return was, nil
}

// lighter has each message stand by itself, and leaves out pictures and sounds that are in the messages themselves: they would be
// kept with every run that follows.
func lighter(whole []model.Message) []model.Message {
	messages := text.Each(whole, model.Message.Whole)
	for i := range messages {
		heavy := func(p model.Part) bool {
			return p.Kind == model.PartAudio || p.Kind == model.PartImage && p.Image != nil && strings.HasPrefix(p.Image.URL, "data:")
		}
		if !slices.ContainsFunc(messages[i].Parts, heavy) {
			continue
		}
		said := model.TextIn(messages[i].Parts) != ""
		var parts []model.Part
		for _, p := range messages[i].Parts {
			switch {
			case !heavy(p):
				parts = append(parts, p)
			case p.Kind == model.PartImage:
				parts = append(parts, model.Part{Kind: model.PartText, Text: "(a picture was shown here)"})
			case !said: // else the text is its transcript
				parts = append(parts, model.Part{Kind: model.PartText, Text: "(this was said aloud)"})
			}
		}
		messages[i].Parts = parts
	}
	return messages
}

// openSession opens the session of the run. It is no effect: a replay needs the session itself, too.
func openSession(b *exec.Branch) error {
	s := b.Run.Spec.Session
	if s.Store == nil {
		return engine.Errorf(engine.KindConfig, diag.NoSession, "session %q has no store", s.ID).WithHelp("give it one: session.Memory, or a file of engine/store/sqlite")
	}
	if err := session.CheckID(s.ID); err != nil {
		return err
	}
	out := b.Sched.Do(&exec.Catching{H: engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
		open, err := s.Store.OpenSession(ctx, s.ID, s.Script)
		if err != nil {
			return engine.Failed(exec.StoreFailed(err, "open session "+strconv.Quote(s.ID)))
		}
		notes := b.Run.Notes()
		notes.Mu.Lock()
		defer notes.Mu.Unlock()
		notes.Session = open
		return engine.Outcome{Attempt: 1}
	})}, (&exec.InFlight{Effect: engine.Effect{Kind: engine.EffectMemory, Name: "session", Run: b.RunID(), At: b.At.Child("session", "open", 0), Req: &transcriptRequest{}}}).Begin(), nil)
	if out.Err != nil {
		return out.Err
	}
	return nil
}
