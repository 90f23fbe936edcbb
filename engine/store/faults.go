package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// MaxRunID is the maximum length of a run's id, in bytes.
const MaxRunID = 128

// CheckRunID returns an error unless id is a valid id of a run: 1 to 128 bytes of printable UTF-8 without spaces.
func CheckRunID(id string) error {
	if id != "" && len(id) <= MaxRunID && strings.IndexFunc(id, unfit) < 0 {
		return nil
	}
	return engine.Errorf(engine.KindInput, diag.RunNotFound, "%q is no id of a run", text.Clip(id, 60)).
		WithHelp("use 1 to %d bytes of printable text without spaces", MaxRunID)
}

// unfit reports whether a rune cannot be part of an id. The replacement character also represents invalid UTF-8.
func unfit(r rune) bool { return r <= ' ' || r == 0x7f || r == '\ufffd' }

// Held is the failure to take a run that somebody holds. until is the end of the lease, or zero if it is unknown.
func Held(id string, by engine.Owner, until time.Time) *engine.Error {
	e := engine.Errorf(engine.KindStore, diag.RunHeld, "run %s is held by %s", id, Name(by))
	if !until.IsZero() {
		e = engine.Errorf(engine.KindStore, diag.RunHeld, "run %s is held by %s until %s at least", id, Name(by), until.UTC().Format(time.RFC3339))
	}
	return e.WithHelp("wait until it has ended, or end it: agentscript runs cancel %s", id)
}

// Name returns the text that identifies an owner to people.
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
		WithHelp("see how it continues there: agentscript runs show %s", id)
}

// ToCancel is the reason why a run that was cancelled must stop.
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

// Exists is the failure to create a run whose id is taken.
func Exists(id string) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "there is a run %s already", id).WithHelp("use another id; agentscript runs import takes one with --as")
}

// GivenBack is the failure to use a run that its owner has ended or given back.
func GivenBack(id string) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "run %s was released: nothing more can be written to it", id).
		WithHelp("take it again")
}

// Closed is the failure to use a store that was closed.
func Closed() *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "the store is closed").WithHelp("close it when no run uses it any more")
}

// NotAnEnd is the failure to end a run with a status that is not an end.
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

// Stopped is the failure of a call whose context had ended before the call began.
func Stopped(cause error) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "the store was not asked: %w", cause)
}
