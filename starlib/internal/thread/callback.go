package thread

import (
	"errors"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// FuncOf makes a function of the script callable by the engine. It returns nil for nil.
func FuncOf(c *script.State, v starlark.Value) engine.Func {
	fn, ok := v.(starlark.Callable)
	if !ok {
		return nil
	}
	return NewCallback(c, fn)
}

// NewCallback returns a callback. What it captures is frozen, since any branch may call it: while the script loads,
// together with the module; in a run, at once.
func NewCallback(c *script.State, fn starlark.Callable) *Callback {
	f := &Callback{Func: fn, State: c, About: FuncInfoOf(fn), Code: diag.CallbackFailed}
	if c.Sealed.Load() {
		f.Unshared = Share(c, fn)
	} else {
		c.Callbacks = append(c.Callbacks, fn)
	}
	return f
}

// Share freezes what branches of a run can see.
func Share(c *script.State, values ...starlark.Value) error {
	if c.Shared != nil {
		values = c.Shared(values...)
	}
	return value.FreezeShared(values...)
}

// Callback is a Starlark callable as the engine sees it.
type Callback struct {
	Func  starlark.Callable
	State *script.State
	About engine.FuncInfo
	Code  diag.Code

	Unshared error // the reason why not every branch can call it
}

func (f *Callback) Info() engine.FuncInfo { return f.About }

// FuncInfoOf describes a callable. Builtins do not declare how many arguments they take.
func FuncInfoOf(fn starlark.Callable) engine.FuncInfo {
	info := engine.FuncInfo{Name: fn.Name(), Params: 255}
	switch fn := fn.(type) {
	case *starlark.Function:
		info.Doc, info.Pos = fn.Doc(), script.Position(fn.Position())
		n := value.NumNamed(fn) - fn.NumKwonlyParams()
		if !fn.HasVarargs() {
			info.Params = n
		}
		for i := range n {
			if fn.ParamDefault(i) == nil {
				info.Needs++
			}
		}
	case *value.Type:
		info.Params, info.Needs = 1, 1
	}
	return info
}

// Call runs the function on the branch's own thread.
func (f *Callback) Call(b engine.Branch, args []generable.Value) (generable.Value, error) {
	if f.Unshared != nil {
		return generable.Value{}, f.Unshared
	}
	s, err := Enter(f.State, b)
	if err != nil {
		return generable.Value{}, err
	}
	defer s.Done()
	return f.Result(s, text.Each(args, value.FromData), nil, args)
}

// Result calls the function and converts its result.
func (f *Callback) Result(s *Thread, args starlark.Tuple, kwargs []starlark.Tuple, given []generable.Value) (generable.Value, error) {
	out, err := starlark.Call(s.Starlark, f.Func, args, kwargs)
	if err != nil {
		return generable.Value{}, s.Failure(err, f.Code)
	}
	if err := s.Settle(); err != nil {
		return generable.Value{}, err
	}
	if v, ok := value.Scalar(out); ok {
		return v, nil
	}
	for i, a := range args { // an unchanged argument is returned in its original form
		if a == out && i < len(given) && shared(out) {
			return given[i], nil
		}
	}
	v, err := value.ToData(out)
	if err != nil {
		var x *value.ConvertError
		if errors.As(err, &x) {
			e := script.Errorf(f.Code, "%s returns what cannot leave it: %s", f.Label(), x.Error())
			e.Help, e.Pos, e.Cause = x.Help, f.About.Pos, err
			return v, e
		}
		return v, err
	}
	value.Freeze(out, v)
	return v, nil
}

// Returned calls the function and returns its result, unchanged and as data. If the result is not data, the error is a
// [*value.ConvertError].
func (f *Callback) Returned(s *Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, generable.Value, error) {
	out, err := starlark.Call(s.Starlark, f.Func, args, kwargs)
	if err != nil {
		return nil, generable.Value{}, s.Failure(err, f.Code)
	}
	if err := s.Settle(); err != nil {
		return nil, generable.Value{}, err
	}
	v, err := value.ToData(out)
	return out, v, err
}

// Label returns the name of the function for messages.
func (f *Callback) Label() string {
	if f.About.Name == "lambda" {
		return "the lambda"
	}
	return f.About.Name
}

// shared reports whether identical values are the same container.
func shared(v starlark.Value) bool {
	switch v.(type) {
	case *starlark.List, *starlark.Dict:
		return true
	}
	return false
}

// Callable returns what the callback calls.
func (f *Callback) Callable() starlark.Callable { return f.Func }

// Acts implements [agent.Acting].
func (f *Callback) Acts() engine.Class { return f.State.EffectClass(f.Func) }

// Speaks implements [flow.Speaking].
func (f *Callback) Speaks() []*flow.Node { return f.State.Nodes(f.Func) }

// IsIdentity reports whether the function returns its only argument unchanged, as lambda x: x does. It is used when a
// flow is written in another format, while no run uses the script.
func (f *Callback) IsIdentity() bool {
	params, body := f.written()
	if len(params) != 1 || len(body) != 1 {
		return false
	}
	ret, ok := body[0].(*syntax.ReturnStmt)
	if !ok || ret.Result == nil {
		return false
	}
	param, ok := params[0].(*syntax.Ident)
	given, named := startree.Unparen(ret.Result).(*syntax.Ident)
	return ok && named && param.Name == given.Name
}
