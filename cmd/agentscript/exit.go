package main

import (
	"errors"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// The exit codes. They are part of the command's contract.
const (
	exitOK          = 0
	exitFailed      = 1   // the run failed
	exitUsage       = 2   // wrong flags, arguments, files or input
	exitCheck       = 3   // the script has errors
	exitBudget      = 4   // a budget refused
	exitWaiting     = 5   // the run waits for a person's decision
	exitProvider    = 6   // a model's provider failed or refused, or no model can be called
	exitTimeout     = 7   // the run or a call took too long
	exitReplay      = 9   // a recorded run does not match
	exitInterrupted = 130 // ctrl-C
)

// exitCodeOf gives the exit code of a failed run.
func exitCodeOf(err error) int {
	var e *engine.Error
	if !errors.As(err, &e) {
		return exitFailed
	}
	switch e.Code {
	case diag.ScriptedModel: // the flow and its scripted answers do not match: no provider's fault
		return exitFailed
	case diag.NoMain:
		return exitCheck
	}
	switch e.Kind {
	case engine.KindInput:
		return exitUsage
	case engine.KindBudget:
		return exitBudget
	case engine.KindApproval:
		return exitWaiting
	case engine.KindTimeout:
		return exitTimeout
	case engine.KindCancelled:
		return exitInterrupted
	case engine.KindReplay:
		return exitReplay
	case engine.KindConfig, engine.KindAuth, engine.KindRateLimit, engine.KindQuota, engine.KindContextLength,
		engine.KindRefused, engine.KindNotFound, engine.KindBadRequest, engine.KindUnsupported, engine.KindOverloaded,
		engine.KindServer, engine.KindNetwork, engine.KindTruncated, engine.KindBadResponse:
		return exitProvider
	}
	return exitFailed
}
