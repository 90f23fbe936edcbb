package exec

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
)

// memoryRequest asks for one operation on a slot of a bank.
type memoryRequest struct {
	Op        agent.MemoryOp `json:"op"`
	Bank      string         `json:"bank"`
	Session   bool           `json:"session,omitempty"`
	Slot      string         `json:"slot,omitempty"` // the agent's name; "" is the script's own slot, or that of a shared bank
	Text      string         `json:"text,omitempty"` // the text to write, append or search for
	MaxLines  int            `json:"max_lines,omitempty"`
	MaxTokens int            `json:"max_tokens,omitempty"`
}

// Digest implements [engine.Payload].
func (r *memoryRequest) Digest() [32]byte {
	b := abi.AppendText([]byte(r.Op), r.Bank)
	b = abi.AppendText(abi.AppendText(b, r.Slot), r.Text)
	if r.Session {
		b = append(b, 's')
	}
	return abi.Hash(appendInts(b, r.MaxLines, r.MaxTokens))
}

// Rewritten implements [redact.Rewritten].
func (r *memoryRequest) Rewritten(f func(string) string) engine.Payload {
	own := *r
	own.Bank, own.Slot, own.Text = f(r.Bank), f(r.Slot), f(r.Text)
	return &own
}

// key returns the slot's key among the entries of a session, or of the run.
func (r *memoryRequest) key() string { return "memory/" + r.Bank + "/" + r.Slot }

// MemoryEntryType is the schema of the result of a memory effect: the entry after the operation, and what the operation
// returns. The version orders operations, whatever their positions.
var MemoryEntryType = &generable.Type{Kind: generable.RecordType, Name: "MemoryEntry", Fields: []generable.Field{
	{Name: "key", Type: generable.StrT},
	{Name: "version", Type: generable.IntT},
	{Name: "text", Type: generable.StrT},
	{Name: "gives", Type: generable.StrT},
}}

func (b *Branch) Memory(m *agent.MemoryBank, op agent.MemoryOp, slot, text string) (string, error) {
	if err := b.Sched.Err(); err != nil {
		return "", b.Locate(err, nil)
	}
	req := &memoryRequest{op, m.Name, m.Session, slot, b.Run.Secrets.Text(text), m.MaxLines, m.MaxTokens}
	e := (&InFlight{Effect: engine.Effect{Kind: engine.EffectMemory, Name: m.Name, Agent: slot, Run: b.RunID(), At: b.place("memory", string(op)), Req: req, Class: engine.ClassIdempotent}}).Begin()
	if !op.Writes() {
		e.Class = engine.ClassRead
	}
	out := b.Own(e, func(ctx context.Context) engine.Outcome { return b.Run.remember(ctx, e, req) })
	if out.Err != nil {
		return "", b.Locate(out.Err, nil)
	}
	key, left, gives, err := readMemory(out.Value, "what was recorded of memory "+strconv.Quote(m.Name))
	if err == nil && b.Run.passing(m.Session) {
		b.Run.Notes().recall(key, left, m.Session)
	}
	return gives, err
}

// readMemory reads a value of [MemoryEntryType].
func readMemory(v generable.Value, who string) (key string, left engine.Entry, gives string, err error) {
	if v, err = Converted(v, MemoryEntryType, who); err != nil {
		return "", left, "", err
	}
	r, _ := v.AsRecord()
	key, _ = r.At(0).AsStr()
	left.Version, _ = r.At(1).AsInt()
	left.Text, _ = r.At(2).AsStr()
	gives, _ = r.At(3).AsStr()
	return key, left, gives, nil
}

// Own runs an effect that the engine executes itself: no handler of the host sees it. If the journal has recorded it,
// the answer is the recorded one.
func (b *Branch) Own(e *engine.Effect, do func(context.Context) engine.Outcome) (out engine.Outcome) {
	if b.recalled(e, &Ask{}, &out) {
		return out
	}
	b.emitEffect(e, engine.PhaseStart, nil, false)
	out = b.carriedOut(e, do)
	b.emitEffect(e, engine.PhaseEnd, &out, false)
	return out
}

