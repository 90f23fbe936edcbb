package possible

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// A builtin of the interpreter is tried with samples of its arguments. An error that mentions a sample of unknown type
// proves nothing. Neither does one that may depend on more than the types, unless every argument is a constant.

// unknownType is the type of a sample that stands for any value.
const unknownType = "value of any type"

// anything stands for a value about which nothing is known.
type anything struct{ value.Plain }

func (anything) String() string        { return unknownType }
func (anything) Type() string          { return unknownType }
func (anything) Hash() (uint32, error) { return 0, nil }

// Anything is the sample of an unknown value.
var Anything starlark.Value = anything{}

// Concerns reports whether an error mentions a value about which nothing is known.
func Concerns(err error) bool { return strings.Contains(err.Error(), unknownType) }

// callable stands for a function that takes and returns anything.
var callable = starlark.NewBuiltin("function", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return starlark.MakeInt(0), nil
})

// Argument returns a sample of an alternative with n items, as far as its items are known.
func (a *Alt) Argument(n int) starlark.Value {
	switch a.Kind {
	case Function:
		return callable
	case Thing:
		switch a.Exact.(type) {
		case *value.Node, *starlark.Builtin, *value.Type:
			return callable
		}
		return Anything
	case Unset, Record:
		if a.Kind == Record {
			return a.Sample()
		}
		return Anything
	case List:
		if a.Items != nil {
			return starlark.NewList(samplesOf(a.Items))
		}
		if item, ok := a.Elem.Certain(); ok && n > 0 {
			items := make([]*Value, n)
			for i := range items {
				items[i] = One(item)
			}
			return starlark.NewList(samplesOf(items))
		}
	case Tuple:
		return starlark.Tuple(samplesOf(a.Items))
	}
	if c := One(*a).Constant(); c != nil && starlark.Len(c) < mostConstant {
		return c
	}
	return a.Sample()
}

// mostConstant bounds the size of constants that are tried themselves.
const mostConstant = 1000

func samplesOf(items []*Value) []starlark.Value {
	out := make([]starlark.Value, len(items))
	for i, item := range items {
		out[i] = Anything
		if a, ok := item.Certain(); ok {
			out[i] = a.Argument(0)
		}
	}
	return out
}

// IsConstant reports whether the sample of an alternative is the value itself.
func (a *Alt) IsConstant() bool {
	switch a.Kind {
	case List, Tuple:
		if a.Items == nil && a.Kind == List {
			return false
		}
		for _, item := range a.Items {
			if c, ok := item.Certain(); !ok || !c.IsConstant() {
				return false
			}
		}
		return true
	}
	c := One(*a).Constant()
	return c != nil && starlark.Len(c) < mostConstant
}

// Trial is a call of a builtin of the interpreter, tried with samples of its receiver and its arguments.
type Trial struct {
	Call     *syntax.CallExpr
	Name     string // the name by which it is called
	Fn       func(on *Alt) *starlark.Builtin
	Operands []Operand // the receiver of a method first
	Method   bool
	Items    int // the number of items in lists whose items have a known type
}

// Operand is the receiver or an argument.
type Operand struct {
	Expr syntax.Expr
	Name string // for a keyword argument
	V    *Value
}

// MostTrials bounds the combinations of alternatives that are tried.
const MostTrials = 64

// ShapeError matches errors that depend only on the number, the names and the types of arguments.
var ShapeError = lazy.Regexp(`got .*wants? |want .*got |unexpected keyword|missing argument|keyword arguments|multiple values|not iterable|cannot convert|unhashable|has no len|not implemented|at least one positional`)

// Combinations returns the number of combinations of the alternatives of all operands.
func (t *Trial) Combinations() int {
	n := 1
	for i := range t.Operands {
		if n *= max(1, len(t.Operands[i].V.Alts)); n > MostTrials {
			break
		}
	}
	return n
}

// Fails returns the error of the calls in which operand fixed is the alternative a, if all of them fail; -1 fixes no
// operand.
func (t *Trial) Fails(fixed int, a *Alt) error {
	picked := make([]*Alt, len(t.Operands))
	var first error
	var try func(i int) bool // reports whether all fail
	try = func(i int) bool {
		if i == len(t.Operands) {
			err := t.Certain(picked)
			if first == nil {
				first = err
			}
			return err != nil
		}
		v := t.Operands[i].V
		switch {
		case i == fixed:
			picked[i] = a
			return try(i + 1)
		case v.Any || len(v.Alts) == 0:
			picked[i] = nil
			return try(i + 1)
		}
		for k := range v.Alts {
			picked[i] = &v.Alts[k]
			if !try(i + 1) {
				return false
			}
		}
		return true
	}
	if !try(0) {
		return nil
	}
	return first
}

