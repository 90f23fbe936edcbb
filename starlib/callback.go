package starlib

import (
	"errors"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// callback makes a function of the script callable by the engine, nil for nil.
func (c *state) funcOf(v starlark.Value) engine.Func {
	fn, ok := v.(starlark.Callable)
	if !ok {
		return nil
	}
	return c.wrap(fn)
}

// wrap makes a callback. What it captures is frozen, since any branch may call it: with the
// module while that loads, at once in a run.
func (c *state) wrap(fn starlark.Callable) *callback {
	f := &callback{fn: fn, c: c, about: infoOf(fn), code: diag.CallbackFailed}
	if c.sealed.Load() {
		f.unshared = freezeShared(fn)
	} else {
		c.callbacks = append(c.callbacks, fn)
	}
	return f
}

// callback is a Starlark callable as the engine sees it.
type callback struct {
	fn    starlark.Callable
	c     *state
	about engine.FuncInfo
	code  diag.Code

	unshared error // why it cannot be called from any branch
}

func (f *callback) Info() engine.FuncInfo { return f.about }

// infoOf describes a callable. Builtins do not tell how many arguments they take.
func infoOf(fn starlark.Callable) engine.FuncInfo {
	info := engine.FuncInfo{Name: fn.Name(), Params: 255}
	switch fn := fn.(type) {
	case *starlark.Function:
		info.Doc, info.Pos = fn.Doc(), position(fn.Position())
		n := fn.NumParams()
		if fn.HasKwargs() {
			n--
		}
		if !fn.HasVarargs() {
			info.Params = n - fn.NumKwonlyParams()
		} else {
			n--
		}
		n -= fn.NumKwonlyParams()
		for i := range n {
			if fn.ParamDefault(i) == nil {
				info.Needs++
			}
		}
	case *typeValue:
		info.Params, info.Needs = 1, 1
	}
	return info
}

// Call runs the function on the branch's own thread.
func (f *callback) Call(b engine.Branch, args []generable.Value) (generable.Value, error) {
	if f.unshared != nil {
		return generable.Value{}, f.unshared
	}
	s, err := f.c.enter(b)
	if err != nil {
		return generable.Value{}, err
	}
	defer s.done()
	tuple := make(starlark.Tuple, len(args))
	for i, a := range args {
		tuple[i] = fromValue(a)
	}
	return f.result(s, tuple, nil, args)
}

// result calls the function and takes its result over.
func (f *callback) result(s *strand, args starlark.Tuple, kwargs []starlark.Tuple, given []generable.Value) (generable.Value, error) {
	out, err := starlark.Call(s.thread, f.fn, args, kwargs)
	if err != nil {
		return generable.Value{}, s.failure(err, f.code)
	}
	if err := s.settle(); err != nil {
		return generable.Value{}, err
	}
	if v, ok := scalar(out); ok {
		return v, nil
	}
	for i, a := range args { // an unchanged argument goes back as it came
		if a == out && i < len(given) && shared(out) {
			return given[i], nil
		}
	}
	v, err := toValue(out)
	if err != nil {
		var x *crossingError
		if errors.As(err, &x) {
			e := errorf(f.code, "%s gives what cannot leave it: %s", f.label(), x.Error())
			e.Help, e.Pos, e.Cause = x.help, f.about.Pos, err
			return v, e
		}
		return v, err
	}
	freeze(out, v)
	return v, nil
}

func (f *callback) label() string {
	if f.about.Name == "lambda" {
		return "the lambda"
	}
	return f.about.Name
}

// shared reports whether comparing by identity is comparing the same container.
func shared(v starlark.Value) bool {
	switch v.(type) {
	case *starlark.List, *starlark.Dict:
		return true
	}
	return false
}
