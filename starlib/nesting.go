package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
)

// maxNest bounds the nesting of JSON text that scripts read, as the decoder of models' answers
// does, and of values that they print. The interpreter's own reader and printer recurse without
// a bound, and a Go stack that overflows ends the process of everybody.
const maxNest = 500

// nestedTooDeep reports whether JSON text opens more brackets inside each other than maxNest.
// Of text that is no JSON it may say either; the decoder says what is wrong with that.
func nestedTooDeep(text string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxNest {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// plain is what str gives of a value.
func plain(v starlark.Value) (string, error) {
	if s, ok := v.(starlark.String); ok {
		return string(s), nil
	}
	if err := printable(v); err != nil {
		return "", err
	}
	return v.String(), nil
}

// printable refuses a value whose text would be endless: nested too deep, or of too many items,
// counted as often as they are reached.
func printable(v starlark.Value) error {
	p := printing{}
	_, err := p.measure(v, 0)
	return err
}

// printing is one look at a value that is to be printed.
type printing struct {
	// known are the containers, by what identifies them. One that is being measured, and so
	// contains itself, reaches nowhere: the printer writes dots.
	known map[any]extent
}

func (p *printing) measure(v starlark.Value, depth int) (extent, error) {
	var id any
	switch v := v.(type) {
	case *starlark.List, *starlark.Dict, *starlark.Set:
		id = v
	case starlark.Tuple:
		if len(v) > 0 {
			id = &v[0]
		}
	}
	if id == nil {
		return extent{size: 1}, nil
	}
	out, known := p.known[id]
	if !known {
		if depth >= maxNest {
			return out, deepPrint()
		}
		if p.known == nil {
			p.known = map[any]extent{}
		}
		p.known[id] = extent{}
		out = extent{size: 1, height: 1}
		add := func(item starlark.Value) error {
			e, err := p.measure(item, depth+1)
			if err != nil {
				return err
			}
			if out.holds(e); out.size > maxSize {
				return errorf(diag.WrongValue, "the value has more than %d items", maxSize)
			}
			return nil
		}
		if d, ok := v.(*starlark.Dict); ok {
			for key, item := range d.Entries() {
				if err := add(key); err != nil {
					return out, err
				}
				if err := add(item); err != nil {
					return out, err
				}
			}
		} else {
			for item := range starlark.Elements(v.(starlark.Iterable)) {
				if err := add(item); err != nil {
					return out, err
				}
			}
		}
		p.known[id] = out
	}
	if depth+out.height > maxNest {
		return out, deepPrint()
	}
	return out, nil
}

func deepPrint() error {
	return errorf(diag.WrongValue, "the value is nested more than %d deep and cannot be printed", maxNest).
		WithHelp("print a part of it")
}
