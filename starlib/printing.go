package starlib

import (
	"go.starlark.net/starlark"
)

// What the compiler puts around operands that the interpreter prints, see source.File.Guard.
const (
	printedOperand   = "% operand"
	formattedOperand = ".format operand"
)

// guards are the functions that operands go through.
func guards() starlark.StringDict {
	return starlark.StringDict{
		printedOperand: operand("%", func(v starlark.Value) (starlark.Value, error) { return v, printable(v) }),
		formattedOperand: operand("format", func(v starlark.Value) (starlark.Value, error) {
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
