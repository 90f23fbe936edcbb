package session

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
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

// Keeper carries out requests for runs in other processes.
type Keeper struct {
	Store engine.SessionStore

	// Ended reports whether a run has ended.
	Ended func(ctx context.Context, run string) (bool, error)

	// Wait waits while another process has the session open: briefly if that process carries out a request, or until
	// its run ends. It returns false to give up.
	Wait func(ctx context.Context, try int) bool
}

// Do carries out a request for a run. Nobody holds the session between two requests: the store keeps the id of the run that
// took it last, and another run can take it when that one has ended. The value of the outcome is what [ReadTaken] reads.
// Carrying out a request twice has the effect of doing so once.
func (k *Keeper) Do(ctx context.Context, run string, r *Request) engine.Outcome {
	open, err := k.open(ctx, r)
	if err != nil {
		return engine.Failed(typed(err))
	}
	held := map[string]engine.Entry{}
	if r.Op == OpSave {
		err = r.save(ctx, open, run)
	} else if err = k.take(ctx, open, run, r); err == nil {
		if held, err = k.Store.ReadSession(ctx, r.ID); err == nil {
			delete(held, holderKey)
		}
	}
	if err = errors.Join(err, open.Close()); err != nil {
		return engine.Failed(typed(err))
	}
	text, err := json.Marshal(held)
	if err != nil {
		return engine.Failed(typed(err))
	}
	return engine.Outcome{Value: generable.StrOf(string(text)), Attempt: 1}
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
			return Busy(r.ID, "run "+holder.Text)
		}
	}
	_, err = open.Save(ctx, holderKey, run+"/session/take", run)
	return err
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

// Settled returns what the session of a run held when the run took it, as RunHead.Session. If another process keeps the session,
// the answer is in the steps of the run; a run that ended before it took the session has found nothing.
func Settled(ctx context.Context, s engine.Store, run engine.RunInfo) (json.RawMessage, error) {
	var f Found
	if run.Session == nil || json.Unmarshal(run.Session, &f) != nil || !f.Deferred { // unreadable text is reported where it is used
		return run.Session, nil
	}
	f.Deferred, f.Entries = false, map[string]string{}
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
		f.Entries = textsOf(held)
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// save replaces the entries, unless one of them was changed since the run took the session: then it saves nothing.
func (r *Request) save(ctx context.Context, open engine.OpenSession, run string) error {
	keys := slices.Sorted(maps.Keys(r.Entries))
	for _, key := range keys {
		now, err := open.Load(ctx, key)
		if err != nil {
			return err
		}
		if mine := r.Entries[key]; now.Version != mine.Version && now.Text != mine.Text {
			return engine.Errorf(engine.KindStore, diag.SessionBusy, "another run changed session %q while run %s had it: nothing of this run was saved in it", r.ID, run).
				WithHelp("one conversation has one run at a time: agentscript run does not see the runs of other machines; start the run again")
		}
	}
	for _, key := range keys {
		if _, err := open.Save(ctx, key, run+"/session/"+key, r.Entries[key].Text); err != nil {
			return err
		}
	}
	return nil
}

// typed converts an error of a store to an [engine.Error].
func typed(err error) *engine.Error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e
	}
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "the store of sessions: %w", err).WithHelp("see that the store can be read and written")
}
