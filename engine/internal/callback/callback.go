// Package callback checks callbacks of the host language for declarations: how many arguments they take, and what
// effects they may have.
package callback

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// SkillArity returns 1, or 2 for the function of a forum's member that also takes the transcript.
func SkillArity(f engine.Func) int {
	if f.Info().Needs == 2 {
		return 2
	}
	return 1
}

// Described is a callback that describes itself.
type Described interface{ Info() engine.FuncInfo }

// CheckArity checks that a callback, if there is one, can be called with n arguments.
func CheckArity(r *diag.Reporter, at diag.Span, f Described, n int, what string) bool {
	if f == nil {
		return true
	}
	info := f.Info()
	if n >= info.Needs && n <= info.Params {
		return true
	}
	name := info.Name
	if name == "" || name == "lambda" {
		name = "the lambda"
	}
	d := r.Errorf(diag.CallbackArity, at, "%s calls %s with %s", what, name, text.CountInWords(n, "argument"))
	if info.Needs > n {
		d.Label = fmt.Sprintf("it needs %s", text.CountInWords(info.Needs, "argument"))
	} else {
		d.Label = fmt.Sprintf("it takes %s", text.CountInWords(info.Params, "argument"))
	}
	if info.Pos.IsValid() {
		d.Notef(info.Pos, "%s is defined", name)
	}
	if n == 0 {
		d.Helpf("let it take none")
	} else {
		d.Helpf("let it take %s; others need a default", text.CountInWords(n, "parameter"))
	}
	return false
}

// EffectClass returns the strongest effect class of a callback.
func EffectClass(f any) engine.Class {
	if a, ok := f.(interface{ Acts() engine.Class }); ok {
		return a.Acts()
	}
	return ""
}
