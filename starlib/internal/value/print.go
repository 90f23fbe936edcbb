package value

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Unwrapped returns the operand that a value stands for, or the value itself. The interpreter asks stand-ins for
// operands of growing operators to perform the operation.
func Unwrapped(v starlark.Value) starlark.Value {
	if w, ok := v.(interface{ Unwrapped() starlark.Value }); ok {
		return w.Unwrapped()
	}
	return v
}

// MaxPrintNesting bounds the nesting of JSON text that scripts read, as the decoder of models' answers does, and of
// values that they print. The interpreter's own reader and printer recurse without a bound, and an overflow of the Go
// stack ends the whole process.
const MaxPrintNesting = 500

// NestedTooDeep reports whether JSON text nests brackets deeper than MaxPrintNesting. For invalid JSON the answer may
// be either; the decoder reports what is wrong with it.
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

// PlainText returns the result of str for a value.
func PlainText(v starlark.Value) (string, error) {
	if s, ok := v.(starlark.String); ok {
		return string(s), nil
	}
	if err := printable(v); err != nil {
		return "", err
	}
	return v.String(), nil
}

// MaxText bounds the text of a value, in bytes.
const MaxText = 64 << 20

// printable rejects a value whose text would be endless: nested too deeply, with too many items or too long, counted as
// often as they are reached.
func printable(v starlark.Value) error {
	_, err := Printed(v, MaxText)
	return err
}

// Printed returns an upper bound on the bytes of a value's text, or why it cannot be printed: it is nested too deeply,
// has too many items or more than most bytes.
func Printed(v starlark.Value, most int64) (int64, error) {
	if s, ok := v.(starlark.String); ok {
		return int64(len(s)), nil
	}
	p := printing{most: most}
	out, err := p.measure(v, 0)
	return out.text, err
}

// printing is the state of measuring one value.
type printing struct {
	most int64 // bytes
	// known holds the extents of containers, by identity. The extent of one that is being measured, and therefore
	// contains itself, is zero: the printer writes dots.
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
		return extent{size: 1, text: textLen(v)}, nil
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
		out = extent{size: 1, height: 1, text: 2}
		for part := range Parts(v) {
			e, err := p.measure(part, depth+1)
			if err != nil {
				return out, err
			}
			if out.holds(e); out.size > maxSize {
				return out, script.Errorf(diag.WrongValue, "the value has more than %d items", maxSize)
			}
			if out.text += e.text + 2; out.text > p.most {
				return out, script.Errorf(diag.WrongValue, "the text of the value has more than %d bytes", p.most).WithHelp("print a part of it")
			}
		}
		p.known[id] = out
	}
	if depth+out.height > MaxPrintNesting {
		return out, deepPrint()
	}
	return out, nil
}

// textLen returns an upper bound on the bytes of a value inside a text.
func textLen(v starlark.Value) int64 {
	switch v := v.(type) {
	case starlark.String:
		return quotedLen(string(v))
	case starlark.Bytes:
		return quotedLen(string(v)) + 1
	case starlark.Int:
		if _, small := v.Int64(); small {
			return 20
		}
		return int64(v.BigInt().BitLen())/3 + 2
	case *Record:
		return dataLen(v.Record.Value())
	}
	return 24
}

// dataLen is textLen for data, without the names of types and fields.
func dataLen(v generable.Value) (n int64) {
	switch v.Kind() {
	case generable.RecordKind:
		r, _ := v.AsRecord()
		for i := range r.Type().Fields {
			n += dataLen(r.At(i))
		}
	case generable.ListKind:
		l, _ := v.AsList()
		for _, item := range l.Items() {
			n += dataLen(item)
		}
	case generable.MapKind:
		m, _ := v.AsMap()
		for i := range m.Len() {
			_, item := m.At(i)
			n += dataLen(item)
		}
	case generable.Str:
		s, _ := v.AsStr()
		return quotedLen(s)
	}
	return n + 2
}

// quotedLen returns an upper bound on the bytes of a quoted text.
func quotedLen(s string) int64 {
	n := int64(len(s)) + 2
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\':
			n++
		case c < ' ' || c >= 0x7f:
			n += 3
		}
	}
	return n
}

func deepPrint() error {
	return script.Errorf(diag.WrongValue, "the value is nested more than %d deep and cannot be printed", MaxPrintNesting).
		WithHelp("print a part of it")
}

// FailedType is the type's name. An error that mentions it follows from one that was reported, and is not reported.
const FailedType = "<failed>"

// Failed stands in for the result of a call that was reported. Every operation accepts it silently, so that one mistake
// causes one message.
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

// Typed stands for a value of which only the type is known: Of is a value of it.
type Typed struct {
	Failed
	Of   starlark.Value
	Word string // its type in messages
}

func (t *Typed) Type() string { return t.Word }
