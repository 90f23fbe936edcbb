package session

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

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
	if err != nil { // a Request has nothing that JSON cannot hold
		panic(err)
	}
	return sha256.Sum256(append([]byte("session\x00"), text...))
}

// holderKey is the entry with the id of the run that has taken the session in other processes.
const holderKey = "run"

// Do carries out the request for a run. Nobody holds the session between two requests, so the store keeps the id of the run
// that took it last; over reports whether that run has ended, which lets another run take the session. The value of the
// outcome is what [ReadTaken] reads. Carrying out a request twice has the effect of doing so once.
func (r *Request) Do(ctx context.Context, s engine.SessionStore, run string, over func(ctx context.Context, run string) (bool, error)) engine.Outcome {
	open, err := r.open(ctx, s)
	if err != nil {
		return engine.Failed(typed(err))
	}
	held := map[string]engine.Entry{}
	if r.Op == OpSave {
		err = r.save(ctx, open, run)
	} else if err = r.take(ctx, open, run, over); err == nil {
		if held, err = s.ReadSession(ctx, r.ID); err == nil {
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

// busyFor is how long a request waits for the one that has the session open.
const busyFor = 5 * time.Second

// open opens the session. Another request has it open for a moment, a run of this machine until it ends.
func (r *Request) open(ctx context.Context, s engine.SessionStore) (engine.OpenSession, error) {
	ctx, cancel := context.WithTimeout(ctx, busyFor)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		open, err := s.OpenSession(ctx, r.ID, r.Script)
		if !errors.Is(err, &engine.Error{Code: diag.SessionBusy}) {
			return open, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// take reserves the session for the run.
func (r *Request) take(ctx context.Context, open engine.OpenSession, run string, over func(context.Context, string) (bool, error)) error {
	holder, err := open.Load(ctx, holderKey)
	if err != nil || holder.Text == run {
		return err
	}
	if holder.Text != "" {
		ended, err := over(ctx, holder.Text)
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

// typed makes an error of a store typed.
func typed(err error) *engine.Error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e
	}
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "the store of sessions: %w", err).WithHelp("see that the store can be read and written")
}
