package run

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
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

// paired reports whether the message after each call answers it, and each result answers a call of the message before
// it.
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

// transcriptFormat is the version of the format in which a session keeps a conversation.
const transcriptFormat = 1

// Transcript is a conversation in the form in which a session keeps it.
type Transcript struct {
	Format   int             `json:"format"`
	Messages []model.Message `json:"messages"`
}

// MaxTranscriptBytes is the maximum size of a conversation that a session keeps.
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

// transcriptRequest asks for the conversation of the session, or asks the session to keep one.
type transcriptRequest struct {
	Op   agent.MemoryOp `json:"op"`
	Text string         `json:"text,omitempty"`
}

// Digest implements [engine.Payload].
func (r *transcriptRequest) Digest() [32]byte {
	return sha256.Sum256([]byte("transcript\x00" + string(r.Op) + "\x00" + r.Text))
}

// resume lets the branch continue the conversation of the session's last run.
func resume(b *exec.Branch) error {
	if b.Run.Spec.Session == nil {
		return nil
	}
	if err := openSession(b); err != nil {
		return err
	}
	var text string
	if s := b.Run.Spec.Session; s.Deferred() {
		text = s.Found.Entries[session.TranscriptKey]
	} else {
		var err error
		if text, err = transcript(b, agent.MemoryRead, ""); err != nil {
			return err
		}
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

// keep saves the run's final conversation in the session. A run that fails leaves the session's conversation
// unchanged.
func keep(b *exec.Branch) error {
	s := b.Run.Spec.Session
	said := b.Thread != nil && b.Thread != b.Run.Resumed
	if s == nil || s.Unsaved() || !said && !s.Deferred() || s.Keep != nil && !s.Keep() {
		return nil
	}
	if err := b.Run.Events.Err(); err != nil { // the run has failed because of its listener
		return err
	}
	var text string
	if said {
		var err error
		if text, err = written(lighter(b.Thread.Messages)); err != nil {
			return err
		}
	}
	if s.Deferred() {
		return saveDeferred(b, text)
	}
	_, err := transcript(b, agent.MemoryWrite, text)
	return err
}

// takeDeferred takes a session that another process keeps.
func takeDeferred(b *exec.Branch) error {
	s := b.Run.Spec.Session
	out := b.Do(effectOf(b, session.OpTake, &session.Request{Op: session.OpTake, ID: s.ID, Script: s.Script}), nil)
	if out.Err != nil {
		return out.Err
	}
	held, err := session.ReadTaken(out.Value)
	if err != nil {
		return err
	}
	s.Hold(held)
	b.Run.Notes().Begin(s.Found.Entries)
	return nil
}

// saveDeferred lets the process that keeps the session save what the run changed: its notes and, unless transcript is
// "", its conversation.
func saveDeferred(b *exec.Branch, transcript string) error {
	s := b.Run.Spec.Session
	changed := b.Run.Notes().OfSession()
	if transcript != "" {
		changed[session.TranscriptKey] = transcript
	}
	entries := map[string]engine.Entry{}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		if text := b.Run.Secrets.Text(changed[key]); text != s.Found.Entries[key] {
			entries[key] = engine.Entry{Text: text, Version: s.Versions[key]}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	req := &session.Request{Op: session.OpSave, ID: s.ID, Script: s.Script, Entries: entries}
	if out := b.Do(effectOf(b, session.OpSave, req), nil); out.Err != nil {
		return out.Err
	}
	return nil
}

// effectOf returns the effect of an operation on the session.
func effectOf(b *exec.Branch, op string, req engine.Payload) *engine.Effect {
	return (&exec.InFlight{Effect: engine.Effect{Kind: engine.EffectMemory, Name: "session", Run: b.RunID(), At: b.At.Child("session", op, 0), Req: req, Class: engine.ClassIdempotent}}).Begin()
}

func transcript(b *exec.Branch, op agent.MemoryOp, text string) (string, error) {
	text = b.Run.Secrets.Text(text)
	e := effectOf(b, string(op), &transcriptRequest{op, text})
	out := b.Own(e, func(ctx context.Context) engine.Outcome {
		is := ""
		var err error
		if op == agent.MemoryRead {
			is, err = found(ctx, b)
		} else {
			err = save(ctx, b, e.Run+"/"+e.ID(), text)
		}
		if err != nil {
			return engine.Failed(exec.StoreFailed(err, string(op)+" the conversation"))
		}
		return engine.Outcome{Value: generable.StrOf(is), Attempt: 1}
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

// lighter makes each message independent of the others, and leaves out pictures and sounds that are embedded in
// messages: they would be kept again with every later run.
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
			case !said: // otherwise the text is its transcript
				parts = append(parts, model.Part{Kind: model.PartText, Text: "(this was said aloud)"})
			}
		}
		messages[i].Parts = parts
	}
	return messages
}

// openSession opens the session of the run. Unless another process keeps the session, that is not an effect: a replay
// needs the session itself, too.
func openSession(b *exec.Branch) error {
	s, notes := b.Run.Spec.Session, b.Run.Notes()
	if s.Deferred() {
		return takeDeferred(b)
	}
	if s.Unsaved() {
		notes.Begin(s.Found.Entries)
		return nil
	}
	if s.Store == nil {
		return engine.Errorf(engine.KindConfig, diag.NoSession, "session %q has no store", s.ID).WithHelp("set one: session.Memory, or a file of engine/store/sqlite")
	}
	if err := session.CheckID(s.ID); err != nil {
		return err
	}
	out := b.Sched.Do(&exec.Catching{H: engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
		open, err := s.Open(ctx, b.RunID())
		if err != nil {
			return engine.Failed(exec.StoreFailed(err, "open session "+strconv.Quote(s.ID)))
		}
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

// found returns the conversation that the run continues.
func found(ctx context.Context, b *exec.Branch) (string, error) {
	if was := b.Run.Spec.Session.Found; was != nil {
		return was.Entries[session.TranscriptKey], nil
	}
	open, err := b.Run.Notes().Taken()
	if err != nil {
		return "", err
	}
	at, err := open.Load(ctx, session.TranscriptKey)
	return at.Text, err
}

// save saves the conversation of the run under its idempotency key. While the run was stopped, other runs of the
// session may have continued the conversation: what they said stays, and what this run adds comes after it.
func save(ctx context.Context, b *exec.Branch, key, text string) error {
	open, err := b.Run.Notes().Taken()
	if err != nil {
		return err
	}
	if was := b.Run.Spec.Session.Found; was != nil && !was.Back {
		now, err := open.Load(ctx, session.TranscriptKey)
		if err != nil {
			return err
		}
		if now.Text != "" && now.Text != was.Entries[session.TranscriptKey] {
			if text, err = behind(now.Text, was.Entries[session.TranscriptKey], text); err != nil {
				return err
			}
		}
	}
	_, err = open.Save(ctx, session.TranscriptKey, key, text)
	return err
}

// behind appends to the conversation now what the run has added to the conversation found. If the run has shortened
// that conversation, its own replaces everything.
func behind(now, found, text string) (string, error) {
	var all [3]*Transcript
	for i, text := range []string{now, found, text} {
		var err error
		if all[i], err = ReadTranscript(text); err != nil {
			return "", err
		}
	}
	n := len(all[1].Messages)
	if len(all[2].Messages) < n || !sameMessages(all[1].Messages, all[2].Messages[:n]) {
		return text, nil
	}
	return written(append(all[0].Messages, all[2].Messages[n:]...))
}

func sameMessages(a, b []model.Message) bool {
	was, err1 := json.Marshal(a)
	is, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(was) == string(is)
}

// written returns a conversation in the form in which a session keeps it.
func written(messages []model.Message) (string, error) {
	text, err := json.Marshal(&Transcript{transcriptFormat, messages})
	if err != nil {
		return "", engine.Errorf(engine.KindStore, diag.StoreFailed, "the conversation has no form that a session keeps: %w", err)
	}
	if len(text) > MaxTranscriptBytes {
		return "", engine.Errorf(engine.KindStore, diag.MemoryLimit, "the conversation has grown to %d bytes, and a session keeps %d", len(text), MaxTranscriptBytes).
			WithHelp("compress it: history = compress(after = 40)")
	}
	return string(text), nil
}