// OwnAndWait is Own for an effect whose outcome says what the branch waits for after it is recorded, in this run and in
// every replay. The default time limit of agents is stopped during the wait, as for a decision by a person.
func (b *Branch) OwnAndWait(e *engine.Effect, do func(context.Context) engine.Outcome, wait func(*engine.Outcome) error) engine.Outcome {
	out, known := b.Known(e)
	b.emitEffect(e, engine.PhaseStart, nil, known)
	if known {
		b.extended(e)
	} else {
		out = b.carriedOut(e, do)
	}
	if out.Err == nil {
		b.stopClocks(1)
		err := wait(&out)
		b.stopClocks(-1)
		if err != nil {
			out.Err = engine.AsError(err)
		}
	}
	b.emitEffect(e, engine.PhaseEnd, &out, known)
	return out
}

// carriedOut executes an effect of the engine and records its outcome.
func (b *Branch) carriedOut(e *engine.Effect, do func(context.Context) engine.Outcome) engine.Outcome {
	own := engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome { return do(ctx) })
	out := b.Sched.Do(effectSide(own, b.Run.Spec.Journal, b.Run.Secrets), e, nil)
	if out.Err != nil {
		if why := b.Sched.Err(); why != nil { // the caller or a sibling stopped it
			out.Err = engine.AsError(why)
		}
	}
	return out
}

// remember executes a memory effect. A run executes one at a time, and the versions follow that order.
func (r *Run) remember(ctx context.Context, e *engine.Effect, req *memoryRequest) engine.Outcome {
	notes := r.Notes()
	notes.Mu.Lock()
	defer notes.Mu.Unlock()
	var at engine.OpenSession = notes.opened(r.Spec.Journal)
	if !r.passing(req.Session) {
		if at = notes.Session; at == nil {
			return engine.Failed(noSession(req.Bank))
		}
	}
	if req.Op.Writes() {
		if why := unwritable(req); why != nil {
			return engine.Failed(why)
		}
	}
	was, err := at.Load(ctx, req.key())
	if err != nil {
		return engine.Failed(StoreFailed(err, "read memory "+strconv.Quote(req.Bank)))
	}
	now := was
	if req.Op.Writes() {
		text := req.kept(was.Text)
		if len(text) > agent.MaxMemoryBytes {
			return engine.Failed(tooMuch(req, len(text)))
		}
		if now, err = at.Save(ctx, req.key(), e.Run+"/"+e.ID(), text); err != nil {
			return engine.Failed(StoreFailed(err, "write memory "+strconv.Quote(req.Bank)))
		}
	}
	gives := now.Text
	if req.Op == agent.MemorySearch {
		gives = found(now.Text, req.Text)
	}
	return engine.Outcome{Attempt: 1, Value: generable.NewRecord(MemoryEntryType, []generable.Value{
		generable.StrOf(req.key()), generable.IntOf(now.Version), generable.StrOf(now.Text), generable.StrOf(gives)}).Value()}
}

// passing reports whether the run itself keeps a memory, of a session or not.
func (r *Run) passing(ofSession bool) bool {
	return !ofSession || r.Spec.Session.Unsaved() || r.Spec.Session.Deferred()
}

// noSession returns a mistake of the code that started the run, which no model can fix.
func noSession(bank string) *engine.Error {
	e := engine.Errorf(engine.KindInput, diag.NoSession, "memory %q is kept in a session, and the run has none", bank).
		WithHelp("name one with --session ID, or let it end with the run: memory(%q)", bank)
	e.OfRun = true
	return e
}

// unwritable returns why a text cannot be written, by a script or a model: a model may write another one.
func unwritable(req *memoryRequest) *engine.Error {
	switch {
	case len(req.Text) > agent.MaxMemoryBytes:
		return tooMuch(req, len(req.Text))
	case !utf8.ValidString(req.Text):
		return engine.Errorf(engine.KindTool, diag.MemoryLimit, "memory %q takes text, and what was to be written is no UTF-8", req.Bank).
			WithHelp("write text; encode other data first")
	}
	return nil
}

func tooMuch(req *memoryRequest, n int) *engine.Error {
	return engine.Errorf(engine.KindTool, diag.MemoryLimit, "memory %q takes %d bytes, and %s would make it %d", req.Bank, agent.MaxMemoryBytes, req.Op, n).
		WithHelp("write less, or have the oldest lines dropped: memory(%q, max_lines = 200)", req.Bank)
}

