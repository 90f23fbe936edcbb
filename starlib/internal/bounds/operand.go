package bounds

import (
	"fmt"
	"strings"
	"sync"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// limit is the value limit of a script.
type limit struct {
	most int64

	guards, builtins starlark.StringDict
	methods          map[string]*starlark.Builtin // the growing ones, by name

	counts [256]bounded // small numbers, so that x[i] *= 2 does not allocate
}

// usual is the limit that nearly all scripts use. It is immutable, so they share it.
var usual = sync.OnceValue(func() *limit { return makeLimit(value.MaxText) })

func newLimit(most int64) *limit {
	if most == value.MaxText {
		return usual()
	}
	return makeLimit(most)
}

func makeLimit(most int64) *limit {
	l := &limit{most: most}
	for i := range l.counts {
		l.counts[i] = bounded{Value: starlark.MakeInt(i), limit: l}
	}
	l.guards, l.builtins, l.methods = l.makeGuards(), l.makeBuiltins(), l.makeMethods()
	return l
}

const (
	itemBytes = 16      // for an item of a list or tuple
	smallBits = 1 << 10 // numbers up to this many bits are multiplied without a check
)

// refuse returns the error for an operation whose result would be too large.
func (l *limit) refuse(what string, size int64) error {
	return script.Errorf(diag.WrongValue, "%s would be %d bytes large, and a value may have %d", what, size, l.most).
		WithHelp("work on parts: a value that large fits into no prompt and no answer; a host may allow larger ones")
}

// bounded stands for an operand that may produce a large value. Because it is none of the interpreter's own
// types, the interpreter asks it to perform the operation; nothing else sees it.
type bounded struct {
	starlark.Value
	limit   *limit
	inPlace bool // x += y mutates x if it is a list
}

var _ starlark.HasBinary = (*bounded)(nil)

// Unwrapped returns the operand.
func (b *bounded) Unwrapped() starlark.Value { return b.Value }

func (l *limit) wrap(v starlark.Value) starlark.Value { return &bounded{Value: v, limit: l} }

// left wraps the left operand of an operator, or either operand of *.
func (l *limit) left(v starlark.Value) starlark.Value {
	switch v := v.(type) {
	case starlark.Int:
		if _, small := v.Int64(); small || v.BigInt().BitLen() <= smallBits {
			return v
		}
	case starlark.String, starlark.Bytes, *starlark.List, starlark.Tuple:
	default:
		return v
	}
	return l.wrap(v)
}

// extended wraps x in x += y.
func (l *limit) extended(v starlark.Value) starlark.Value {
	if list, ok := v.(*starlark.List); ok {
		return &bounded{Value: list, limit: l, inPlace: true}
	}
	return l.left(v)
}

// added wraps y in x[i] += y.
func (l *limit) added(v starlark.Value) starlark.Value {
	switch v.(type) {
	case starlark.Int, starlark.Float:
		return v
	case starlark.String, starlark.Bytes, starlark.Iterable:
		return &bounded{Value: v, limit: l, inPlace: true}
	}
	return v
}

// changed wraps y in x[i] *= y: the size of the result depends on x.
func (l *limit) changed(v starlark.Value) starlark.Value {
	if n, ok := v.(starlark.Int); ok {
		if i, ok := n.Int64(); ok && i >= 0 && i < int64(len(l.counts)) {
			return &l.counts[i]
		}
	}
	return l.wrap(v)
}

// formatted rejects y in x[i] %= y if the text would be too long.
func (l *limit) formatted(y starlark.Value) error {
	_, err := value.Printed(y, l.most)
	return err
}

func (b *bounded) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	x, y := b.Value, value.Unwrapped(y)
	if side == starlark.Right {
		x, y = y, x
	}
	if err := b.limit.check(op, x, y); err != nil {
		return nil, err
	}
	if list, ok := x.(*starlark.List); ok && b.inPlace {
		if _, iterable := y.(starlark.Iterable); iterable {
			return list, extend(list, y)
		}
	}
	return starlark.Binary(op, x, y)
}

// extend implements list += y.
func extend(list *starlark.List, y starlark.Value) error {
	own, err := list.Attr("extend")
	if err != nil {
		return err
	}
	if _, err = own.(*starlark.Builtin).CallInternal(nil, starlark.Tuple{y}, nil); err != nil {
		return fmt.Errorf("%s", strings.Replace(err.Error(), "extend: cannot extend", "cannot apply += to", 1))
	}
	return nil
}

// sizeOf returns the size in bytes of a value that operators concatenate; 0 for any other.
func sizeOf(v starlark.Value) int64 {
	switch v := v.(type) {
	case starlark.String:
		return int64(len(v))
	case starlark.Bytes:
		return int64(len(v))
	case *starlark.List:
		return int64(v.Len()) * itemBytes
	case starlark.Tuple:
		return int64(len(v)) * itemBytes
	}
	return 0
}

func bitLen(n starlark.Int) int64 {
	if _, small := n.Int64(); small {
		return 64
	}
	return int64(n.BigInt().BitLen())
}

// check rejects x op y if the result is too large.
func (l *limit) check(op syntax.Token, x, y starlark.Value) error {
	a, isInt := x.(starlark.Int)
	b, byInt := y.(starlark.Int)
	size := int64(0)
	switch op {
	case syntax.PLUS:
		size = sizeOf(x) + sizeOf(y)
		if _, list := x.(*starlark.List); list && sizeOf(y) == 0 { // of +=
			size += int64(max(0, starlark.Len(y))) * itemBytes
		}
	case syntax.STAR:
		switch {
		case isInt && byInt:
			size = (bitLen(a) + bitLen(b)) / 8
		case byInt:
			size = times(sizeOf(x), b)
		case isInt:
			size = times(sizeOf(y), a)
		}
	case syntax.LTLT:
		if n, ok := b.Int64(); isInt && byInt && ok {
			size = (bitLen(a) + max(n, 0)) / 8
		}
	case syntax.PERCENT:
		if format, ok := x.(starlark.String); ok {
			return l.percent(string(format), y)
		}
	}
	if size > l.most {
		return l.refuse(map[syntax.Token]string{syntax.PLUS: "the sum", syntax.STAR: "the product", syntax.LTLT: "the shifted number"}[op], size)
	}
	return nil
}

// times multiplies a size; the result saturates. A count that does not fit an int64 is left to the interpreter to
// reject.
func times(size int64, n starlark.Int) int64 {
	count, ok := n.Int64()
	switch {
	case size == 0 || !ok || count <= 0:
		return 0
	case count > (1<<62)/size:
		return 1 << 62
	}
	return size * count
}
