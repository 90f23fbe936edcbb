package term

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/diagnose"
)

// Diagnose shows an error of a run like one of loading.
func Diagnose(err error) *diag.Diagnostic { return diagnose.Error(err) }
