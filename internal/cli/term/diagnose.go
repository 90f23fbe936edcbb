package term

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/diagnose"
)

// Diagnose returns an error of a run in the form of a load error.
func Diagnose(err error) *diag.Diagnostic { return diagnose.Error(err) }

// LimitFlag returns the flag that sets the limit of the whole run that caused an error, or "" if no such limit did.
func LimitFlag(e *engine.Error) string { return diagnose.LimitFlag(e) }
