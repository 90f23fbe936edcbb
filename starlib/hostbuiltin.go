package starlib

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Function makes a builtin of a function on the engine's values. Its parameters are fields: each
// has a type, an optional one a default, and what limits a field limits the argument. The
// function gets one value for each, converted to its type, and a nil branch while a script loads.
// What it returns must be of the type returns; nil is any.
func Function(name, doc string, params []generable.Field, returns *generable.Type, f func(engine.Branch, []generable.Value) (generable.Value, error)) Builtin {
	if returns == nil {
		returns = generable.AnyT
	}
	b := Builtin{Name: name, Doc: doc, Effect: Pure}
	for i := range params {
		p := Param{Name: params[i].Name, Kind: AnyKind, Doc: params[i].Guide}
		if flaw := fieldFlaw(&params[i]); flaw != "" {
			b.flaws = append(b.flaws, flaw)
		} else {
			p.Kind = kindOf(table.TypedKind(params[i].Type)) // converts as a call of the type does
		}
		if params[i].Optional {
			p.Default = value.FromData(params[i].Default).String()
		}
		b.Params = append(b.Params, p)
	}
	if errs := returns.Verify(); errs != nil {
		b.flaws = append(b.flaws, "what it returns has no sound type: "+errs.Error())
	} else {
		b.Returns = returns.String()
	}
	if f == nil {
		return b
	}
	b.Func = func(c *Call) (starlark.Value, error) {
		args := make([]generable.Value, len(params))
		for i := range params {
			p := &params[i]
			if !c.Has(p.Name) {
				args[i] = p.Default
				continue
			}
			v, err := c.Value(p.Name)
			if err != nil {
				return nil, err
			}
			if errs := generable.CheckLimits(p, v); errs != nil {
				return nil, script.Errorf(diag.WrongArgument, "%s: %s", name, errs)
			}
			args[i] = v
		}
		out, err := f(c.Branch(), args)
		if err := failure(err); err != nil {
			return nil, err
		}
		if errs := returns.Conforms(out); errs != nil {
			return nil, script.Errorf(diag.WrongTypeAtBoundary, "the host's %s returns what is no %s: %s", name, returns, errs)
		}
		return value.FromData(out), nil
	}
	return b
}

// failure returns a host's error, nil also for a nil *engine.Error, which is not a nil error.
func failure(err error) error {
	if e, ours := err.(*engine.Error); ours && e == nil {
		return nil
	}
	return err
}

// fieldFlaw returns what is wrong with the field of a parameter, "" when nothing is.
func fieldFlaw(f *generable.Field) string {
	if errs := f.Type.Verify(); errs != nil {
		return fmt.Sprintf("its parameter %q has no sound type: %s", f.Name, errs)
	}
	if !f.Optional || f.Default.IsNull() {
		return ""
	}
	v, errs := f.Type.Convert(f.Default)
	if errs == nil {
		errs = generable.CheckLimits(f, v)
	}
	if errs != nil {
		return fmt.Sprintf("the default of its parameter %q is no %s: %s", f.Name, f.Type, errs)
	}
	return ""
}
