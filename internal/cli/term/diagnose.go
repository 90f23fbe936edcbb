package term

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/diagnose"
)

// Diagnose shows an error of a run like one of loading.
func Diagnose(err error) *diag.Diagnostic { return diagnose.Error(err) }

// LimitFlag is the flag that moves the limit of the whole run by which an error came, "" where it is no such limit.
func LimitFlag(e *engine.Error) string { return diagnose.LimitFlag(e) }