// Certain returns the error of one call if every such call has one. nil stands for anything.
func (t *Trial) Certain(picked []*Alt) error {
	err, constant := t.make(picked)
	if err == nil || Concerns(err) || !constant && !ShapeError().MatchString(err.Error()) {
		return nil
	}
	return err
}

// make makes one call, and reports whether all its arguments were constants.
func (t *Trial) make(picked []*Alt) (failed error, constant bool) {
	constant = true
	sample := func(i int) starlark.Value {
		if picked[i] == nil || picked[i].Kind == Record && t.Name == "dict" { // dict makes a dict of an instance
			constant = false
			return Anything
		}
		constant = constant && picked[i].IsConstant()
		return picked[i].Argument(t.Items)
	}
	var on *Alt
	rest := 0
	if t.Method {
		on, rest = picked[0], 1
		if on == nil {
			return nil, false
		}
		constant = on.IsConstant()
	}
	fn := t.Fn(on)
	if fn == nil {
		return nil, false
	}
	var args starlark.Tuple
	var named []starlark.Tuple
	for i := rest; i < len(t.Operands); i++ {
		if name := t.Operands[i].Name; name != "" {
			named = append(named, starlark.Tuple{starlark.String(name), sample(i)})
		} else {
			args = append(args, sample(i))
		}
	}
	_, err := fn.CallInternal(&starlark.Thread{Print: func(*starlark.Thread, string) {}}, args, named)
	return err, constant
}

// Container returns the operand whose items matter.
func (t *Trial) Container() syntax.Expr {
	for i := range t.Operands {
		if a, ok := t.Operands[i].V.Certain(); ok && a.Kind == List && a.Items == nil && a.Elem != nil {
			return t.Operands[i].Expr
		}
	}
	return t.Call
}

// MayBeEmpty reports whether a list of the operands may have fewer items than were tried.
func (t *Trial) MayBeEmpty() bool {
	for i := range t.Operands {
		if a, ok := t.Operands[i].V.Certain(); ok && a.Kind == List && a.Items == nil && (!a.Some || t.Items > 1) {
			return true
		}
	}
	return false
}

// Culprit returns the operand that the error of a call is about, or -1 if that is not known.
func (t *Trial) Culprit(msg string) int {
	first := 0
	if t.Method {
		first = 1
	}
	picked := make([]*Alt, len(t.Operands))
	for i := range t.Operands {
		if v := t.Operands[i].V; !v.Any && len(v.Alts) > 0 {
			picked[i] = &v.Alts[0]
		}
	}
	for i := first; i < len(t.Operands); i++ {
		was := picked[i]
		if was == nil {
			continue
		}
		picked[i] = nil
		err, _ := t.make(picked)
		picked[i] = was
		if err != nil && err.Error() == strings.ReplaceAll(msg, was.Argument(t.Items).Type(), Anything.Type()) && Concerns(err) {
			return i
		}
	}
	if len(t.Operands) == first+1 {
		return first
	}
	return -1
}

// anySample stands for an unknown value: every conversion accepts it.
var anySample = starlark.MakeInt(65)

// SampleFor returns a value that a conversion accepts if it accepts the possible values of v.
func SampleFor(v *Value) starlark.Value {
	a, ok := v.Certain()
	if !ok {
		return anySample
	}
	if sample := a.Sample(); sample != nil {
		return sample
	}
	return anySample
}

// Formatted returns a sample of an alternative as the operand of s % x, or nil, and the number of values that it holds.
// named means that the format takes its values by name.
func (a *Alt) Formatted(named bool) (arg starlark.Value, n int) {
	switch {
	case a.Kind == Tuple:
		args := make(starlark.Tuple, len(a.Items))
		for i, item := range a.Items {
			args[i] = SampleFor(item)
		}
		return args, len(a.Items)
	case a.Kind == Dict && named && a.Shape == nil, a.Kind == Thing, a.Kind == Unset:
		return nil, 1
	case a.Kind == Dict && named:
		d := starlark.NewDict(len(a.Shape.Keys))
		for _, e := range a.Shape.Keys {
			d.SetKey(e.Key, SampleFor(e.Value)) // a new dict accepts every such key
		}
		return d, 1
	}
	return a.Sample(), 1
}