// StoreFailed turns an error of a store into an engine error.
func StoreFailed(err error, what string) *engine.Error {
	var e *engine.Error
	if errors.As(err, &e) {
		return e
	}
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "the session's store did not %s: %w", what, err).
		WithHelp("see that the store can be read and written")
}

// kept returns the text that a write leaves, given the previous text.
func (r *memoryRequest) kept(was string) string {
	text := r.Text
	if r.Op == agent.MemoryAppend && was != "" {
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

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	at := len(strings.TrimSuffix(text, "\n"))
	for ; n > 0; n-- {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}

// lastBytes returns the last lines of a text with at most about the given number of tokens; of a single longer line,
// its end.
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

// charsPerToken is the estimate when no model has counted.
const charsPerToken = 4

// found returns the lines of a text that contain a query.
func found(text, query string) string {
	query = strings.ToLower(query)
	var hits []string
	for _, line := range Lines(text) {
		if strings.Contains(strings.ToLower(line), query) {
			hits = append(hits, line)
		}
	}
	return strings.Join(hits, "\n")
}

// Lines returns the non-empty lines of a text.
func Lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// GiveBack closes the session of the run, if it has one.
func (r *Run) GiveBack() (err error) {
	m := r.memory.Load()
	if m == nil || !m.Mu.TryLock() { // the store does not return: the session is abandoned
		return nil
	}
	defer m.Mu.Unlock()
	if m.Session == nil {
		return nil
	}
	open := m.Session
	m.Session = nil
	defer func() {
		if p := recover(); p != nil {
			err = StoreFailed(engine.Panicked("the store", p), "close the session")
		}
	}()
	if err := open.Close(); err != nil {
		return StoreFailed(err, "close the session")
	}
	return nil
}

// Taken returns the session of the run while it has one.
func (m *runMemory) Taken() (engine.OpenSession, error) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if m.Session == nil {
		return nil, session.Closed()
	}
	return m.Session, nil
}

// runMemory holds the memory banks that the run itself keeps.
type runMemory struct {
	Mu   sync.Mutex // one operation at a time, including those on the session
	held *session.Held

	Session engine.OpenSession // that the run has taken, nil without one
	asked   bool               // the journal was asked for its entries

	ofSession map[string]bool // keys of notes that a session keeps and the run has used
}

// Notes returns the run's memory, creating it at first use.
func (r *Run) Notes() *runMemory {
	if m := r.memory.Load(); m != nil {
		return m
	}
	r.memory.CompareAndSwap(nil, &runMemory{held: session.NewHeld()})
	return r.memory.Load()
}

// opened returns the notes of the run, loading the journal's entries at first use. The caller holds the lock.
func (m *runMemory) opened(j engine.Journal) *session.Held {
	if j, ok := j.(engine.MemoryJournal); ok && !m.asked {
		for _, out := range j.Memories() {
			if key, left, _, err := readMemory(out.Value, ""); out.Err == nil && err == nil {
				m.held.Restore(key, left)
			}
		}
	}
	m.asked = true
	return m.held
}

// Begin sets the notes that the run begins with. They end with it.
func (m *runMemory) Begin(texts map[string]string) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	for key, text := range texts {
		m.held.Restore(key, engine.Entry{Text: text, Version: 1})
	}
}

// recall stores an entry if it is newer than the existing one: a replay repeats recorded operations in any order, and
// versions tell which was last.
func (m *runMemory) recall(key string, e engine.Entry, ofSession bool) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.held.Restore(key, e)
	if ofSession {
		if m.ofSession == nil {
			m.ofSession = map[string]bool{}
		}
		m.ofSession[key] = true
	}
}

// OfSession returns the texts of the session's notes that the run has read or written, by their keys.
func (m *runMemory) OfSession() map[string]string {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	entries, texts := m.held.Entries(), map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(m.ofSession)) {
		texts[key] = entries[key].Text
	}
	return texts
}

func appendInts(b []byte, ints ...int) []byte {
	for _, n := range ints {
		b = strconv.AppendInt(append(b, ';'), int64(n), 10)
	}
	return b
}
