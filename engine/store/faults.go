package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// MaxRunID bounds the length of a run's id.
const MaxRunID = 128

// CheckRunID refuses what is no id of a run: 1 to 128 bytes of printable UTF-8 without spaces.
func CheckRunID(id string) error {
	if id != "" && len(id) <= MaxRunID && strings.IndexFunc(id, unfit) < 0 {
		return nil
	}
	return engine.Errorf(engine.KindInput, diag.RunNotFound, "%q is no id of a run", text.Clip(id, 60)).
		WithHelp("use 1 to %d bytes of printable text without spaces", MaxRunID)
}

// unfit reports whether a rune cannot stand in an id. The replacement character stands for what is not UTF-8, too.
func unfit(r rune) bool { return r <= ' ' || r == 0x7f || r == '\ufffd' }

// Held is the failure to take a run that somebody holds, until the end of a lease if it is known.
func Held(id string, by engine.Owner, until time.Time) *engine.Error {
	e := engine.Errorf(engine.KindStore, diag.RunHeld, "run %s is held by %s", id, Name(by))
	if !until.IsZero() {
		e = engine.Errorf(engine.KindStore, diag.RunHeld, "run %s is held by %s until %s at least", id, Name(by), until.UTC().Format(time.RFC3339))
	}
	return e.WithHelp("wait until it has ended, or end it: agentscript runs cancel %s", id)
}

// Name is how an owner is shown to people.
func Name(by engine.Owner) string {
	who := by.Name
	if by.PID != 0 {
		who = strings.TrimSpace(who + " process " + strconv.Itoa(by.PID))
	}
	if by.Host != "" {
		who = strings.TrimSpace(who + " on " + by.Host)
	}
	if who == "" {
		return "another owner"
	}
	return who
}

// Lost is the failure of an owner whose run was taken by another one.
func Lost(id string) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.RunLost, "run %s was taken over by another owner, or removed", id).
		WithHelp("see how it goes on there: agentscript runs show %s", id)
}

// ToCancel is why a run must stop that was to be cancelled.
func ToCancel(id, reason string) *engine.Error {
	if reason != "" {
		reason = ": " + reason
	}
	return engine.Errorf(engine.KindCancelled, diag.Cancelled, "run %s was cancelled%s", id, reason)
}

// NotFound is the failure to find a run.
func NotFound(id string) *engine.Error {
	return engine.Errorf(engine.KindInput, diag.RunNotFound, "there is no run %s", id).WithHelp("agentscript runs ls lists them")
}

// NoBundle is the failure to find a bundle.
func NoBundle(hash string) *engine.Error {
	return engine.Errorf(engine.KindInput, diag.RunNotFound, "there is no script with the hash %s", text.Clip(hash, 80)).
		WithHelp("its runs were removed, or it was never kept: run the script again")
}

// Exists is the failure to make a run whose id another one has.
func Exists(id string) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "there is a run %s already", id).WithHelp("use another id; agentscript runs import takes one with --as")
}

// GivenBack is the failure to use a run that its owner has ended or given back.
func GivenBack(id string) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "run %s was given back: nothing more can be written to it", id).
		WithHelp("take it again")
}

// Closed is the failure to use a store that was closed.
func Closed() *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "the store is closed").WithHelp("close it when no run uses it any more")
}

// NotAnEnd is the failure to end a run as what is no end.
func NotAnEnd(id string, s engine.RunStatus) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "run %s cannot end as %q", id, s).
		WithHelp("end it as parked, done, failed or cancelled, or close it")
}

// Ends reports whether a run can end as s.
func Ends(s engine.RunStatus) bool {
	switch s {
	case engine.RunParked, engine.RunDone, engine.RunFailed, engine.RunCancelled:
		return true
	}
	return false
}

// Stopped is the failure of a call whose context has ended before it began.
func Stopped(cause error) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "the store was not asked: %w", cause)
}
