package starlib

import (
	"reflect"
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/starlib/internal/lint"
)

// contents are the lists, dicts and sets that names reach, with what they held when a statement began: to give that back
// where the statement begins anew, and to know whether it changed any of them.
type contents struct {
	lists map[*starlark.List][]starlark.Value
	dicts map[*starlark.Dict][]starlark.Tuple
	sets  map[*starlark.Set][]starlark.Value
}

// remember returns what the containers that names reach hold now.
func (w *Workspace) remember() contents {
	c := contents{map[*starlark.List][]starlark.Value{}, map[*starlark.Dict][]starlark.Tuple{}, map[*starlark.Set][]starlark.Value{}}
	lint.EachReached(w.c.State, w.names, func(v starlark.Value) {
		switch v := v.(type) {
		case *starlark.List:
			c.lists[v] = slices.Collect(v.Elements())
		case *starlark.Dict:
			c.dicts[v] = v.Items()
		case *starlark.Set:
			c.sets[v] = slices.Collect(v.Elements())
		}
	})
	return c
}

// restore gives the containers what they held. Those that are frozen have not changed.
func (c contents) restore() {
	for v, items := range c.lists {
		if !slices.EqualFunc(slices.Collect(v.Elements()), items, identical) && v.Clear() == nil {
			for _, item := range items {
				_ = v.Append(item) // it can be changed, as it was cleared
			}
		}
	}
	for v, items := range c.dicts {
		if v.Clear() == nil {
			for _, item := range items {
				_ = v.SetKey(item[0], item[1]) // it was a key before
			}
		}
	}
	for v, items := range c.sets {
		if v.Clear() == nil {
			for _, item := range items {
				_ = v.Insert(item) // it was in it before
			}
		}
	}
}

// changed reports whether any of the containers holds something else now.
func (c contents) changed() bool {
	for v, items := range c.lists {
		if !slices.EqualFunc(slices.Collect(v.Elements()), items, identical) {
			return true
		}
	}
	for v, items := range c.dicts {
		if !slices.EqualFunc(v.Items(), items, func(a, b starlark.Tuple) bool { return identical(a[0], b[0]) && identical(a[1], b[1]) }) {
			return true
		}
	}
	for v, items := range c.sets {
		if !slices.EqualFunc(slices.Collect(v.Elements()), items, identical) {
			return true
		}
	}
	return false
}

// Changed reports whether the statement, and its run, changed a list, dict or set that names led to before. It is known
// until the next statement is added.
func (s *Statement) Changed() bool { return s.before.changed() }

// identical reports whether two values are the same one: a number, a text and a container are what they are. Tuples cannot
// be compared by identity in Go, and values of hosts may not be.
func identical(a, b starlark.Value) bool {
	if t, ok := a.(starlark.Tuple); ok {
		u, ok := b.(starlark.Tuple)
		return ok && len(t) == len(u) && (len(t) == 0 || &t[0] == &u[0])
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}
