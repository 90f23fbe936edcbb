package agent

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// Arity checks that a callback can be called with n arguments.
func Arity(r *diag.Reporter, at diag.Span, info engine.FuncInfo, n int, what string) bool {
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
