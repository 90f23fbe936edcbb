package value

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// unfit says why a value cannot leave the script.
func unfit(v starlark.Value, at *where) error {
	switch v := v.(type) {
	case starlark.Float:
		return cannot(at, "the float is %s, which JSON does not have", v).WithHelp("%s", "check for it first, or use None: x if x == x else None")
	case starlark.String:
		return cannot(at, "the str is not valid UTF-8").WithHelp("%s", "it was cut inside a character, since the numbers of s[a:b] count bytes: write truncate(s, 80), or \"\".join(list(s.codepoints())[a:b])")
	case starlark.Bytes:
		return cannot(at, "bytes cannot leave the script").WithHelp("%s", "make a str of them: str(b)")
	case *starlark.Set:
		return cannot(at, "a set cannot leave the script").WithHelp("%s", "make a list of it: sorted(s)")
	case *Type:
		return cannot(at, "the type %s is not data", v).WithHelp("make a value of it: %s(...)", v)
	case *Masked:
		return cannot(at, "%s is a secret, which is not data", v).WithHelp("%s", "put it into the headers, the URL or the body of a request, or the input of a command")
	case *Node:
		return cannot(at, "the %s %s is not data", v.Node.Kind(), v.Label()).WithHelp("call it: %s(...)", v.Label())
	case *starlark.Function:
		if v.Name() == "lambda" {
			return cannot(at, "a lambda is not data").WithHelp("call it, and use what it returns")
		}
		return cannot(at, "the function %s is not data", v.Name()).WithHelp("call it: %s(...)", v.Name())
	}
	if b, ok := v.(*starlark.Builtin); ok {
		return cannot(at, "the builtin %s is not data", b.Name()).WithHelp("call it: %s(...)", b.Name())
	}
	return cannot(at, "a %s cannot leave the script", v.Type())
}

// ConvertError says why a value cannot leave the script, and which part of it is the reason.
type ConvertError struct {
	at   string
	what string
	Help string
}

func cannot(at *where, format string, args ...any) *ConvertError {
	path := at.String()
	if len(path) > 0 && path[0] == '.' {
		path = path[1:]
	}
	return &ConvertError{at: path, what: fmt.Sprintf(format, args...)}
}

// WithHelp sets the remedy.
func (e *ConvertError) WithHelp(format string, args ...any) *ConvertError {
	e.Help = fmt.Sprintf(format, args...)
	return e
}

func (e *ConvertError) Error() string {
	if e.at == "" {
		return e.what
	}
	return e.at + ": " + e.what
}

// Prefixed adds the name of the argument to the error about its value.
func Prefixed(name string, err error) error {
	e, ok := err.(*ConvertError)
	if !ok {
		return err
	}
	own := *e
	switch {
	case own.at == "":
		own.at = name
	case own.at[0] == '[':
		own.at = name + own.at
	default:
		own.at = name + "." + own.at
	}
	return own.Raise()
}

// Raise converts the error to one with which scripts fail.
func (e *ConvertError) Raise() error {
	out := script.Errorf(diag.WrongValue, "%s", e.Error())
	out.Help = e.Help
	return out
}
