package term

import (
	"errors"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// The exit codes. They are part of the command's contract.
const (
	ExitOK          = 0
	ExitFailed      = 1   // the run failed
	ExitUsage       = 2   // wrong flags, arguments, files or input
	ExitCheck       = 3   // the script has errors
	ExitBudget      = 4   // a budget was exceeded
	ExitWaiting     = 5   // the run is waiting for a person's decision
	ExitProvider    = 6   // a model's provider failed or refused, or no model can be called
	ExitTimeout     = 7   // the run or a call took too long
	ExitTests       = 8   // tests failed, or are below a threshold
	ExitReplay      = 9   // a recorded run does not match
	ExitInterrupted = 130 // ctrl-C
)

// ExitCodeOf returns the exit code of a failed run.
func ExitCodeOf(err error) int {
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		return ExitFailed
	}
	switch e.Code {
	case diag.ScriptedModel, diag.MockFailed: // the flow and its prepared answers do not match: not a provider's failure
		return ExitFailed
	case diag.NoMain:
		return ExitCheck
	}
	switch e.Kind {
	case engine.KindInput:
		return ExitUsage
	case engine.KindBudget:
		return ExitBudget
	case engine.KindApproval:
		return ExitWaiting
	case engine.KindTimeout:
		return ExitTimeout
	case engine.KindCancelled:
		return ExitInterrupted
	case engine.KindReplay:
		return ExitReplay
	case engine.KindConfig, engine.KindAuth, engine.KindRateLimit, engine.KindQuota, engine.KindContextLength,
		engine.KindRefused, engine.KindNotFound, engine.KindBadRequest, engine.KindUnsupported, engine.KindOverloaded,
		engine.KindServer, engine.KindNetwork, engine.KindTruncated, engine.KindBadResponse:
		return ExitProvider
	}
	return ExitFailed
}
