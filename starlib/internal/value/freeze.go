package value

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// FreezeShared makes values immutable that several branches or runs can see, with everything they reach. The
// interpreter's own Freeze follows a function to its captured variables without keeping track: for a nested function
// that calls itself, and is therefore held by its own variable, it recurses until the process ends. FreezeShared
// therefore inspects what is reached first. Such functions hold nothing to freeze except what they capture; a list,
// dict or set that reaches one cannot be frozen, and is rejected.
func FreezeShared(values ...starlark.Value) error {
	all := reach(values...)
	if all.visits > maxSize {
		return script.Errorf(diag.ScriptError, "the tuples and functions hold each other more than %d times over", maxSize).
			WithHelp("keep what is shared in a list")
	}
	if all.deep {
		return script.Errorf(diag.ScriptError, "functions and tuples hold each other more than %d deep", maxDepth).
			WithHelp("keep them in a list")
	}
	if all.knot == nil {
		for _, v := range values {
			v.Freeze()
		}
		return nil
	}
	for _, v := range all.others {
		v.Freeze()
	}
	for _, v := range all.containers {
		if own := reach(v); own.knot != nil {
			return script.Errorf(diag.ScriptError, "a %s holds the function %s, which refers to itself: it cannot be shared", v.Type(), own.knot.Name()).
				WithHelp("define %s at the top level, where it can call itself by its name", own.knot.Name())
		}
		v.Freeze()
	}
	return nil
}

// reached is what values lead to.
type reached struct {
	containers []starlark.Value   // these remember that they are frozen
	others     []starlark.Value   // these hold none of those
	knot       *starlark.Function // a function that reaches itself, not through a container
	deep       bool
	visits     uint64 // visits of the interpreter's Freeze, which visits a tuple as often as something holds it
	colors     map[any]color
	within     map[any]uint64 // visits of a tuple or function and of its contents
}

type color uint8

const (
	fresh  color = iota
	active       // its contents are being inspected
	looked
)

func reach(values ...starlark.Value) *reached {
	r := &reached{}
	for _, v := range values {
		r.visits += r.look(v, 0)
	}
	for i := 0; i < len(r.containers); i++ {
		for part := range Parts(r.containers[i]) {
			r.visits += r.look(part, 0)
		}
		r.visits = min(r.visits, maxSize+1)
	}
	return r
}

// look returns the number of visits that Freeze of v makes, up to one more than the maximum.
func (r *reached) look(v starlark.Value, depth int) uint64 {
	var id any
	switch v := v.(type) {
	case *starlark.List, *starlark.Dict, *starlark.Set:
		if r.color(v) == fresh {
			r.paint(v, looked)
			r.containers = append(r.containers, v)
		}
		return 1
	case *starlark.Function:
		if v.NumFreeVars() == 0 { // its contents are older than it is
			return r.defaults(v, depth)
		}
		id = v
	case *starlark.Builtin:
		if v.Receiver() != nil {
			return r.look(v.Receiver(), depth+1)
		}
		return 1
	case starlark.Tuple:
		if len(v) == 0 {
			return 1
		}
		id = &v[0]
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String, starlark.Bytes, *Record, *Node, *Type:
		return 1
	default:
		r.others = append(r.others, v)
		return 1
	}
	switch r.color(id) {
	case active:
		if fn, ok := v.(*starlark.Function); ok {
			r.knot = fn
		}
		return 1
	case looked:
		return r.within[id]
	}
	if depth > maxDepth {
		r.deep = true
		return 1
	}
	r.paint(id, active)
	visits := uint64(1)
	switch v := v.(type) {
	case *starlark.Function:
		for i := range v.NumFreeVars() {
			if _, held := v.FreeVar(i); held != nil {
				visits = min(visits+r.look(held, depth+1), maxSize+1)
			}
		}
		visits += r.defaults(v, depth)
	case starlark.Tuple:
		for _, item := range v {
			visits = min(visits+r.look(item, depth+1), maxSize+1)
		}
	}
	if r.within == nil {
		r.within = map[any]uint64{}
	}
	r.within[id] = visits
	r.paint(id, looked)
	return visits
}

func (r *reached) defaults(fn *starlark.Function, depth int) uint64 {
	visits := uint64(1)
	for i := range fn.NumParams() {
		if d := fn.ParamDefault(i); d != nil {
			visits = min(visits+r.look(d, depth+1), maxSize+1)
		}
	}
	return visits
}

func (r *reached) color(id any) color { return r.colors[id] }

func (r *reached) paint(id any, c color) {
	if r.colors == nil {
		r.colors = map[any]color{}
	}
	r.colors[id] = c
}
