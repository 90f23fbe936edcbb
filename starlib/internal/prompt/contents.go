package prompt

import (
	"reflect"
	"slices"

	"go.starlark.net/starlark"
)

// Contents records what lists, dicts and sets held when a statement began. It can restore them if the statement starts
// over, and report whether the statement changed any of them.
type Contents struct {
	lists map[*starlark.List][]starlark.Value
	dicts map[*starlark.Dict][]starlark.Tuple
	sets  map[*starlark.Set][]starlark.Value
}

// NewContents returns empty Contents.
func NewContents() *Contents {
	return &Contents{map[*starlark.List][]starlark.Value{}, map[*starlark.Dict][]starlark.Tuple{}, map[*starlark.Set][]starlark.Value{}}
}

// Add records what a value holds, if it is a list, dict or set.
func (c *Contents) Add(v starlark.Value) {
	switch v := v.(type) {
	case *starlark.List:
		c.lists[v] = slices.Collect(v.Elements())
	case *starlark.Dict:
		c.dicts[v] = v.Items()
	case *starlark.Set:
		c.sets[v] = slices.Collect(v.Elements())
	}
}

// Restore restores the containers. Frozen ones have not changed.
func (c *Contents) Restore() {
	for v, items := range c.lists {
		if !slices.EqualFunc(slices.Collect(v.Elements()), items, identical) && v.Clear() == nil {
			for _, item := range items {
				_ = v.Append(item) // it is mutable, since it was cleared
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
				_ = v.Insert(item) // it was an item before
			}
		}
	}
}

// Changed reports whether any of the containers has changed.
func (c *Contents) Changed() bool {
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

// identical reports whether two values are the same: numbers and texts by value, containers by identity. Tuples cannot
// be compared by identity in Go, and neither can some values of hosts.
func identical(a, b starlark.Value) bool {
	if t, ok := a.(starlark.Tuple); ok {
		u, ok := b.(starlark.Tuple)
		return ok && len(t) == len(u) && (len(t) == 0 || &t[0] == &u[0])
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}
