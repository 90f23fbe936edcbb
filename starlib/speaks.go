package starlib

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// speech looks for something that a function speaks of, as far as its text tells: by a global, by what it
// captures, by a default, or in another function that it speaks of. A function that is reached from
// data can be none of these, since data hold no functions.
type speech struct {
	c    *state
	seen map[starlark.Value]bool

	// is reports whether a value is what is looked for.
	is func(v starlark.Value) bool
	// text reports whether the text of a function is; nil code is not known. May be nil.
	text func(u *unit, code syntax.Node) bool
	// within looks into other values. May be nil.
	within func(v starlark.Value) bool
}

func (c *state) newSpeech(is func(starlark.Value) bool) *speech {
	return &speech{c: c, seen: map[starlark.Value]bool{}, is: is}
}

// of reports whether a value is what is looked for, or speaks of it.
func (s *speech) of(v starlark.Value) bool {
	if v == nil {
		return false
	}
	if s.is(v) {
		return true
	}
	switch v := v.(type) {
	case *starlark.Function:
		return s.first(v) && s.function(v)
	case *starlark.Builtin:
		return s.of(v.Receiver())
	case *starlark.List:
		if !s.first(v) {
			return false
		}
		for i := range v.Len() {
			if s.of(v.Index(i)) {
				return true
			}
		}
	case *starlark.Dict:
		if !s.first(v) {
			return false
		}
		for key, item := range v.Entries() {
			if s.of(key) || s.of(item) {
				return true
			}
		}
	case *starlark.Set:
		if !s.first(v) {
			return false
		}
		for item := range starlark.Elements(v) {
			if s.of(item) {
				return true
			}
		}
	case starlark.Tuple:
		for _, item := range v {
			if s.of(item) {
				return true
			}
		}
	default:
		return s.within != nil && s.within(v)
	}
	return false
}

// first reports whether a value is come to for the first time.
func (s *speech) first(v starlark.Value) bool {
	if s.seen[v] {
		return false
	}
	s.seen[v] = true
	return true
}

func (s *speech) function(fn *starlark.Function) bool {
	for i := range fn.NumFreeVars() {
		if _, captured := fn.FreeVar(i); s.of(captured) {
			return true
		}
	}
	for i := range fn.NumParams() {
		if s.of(fn.ParamDefault(i)) {
			return true
		}
	}
	var node syntax.Node
	u := s.c.shown[fn.Position().Filename()]
	if u != nil && u.file != nil {
		node = u.function(fn.Position())
	}
	if s.text != nil && s.text(u, node) {
		return true
	}
	if node == nil {
		return false
	}
	names := map[string]bool{}
	named(node, names)
	for name := range names {
		if s.of(u.globals[name]) {
			return true
		}
	}
	return false
}

// noting settles whether a tool of the script uses a memory and what the most is that it does, once all
// that its function speaks of is there.
func (c *state) noting(t *toolRun) {
	settle := func() {
		t.notes = c.session.Banks() > 0 && c.usesMemory(t.fn)
		t.class = c.actsOf(t.fn)
	}
	if c.sealed.Load() {
		settle()
	} else {
		c.ends = append(c.ends, settle)
	}
}

// usesMemory reports whether a function uses a memory: calls of such tools in one answer are made in
// the order of the answer. What an agent does with its notes is its own.
func (c *state) usesMemory(v starlark.Value) bool {
	return c.newSpeech(func(v starlark.Value) bool { _, is := v.(*memoryValue); return is }).of(v)
}
