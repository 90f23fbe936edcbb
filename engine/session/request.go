package session

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Operations of a [Request].
const (
	OpTake = "take" // returns what the session holds, and reserves it for the run
	OpSave = "save" // replaces entries
)

// Request is the request of an effect of kind memory that takes or saves a session for a run in another process, see
// [Found.Deferred].
type Request struct {
	Op     string `json:"op"`
	ID     string `json:"id"`
	Script string `json:"script"`

	// Entries are what OpSave writes: the new texts, each with the version that OpTake returned for its key.
	Entries map[string]engine.Entry `json:"entries,omitempty"`
}

// Digest implements [engine.Payload].
func (r *Request) Digest() [32]byte {
	text, err := json.Marshal(r)
	if err != nil { // JSON can represent all of a Request
		panic(err)
	}
	return sha256.Sum256(append([]byte("session\x00"), text...))
}

// holderKey is the entry with the id of the run that has taken the session in other processes.
const holderKey = "run"

// Keeper carries out requests for runs in other processes. No process holds the session between two requests: the store keeps
// the id of the run that took it last, and another run can take it when that one has ended.
type Keeper struct {
	Store engine.SessionStore

	// Ended reports whether a run has ended.
	Ended func(ctx context.Context, run string) (bool, error)

	// Wait waits while another process has the session open: briefly if that process carries out a request, or until
	// its run ends. It returns false to give up.
	Wait func(ctx context.Context, try int) bool
}

// Do carries out a request for a run. The value of the outcome is what [ReadTaken] reads. again reports whether the store failed,
// or another process has the session open: a later try may succeed. Carrying out a request twice has the effect of doing so once.
func (k *Keeper) Do(ctx context.Context, run string, r *Request) (out engine.Outcome, again bool) {
	held, err := k.do(ctx, run, r)
	if err != nil {
		e, ok := errors.AsType[*engine.Error](err)
		if !ok {
			e = engine.Errorf(engine.KindStore, diag.StoreFailed, "the store of sessions: %w", err).WithHelp("see that the store can be read and written")
		}
		_, decided := err.(refusal)
		return engine.Failed(e), !decided && e.Code != diag.BadSession
	}
	text, err := json.Marshal(held)
	if err != nil {
		return engine.Failed(engine.AsError(err)), false
	}
	return engine.Outcome{Value: generable.StrOf(string(text)), Attempt: 1}, false
}

// refusal is an error that trying again does not change.
type refusal struct{ why *engine.Error }

func (r refusal) Error() string { return r.why.Error() }
func (r refusal) Unwrap() error { return r.why }

func (k *Keeper) do(ctx context.Context, run string, r *Request) (held map[string]engine.Entry, err error) {
	open, err := k.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := open.Close(); err == nil {
			err = closed
		}
	}()
	if r.Op == OpSave {
		return nil, k.save(ctx, open, run, r)
	}
	if err := k.take(ctx, open, run, r); err != nil {
		return nil, err
	}
	held, err = k.Store.ReadSession(ctx, r.ID)
	delete(held, holderKey)
	return held, err
}

func (k *Keeper) open(ctx context.Context, r *Request) (engine.OpenSession, error) {
	for try := 0; ; try++ {
		open, err := k.Store.OpenSession(ctx, r.ID, r.Script)
		if !errors.Is(err, &engine.Error{Code: diag.SessionBusy}) || !k.Wait(ctx, try) {
			return open, err
		}
	}
}

// take reserves the session for the run.
func (k *Keeper) take(ctx context.Context, open engine.OpenSession, run string, r *Request) error {
	holder, err := open.Load(ctx, holderKey)
	if err != nil || holder.Text == run {
		return err
	}
	if holder.Text != "" {
		ended, err := k.Ended(ctx, holder.Text)
		if err != nil {
			return err
		}
		if !ended {
			return refusal{Busy(r.ID, "run "+holder.Text)}
		}
	}
	_, err = open.Save(ctx, holderKey, opOf(run, holderKey, holder.Version), run)
	return err
}

// save replaces the entries. It saves nothing if the run no longer has the session: it has ended, another run has taken the session,
// the session was deleted, or a run of one machine has changed an entry. A context that ends may leave a part of the entries saved.
func (k *Keeper) save(ctx context.Context, open engine.OpenSession, run string, r *Request) error {
	holder, err := open.Load(ctx, holderKey)
	if err != nil {
		return err
	}
	ended, err := k.Ended(ctx, run)
	if err != nil {
		return err
	}
	if ended || holder.Text != run {
		return r.lost(run)
	}
	keys := slices.Sorted(maps.Keys(r.Entries))
	if i := slices.Index(keys, TranscriptKey); i > 0 { // the largest one first: if there is no room for it, nothing is saved
		keys = slices.Concat([]string{TranscriptKey}, keys[:i], keys[i+1:])
	}
	for _, key := range keys {
		now, err := open.Load(ctx, key)
		if err != nil {
			return err
		}
		if mine := r.Entries[key]; now.Version != mine.Version && now.Text != mine.Text {
			return r.lost(run)
		}
	}
	for _, key := range keys {
		mine := r.Entries[key]
		now, err := open.Save(ctx, key, opOf(run, key, mine.Version), mine.Text)
		if err != nil {
			return err
		}
		if now.Text != mine.Text {
			return r.lost(run)
		}
	}
	return nil
}

func (r *Request) lost(run string) error {
	return refusal{engine.Errorf(engine.KindStore, diag.SessionBusy, "run %s does not have session %q any more: it was changed or deleted meanwhile, and nothing of this run was saved in it", run, r.ID).
		WithHelp("one conversation has one run at a time, and agentscript run does not see the runs of a server; start the run again")}
}

// opOf is the idempotency key of saving an entry that has a version.
func opOf(run, key string, version int64) string {
	return fmt.Sprintf("%s/session/%s/%d", run, key, version)
}

// ReadTaken reads the value of an outcome of OpTake.
func ReadTaken(v generable.Value) (map[string]engine.Entry, error) {
	var held map[string]engine.Entry
	text, ok := v.AsStr()
	if !ok {
		return nil, engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "the recorded contents of the session are %s, want str", v.TypeName())
	}
	if err := json.Unmarshal([]byte(text), &held); err != nil {
		return nil, engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "the recorded contents of the session cannot be read: %w", err)
	}
	return held, nil
}

// Settled returns RunHead.Session of a run with what the session held when the run took it. If another process keeps the session,
// that is in the steps of the run; [Found.Deferred] stays set if the run has not taken it.
func Settled(ctx context.Context, s engine.Store, run engine.RunInfo) (json.RawMessage, error) {
	var f Found
	if run.Session == nil || json.Unmarshal(run.Session, &f) != nil || !f.Deferred { // unreadable text is reported where it is used
		return run.Session, nil
	}
	err := s.Steps(ctx, run.ID, 0, func(s engine.Step) error {
		var r Request
		if s.Kind != engine.EffectMemory || s.State != engine.StepDone || json.Unmarshal(s.Request, &r) != nil || r.Op != OpTake {
			return nil
		}
		out, err := engine.DecodeOutcome(s.Outcome, engine.TypesOf())
		if err != nil {
			return err
		}
		held, err := ReadTaken(out.Value)
		f.Deferred, f.Entries = false, textsOf(held)
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// NotTaken is the error of continuing from a run that has not taken its session from the process that keeps it.
func NotTaken(run, id string) *engine.Error {
	return engine.Errorf(engine.KindInput, diag.NoSession, "run %s has not taken session %q: what the session holds is not known here", run, id).
		WithHelp("start the run again with the session")
}
