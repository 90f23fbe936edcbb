package dialect

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

// locator maps a path in the wire's text to the place in the natural value. Errors and records refer to the type that
// the author knows, not to the form that a provider requires.
type locator struct {
	root *shape
	raw  generable.Value // the text read without a type, for the keys of dicts; null if they do not matter
}

// token is one step of a path.
type token struct {
	text  string // as written
	key   string
	index int // -1 for keys
}

// tokens reads a path such as .a["b c"][2].
func tokens(path string) []token {
	var out []token
	for path != "" {
		key, isIndex, rest := message.CutStep(path)
		if rest == path {
			return append(out, token{path, "", -1})
		}
		t := token{strings.TrimSuffix(path, rest), key, -1}
		if isIndex {
			t.key = ""
			t.index, _ = strconv.Atoi(key)
		}
		out = append(out, t)
		path = rest
	}
	return out
}

// place returns the natural path for a path in the wire's text, and the shape there. The shape is nil if the path
// leads into JSON text or out of the wire.
func (l *locator) place(path string) (string, *shape) {
	var b strings.Builder
	steps := tokens(path)
	s, raw := l.root, l.raw
	for i := 0; i < len(steps); i++ {
		t := steps[i]
		if s == nil {
			b.WriteString(t.text)
			continue
		}
		next, name, used := l.step(s, steps[i:], raw)
		b.WriteString(name)
		raw = reach(raw, steps[i:i+used])
		i += used - 1
		s = next
	}
	return b.String(), s
}

// step follows as many tokens from a shape as make up one step in the natural value.
func (l *locator) step(s *shape, steps []token, raw generable.Value) (next *shape, name string, used int) {
	t := steps[0]
	switch s.form {
	case wrapped:
		if t.key == valueKey {
			return s.items, "", 1
		}
		return l.step(s.items, steps, raw)
	case entered:
		if t.key == entriesKey && len(steps) > 1 {
			next, name, used = l.pair(s, steps[1:], reach(raw, steps[:1]))
			return next, name, used + 1
		}
		return s, "", 1
	case paired:
		if t.index >= 0 {
			return l.pair(s, steps, raw)
		}
		return s.items, t.text, 1
	case encoded:
		return nil, t.text, 1
	case boxed:
		if t.key == jsonKey {
			return nil, "", 1
		}
		return nil, t.text, 1
	case slotted:
		for i, p := range s.parts {
			if slotName(s, i) == t.key {
				return p, "", min(2, len(steps))
			}
		}
		return nil, t.text, 1
	case tupled:
		if i, err := strconv.Atoi(t.key); err == nil && i >= 0 && i < len(s.parts) {
			return s.parts[i], "[" + t.key + "]", 1
		}
	}
	switch s.nat.Kind {
	case generable.ListType:
		return s.item(max(0, t.index)), t.text, 1
	case generable.DictType:
		return s.items, t.text, 1
	case generable.RecordType:
		for i := range s.fields {
			if f := &s.fields[i]; t.index < 0 && (f.name == t.key || f.nat.Name == t.key) {
				return l.member(f, steps)
			}
		}
	}
	for _, p := range s.parts {
		if next, name, used = l.step(p, steps, raw); next != nil {
			return next, name, used
		}
	}
	return nil, t.text, 1
}

func (l *locator) member(f *member, steps []token) (*shape, string, int) {
	name := message.KeyPath(f.nat.Name)
	switch f.presence {
	case listed:
		if len(steps) > 1 && steps[1].index >= 0 {
			return f.shape, name, 2
		}
	case blank:
		return nil, name, 1
	case markedAbsent:
		if len(steps) > 1 && steps[1].key == absentKey {
			return f.shape, name, 2
		}
	}
	return f.shape, name, 1
}

// pair follows the index of a pair and its key or value.
func (l *locator) pair(s *shape, steps []token, raw generable.Value) (*shape, string, int) {
	name := steps[0].text
	if p, ok := reach(raw, steps[:1]).AsMap(); ok {
		if v, has := p.Get(pairKey); has {
			if key, isText := v.AsStr(); isText {
				name = message.KeyPath(key)
			}
		}
	}
	if len(steps) > 1 && (steps[1].key == valueKey || steps[1].key == pairKey) {
		return s.items, name, 2
	}
	return s.items, name, 1
}

// reach follows steps down a value; it returns null if they lead nowhere.
func reach(v generable.Value, steps []token) generable.Value {
	for _, t := range steps {
		if list, ok := v.AsList(); ok && t.index >= 0 && t.index < list.Len() {
			v = list.At(t.index)
		} else if m, ok := v.AsMap(); ok && t.index < 0 {
			v, _ = m.Get(t.key)
		} else {
			return generable.Value{}
		}
	}
	return v
}

// repairs replaces the paths of records with natural ones.
func (l *locator) repairs(list []generable.Repair) {
	for i := range list {
		list[i].Path, _ = l.place(list[i].Path)
	}
}

// errors replaces the paths of errors with natural ones, and names of wire types with the natural type.
func (l *locator) errors(list generable.FieldErrors) {
	for _, e := range list {
		var s *shape
		e.Path, s = l.place(e.Path)
		if s != nil && s.changed && (strings.Contains(e.Expected, "<unnamed>") || s.wire != nil && strings.TrimSuffix(e.Expected, " | None") == s.wire.String()) {
			e.Expected = s.nat.String()
		}
	}
}
