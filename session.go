package agentscript

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/session"
)

// Session has the run go on where the last run of a session has ended: agents that share their history
// with the conversation of that run, and memories of scope "session" with their notes. A session that
// does not exist is begun. One run at a time has it, from its beginning to its end: a second one fails
// with AS754, and a run of another script with AS753. session.Memory keeps sessions as long as the
// process, the package engine/store/sqlite in a file.
func Session(store engine.SessionStore, id string) RunOption {
	return func(r *runConfig) { r.spec.Session = &session.Ref{Store: store, ID: id} }
}

// KeepSession has the conversation of a run that went well be kept by its [Session] only when the
// host finds nothing wrong with it. It comes after Session.
func KeepSession(keep func() bool) RunOption {
	return func(r *runConfig) {
		if r.spec.Session != nil {
			r.spec.Session.Keep = keep
		}
	}
}
