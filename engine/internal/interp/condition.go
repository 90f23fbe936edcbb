package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// holds asks the condition that ends a loop or a retry of an output: data, which was checked before
// anything runs, or a function. Without one, any output will do.
func holds(b *exec.Branch, data *predicate.Predicate, fn engine.Func, out generable.Value) (bool, error) {
	switch {
	case data != nil:
		return data.Holds(out), nil
	case fn != nil:
		v, err := b.InvokeAs("until", 0, fn, out)
		return truth(v, err, "until")
	}
	return true, nil
}

func truth(v generable.Value, err error, what string) (bool, error) {
	if err != nil {
		return false, err
	}
	yes, ok := v.AsBool()
	if !ok {
		return false, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "%s gives %s, want bool", what, v.TypeName()).
			WithHelp("compare explicitly: lambda x: len(x) > 0, lambda x: x != None")
	}
	return yes, nil
}
