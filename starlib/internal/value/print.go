package value

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// What the compiler puts around operands that the interpreter prints, see source.File.Guard.
const (
	PrintedOperand   = "% operand"
	FormattedOperand = ".format operand"
)

// Guards are the functions that operands go through.
func Guards() starlark.StringDict {
	return starlark.StringDict{
		PrintedOperand: operand("%", func(v starlark.Value) (starlark.Value, error) { return v, printable(v) }),
		FormattedOperand: operand("format", func(v starlark.Value) (starlark.Value, error) {
			if s, ok := v.(starlark.String); ok {
				return formatted{s}, nil
			}
			return v, nil
		}),
	}
}

func operand(name string, f func(starlark.Value) (starlark.Value, error)) starlark.Value {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return f(args[0])
	})
}

// formatted is a text that is asked for its method format, and for nothing else.
type formatted struct{ str }

type str = starlark.String

func (f formatted) Attr(name string) (starlark.Value, error) {
	v, err := f.str.Attr(name)
	if own, ok := v.(*starlark.Builtin); ok && name == "format" {
		return boundedPrinter(own), nil
	}
	return v, err
}

// boundedPrinter is a builtin of the interpreter for arguments that can be printed.
func boundedPrinter(own *starlark.Builtin) *starlark.Builtin {
	return starlark.NewBuiltin(own.Name(), func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for _, v := range args {
			if err := printable(v); err != nil {
				return nil, err
			}
		}
		for _, kv := range kwargs {
			if err := printable(kv[1]); err != nil {
				return nil, err
			}
		}
		return own.CallInternal(thread, args, kwargs)
	})
}

// boundedGetattr is the interpreter's getattr, which reaches the method format as well.
func boundedGetattr() starlark.Value {
	own := starlark.Universe["getattr"].(*starlark.Builtin)
	return starlark.NewBuiltin("getattr", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) > 0 {
			if s, ok := args[0].(starlark.String); ok {
				args = append(starlark.Tuple{formatted{s}}, args[1:]...)
			}
		}
		return own.CallInternal(thread, args, kwargs)
	})
}

// MaxPrintNesting bounds the nesting of JSON text that scripts read, as the decoder of models' answers
// does, and of values that they print. The interpreter's own reader and printer recurse without
// a bound, and a Go stack that overflows ends the process of everybody.
const MaxPrintNesting = 500

// NestedTooDeep reports whether JSON text opens more brackets inside each other than MaxPrintNesting.
// Of text that is no JSON it may say either; the decoder says what is wrong with that.
func NestedTooDeep(text string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > MaxPrintNesting {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// PlainText is what str gives of a value.
func PlainText(v starlark.Value) (string, error) {
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
		if depth >= MaxPrintNesting {
			return out, deepPrint()
		}
		if p.known == nil {
			p.known = map[any]extent{}
		}
		p.known[id] = extent{}
		out = extent{size: 1, height: 1}
		for part := range Parts(v) {
			e, err := p.measure(part, depth+1)
			if err != nil {
				return out, err
			}
			if out.holds(e); out.size > maxSize {
				return out, script.Errorf(diag.WrongValue, "the value has more than %d items", maxSize)
			}
		}
		p.known[id] = out
	}
	if depth+out.height > MaxPrintNesting {
		return out, deepPrint()
	}
	return out, nil
}

func deepPrint() error {
	return script.Errorf(diag.WrongValue, "the value is nested more than %d deep and cannot be printed", MaxPrintNesting).
		WithHelp("print a part of it")
}

// FailedType is the type's name. An error that speaks of it follows from one that was
// reported, and is not worth a message.
const FailedType = "<failed>"

// Failed stands in for the result of a call that was reported. It takes part in
// everything without a word, so that one mistake yields one message.
type Failed struct{ Plain }

func (f *Failed) String() string { return FailedType }

func (f *Failed) Type() string { return FailedType }

func (f *Failed) Len() int { return 0 }

func (f *Failed) Hash() (uint32, error) { return 0, nil }

func (f *Failed) Name() string { return "failed" }

func (f *Failed) CallInternal(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return f, nil
}

func (f *Failed) Attr(string) (starlark.Value, error) { return f, nil }

func (f *Failed) AttrNames() []string { return nil }

func (f *Failed) Get(starlark.Value) (starlark.Value, bool, error) {
	return f, true, nil
}

func (f *Failed) Iterate() starlark.Iterator { return starlark.Tuple(nil).Iterate() }

func (f *Failed) Binary(syntax.Token, starlark.Value, starlark.Side) (starlark.Value, error) {
	return f, nil
}
