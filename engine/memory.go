package engine

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// MemoryBank is a place for notes, declared by a script and shared by runs. Each agent that is
// given the bank has a slot of its own in it, by its name, and sees no other.
type MemoryBank struct {
	Name string
	// Session keeps the notes in the run's session, for the runs that follow; else they end with
	// the run.
	Session bool
	// Shared gives all agents one slot.
	Shared bool
	// MaxLines and MaxTokens keep the last lines alone: so many, or as many as have together about
	// so many tokens, at 4 characters a token. 0 keeps all.
	MaxLines, MaxTokens int
}

// MaxMemoryBytes bounds one slot of a bank, and so what one write may hold.
const MaxMemoryBytes = 1 << 20

// MemoryOp is what is done with a slot.
type MemoryOp string

// The operations on a slot.
const (
	MemoryRead   MemoryOp = "read"   // gives the text, "" when there is none
	MemoryWrite  MemoryOp = "write"  // replaces the text
	MemoryAppend MemoryOp = "append" // adds lines at the end
	MemorySearch MemoryOp = "search" // gives the lines that hold a text, upper and lower case alike
)

// writes reports whether an operation changes the slot.
func (o MemoryOp) writes() bool { return o == MemoryWrite || o == MemoryAppend }

// MemoryRequest asks for one operation on a slot of a bank.
type MemoryRequest struct {
	Op        MemoryOp `json:"op"`
	Bank      string   `json:"bank"`
	Session   bool     `json:"session,omitempty"`
	Slot      string   `json:"slot,omitempty"` // the agent's name; "" is the script's own, or the one of a shared bank
	Text      string   `json:"text,omitempty"` // what is written, added or looked for
	MaxLines  int      `json:"max_lines,omitempty"`
	MaxTokens int      `json:"max_tokens,omitempty"`
}

// Digest implements [Payload].
func (r *MemoryRequest) Digest() [32]byte {
	b := abi.AppendText([]byte(r.Op), r.Bank)
	b = abi.AppendText(abi.AppendText(b, r.Slot), r.Text)
	if r.Session {
		b = append(b, 's')
	}
	return abi.Hash(appendInts(b, r.MaxLines, r.MaxTokens))
}

// key is where the slot stands among the entries of a session, or of the run.
func (r *MemoryRequest) key() string { return "memory/" + r.Bank + "/" + r.Slot }

// memoryEntryType is the schema of what a memory effect comes to: the entry as the operation left
// it, and what it gives. The version tells the order of operations apart from that of positions.
var memoryEntryType = &generable.Type{Kind: generable.RecordType, Name: "MemoryEntry", Fields: []generable.Field{
	{Name: "key", Type: generable.StrT},
	{Name: "version", Type: generable.IntT},
	{Name: "text", Type: generable.StrT},
	{Name: "gives", Type: generable.StrT},
}}

// Memory does one operation on a slot of a bank, and gives the text that was read, the lines that
// were found, or the text that a write has left. It is an effect: a replay gives what was recorded.
// The slot is an agent's name, or "" for the script's own; a shared bank has the slot "" alone.
func Memory(b Branch, m *MemoryBank, op MemoryOp, slot, text string) (string, error) {
	return b.(*branch).memory(m, op, slot, text)
}

func (b *branch) memory(m *MemoryBank, op MemoryOp, slot, text string) (string, error) {
	if err := b.sched.Err(); err != nil {
		return "", b.locate(err, nil)
	}
	req := &MemoryRequest{op, m.Name, m.Session, slot, text, m.MaxLines, m.MaxTokens}
	e := (&inFlight{effect: Effect{Kind: EffectMemory, Name: m.Name, Agent: slot, Run: b.RunID(), At: b.place("memory", string(op)), Req: req, Class: ClassIdempotent}}).begin()
	if !op.writes() {
		e.Class = ClassRead
	}
	out := b.own(e, func(ctx context.Context) Outcome { return b.run.remember(ctx, e, req) })
	if out.Err != nil {
		return "", b.locate(out.Err, nil)
	}
	v, err := converted(out.Value, memoryEntryType, "what was recorded of memory "+strconv.Quote(m.Name))
	if err != nil {
		return "", err
	}
	r, _ := v.AsRecord()
	key, _ := r.At(0).AsStr()
	version, _ := r.At(1).AsInt()
	left, _ := r.At(2).AsStr()
	gives, _ := r.At(3).AsStr()
	if !m.Session {
		b.run.notes().recall(key, Entry{left, version})
	}
	return gives, nil
}

// own is an effect that the engine carries out itself: no handler of the host sees it. The answer
// comes from the journal, where there is one that knows it.
func (b *branch) own(e *Effect, do func(context.Context) Outcome) Outcome {
	j := b.run.spec.Journal
	if j != nil {
		if out, known := j.Answer(e.ID()); known {
			b.replayed(e, &ask{}, &out)
			return out
		}
	}
	b.tell(e, PhaseStart, nil, false)
	out := b.sched.Do(HandlerFunc(func(ctx context.Context, e *Effect, _ Sink) Outcome {
		out := (&catching{HandlerFunc(func(ctx context.Context, _ *Effect, _ Sink) Outcome { return do(ctx) })}).Do(ctx, e, nil)
		if j == nil {
			return out
		}
		return commit(ctx, j, e, out)
	}), e, nil)
	if out.Err != nil {
		if why := b.sched.Err(); why != nil { // the caller or a sibling stopped it
			out.Err = asError(why)
		}
	}
	b.tell(e, PhaseEnd, &out, false)
	return out
}

