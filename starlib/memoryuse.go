package starlib

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// noting settles whether a tool of the script uses a memory, once all that its function speaks of is
// there: calls of such tools in one answer are made in the order of the answer.
func (c *composer) noting(t *toolRun) {
	if !c.sealed.Load() {
		c.toolRuns = append(c.toolRuns, t)
		return
	}
	t.notes = c.session.Banks() > 0 && c.usesMemory(t.fn, map[starlark.Value]bool{})
}

// settleNotes settles it for the tools that were made while the script loaded.
func (c *composer) settleNotes() {
	if c.session.Banks() > 0 {
		for _, u := range c.units {
			if u.file != nil {
				u.function(syntax.Position{}) // so that runs find functions, and change nothing
			}
		}
		for _, t := range c.toolRuns {
			t.notes = c.usesMemory(t.fn, map[starlark.Value]bool{})
		}
	}
	c.toolRuns = nil
}

// usesMemory reports whether a value is a memory or speaks of one, as far as the text of functions
// tells: by a global, by what it captures, by a default, or in another function that it speaks of. What
// an agent does with its notes is its own.
func (c *composer) usesMemory(v starlark.Value, seen map[starlark.Value]bool) bool {
	switch v := v.(type) {
	case *memoryValue:
		return true
	case *starlark.Builtin:
		_, of := v.Receiver().(*memoryValue)
		return of
	case *starlark.Function:
		if seen[v] {
			return false
		}
		seen[v] = true
		return c.speaksOfMemory(v, seen)
	case *starlark.List:
		return !seen[v] && c.anyMemory(v, seen)
	case *starlark.Dict:
		if !seen[v] {
			seen[v] = true
			for _, item := range v.Items() {
				if c.usesMemory(item[1], seen) {
					return true
				}
			}
		}
	case starlark.Tuple:
		for _, item := range v {
			if c.usesMemory(item, seen) {
				return true
			}
		}
	}
	return false
}

func (c *composer) anyMemory(l *starlark.List, seen map[starlark.Value]bool) bool {
	seen[l] = true
	for i := range l.Len() {
		if c.usesMemory(l.Index(i), seen) {
			return true
		}
	}
	return false
}

func (c *composer) speaksOfMemory(fn *starlark.Function, seen map[starlark.Value]bool) bool {
	for i := range fn.NumFreeVars() {
		if _, captured := fn.FreeVar(i); c.usesMemory(captured, seen) {
			return true
		}
	}
	for i := range fn.NumParams() {
		if given := fn.ParamDefault(i); given != nil && c.usesMemory(given, seen) {
			return true
		}
	}
	u := c.shown[fn.Position().Filename()]
	if u == nil || u.file == nil {
		return false
	}
	node := u.function(fn.Position())
	if node == nil {
		return false
	}
	names := map[string]bool{}
	named(node, names)
	for name := range names {
		if c.usesMemory(u.globals[name], seen) {
			return true
		}
	}
	return false
}