// remember carries out a memory effect: one at a time of a run, whose order is that of the versions.
func (r *run) remember(ctx context.Context, e *Effect, req *MemoryRequest) Outcome {
	notes := r.notes()
	notes.mu.Lock()
	defer notes.mu.Unlock()
	var at OpenSession = notes.opened(r.spec.Journal)
	if req.Session {
		if at = notes.session; at == nil {
			return Failed(noSession(req.Bank))
		}
	}
	if req.Op.writes() {
		if why := unwritable(req); why != nil {
			return Failed(why)
		}
	}
	was, err := at.Load(ctx, req.key())
	if err != nil {
		return Failed(storeFailed(err, "read memory "+strconv.Quote(req.Bank)))
	}
	now := was
	if req.Op.writes() {
		text := req.kept(was.Text)
		if len(text) > MaxMemoryBytes {
			return Failed(tooMuch(req, len(text)))
		}
		if now, err = at.Save(ctx, req.key(), e.Run+"/"+e.ID(), text); err != nil {
			return Failed(storeFailed(err, "write memory "+strconv.Quote(req.Bank)))
		}
	}
	gives := now.Text
	if req.Op == MemorySearch {
		gives = found(now.Text, req.Text)
	}
	return Outcome{Attempt: 1, Value: generable.NewRecord(memoryEntryType, []generable.Value{
		generable.StrOf(req.key()), generable.IntOf(now.Version), generable.StrOf(now.Text), generable.StrOf(gives)}).Value()}
}

// noSession is a mistake of whoever began the run, which no model can mend.
func noSession(bank string) *Error {
	e := Errorf(KindInput, diag.NoSession, "memory %q is kept in a session, and the run has none", bank).
		WithHelp("name one with --session ID, or let it end with the run: memory(%q)", bank)
	e.OfRun = true
	return e
}

// unwritable is what speaks against a text, whoever wrote it: a model may write another one.
func unwritable(req *MemoryRequest) *Error {
	switch {
	case len(req.Text) > MaxMemoryBytes:
		return tooMuch(req, len(req.Text))
	case !utf8.ValidString(req.Text):
		return Errorf(KindTool, diag.MemoryLimit, "memory %q takes text, and what was to be written is no UTF-8", req.Bank).
			WithHelp("write text; encode other data first")
	}
	return nil
}

func tooMuch(req *MemoryRequest, n int) *Error {
	return Errorf(KindTool, diag.MemoryLimit, "memory %q takes %d bytes, and %s would make it %d", req.Bank, MaxMemoryBytes, req.Op, n).
		WithHelp("write less, or have the oldest lines dropped: memory(%q, max_lines = 200)", req.Bank)
}

// storeFailed makes an error of a store typed.
func storeFailed(err error, what string) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Errorf(KindStore, diag.StoreFailed, "the session's store did not %s: %w", what, err).
		WithHelp("see that the store can be read and written")
}

// kept is what a write leaves of the text that was there and the text that it brings.
func (r *MemoryRequest) kept(was string) string {
	text := r.Text
	if r.Op == MemoryAppend && was != "" {
		text = strings.TrimSuffix(was, "\n") + "\n" + text
	}
	if r.MaxLines > 0 {
		text = lastLines(text, r.MaxLines)
	}
	if r.MaxTokens > 0 {
		text = lastBytes(text, r.MaxTokens)
	}
	return text
}

// lastLines gives the last n lines of a text.
func lastLines(text string, n int) string {
	at := len(strings.TrimSuffix(text, "\n"))
	for ; n > 0; n-- {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}

// lastBytes gives the last lines of a text that are at most about so many tokens, and of one line
// that is longer its end.
func lastBytes(text string, tokens int) string {
	if utf8.RuneCountInString(text) <= tokens*charsPerToken {
		return text
	}
	at, left := len(text), tokens*charsPerToken
	for ; left > 0 && at > 0; left-- {
		_, n := utf8.DecodeLastRuneInString(text[:at])
		at -= n
	}
	if text[at-1] == '\n' {
		return text[at:]
	}
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 && i+1 < len(text[at:]) {
		at += i + 1
	}
	return text[at:]
}

// charsPerToken is the estimate where no model has counted.
const charsPerToken = 4

// found gives the lines of a text that hold a query.
func found(text, query string) string {
	query = strings.ToLower(query)
	var hits []string
	for line := range lines(text) {
		if strings.Contains(strings.ToLower(line), query) {
			hits = append(hits, line)
		}
	}
	return strings.Join(hits, "\n")
}

// lines are the lines of a text that hold something.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" && !yield(line) {
				return
			}
		}
	}
}
