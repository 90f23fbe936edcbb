package generable

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// FieldError says why a value, or its text, does not fit a type at one place.
type FieldError struct {
	Path     string // ".plan.steps[2]"; empty for the root
	Expected string // "int", "one of low, medium, high"
	Got      string // the actual value, shortened
	Hint     string // what to do; may be empty
	Offset   int    // byte offset in the decoded text, -1 without a text
	Line     int    // 1-based, 0 without a text
	Col      int    // 1-based, in runes
}

func (e *FieldError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(strings.TrimPrefix(e.Path, "."))
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "want %s, got %s", e.Expected, e.Got)
	if e.Line > 0 {
		fmt.Fprintf(&b, " at line %d, column %d", e.Line, e.Col)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// FieldErrors lists everything that is wrong with one value.
type FieldErrors []*FieldError

func (l FieldErrors) Error() string {
	return strings.Join(text.Each(l, (*FieldError).Error), "\n")
}

// Err returns l as an error, or nil when it is empty.
func (l FieldErrors) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// maxComplaints and maxComplaint bound the text that is sent to a model: the hundredth line does not help, and each
// line costs tokens.
const (
	maxComplaints = 30
	maxComplaint  = 8 << 10 // bytes
)

// Complaint explains to a model what is wrong with its answer, one line for each error up to 30, and
// how to answer. It is empty if there are no errors.
func (l FieldErrors) Complaint() string {
	if len(l) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Your answer does not fit:\n")
	for i, e := range l {
		if i == maxComplaints || b.Len() > maxComplaint {
			b.WriteString("- and " + text.Count(len(l)-i, "error") + " more\n")
			break
		}
		b.WriteString("- ")
		if e.Path != "" {
			b.WriteString(strings.TrimPrefix(e.Path, ".") + ": ")
		}
		b.WriteString("expected " + e.Expected + ", got " + e.Got)
		if e.Hint != "" {
			b.WriteString(" (" + e.Hint + ")")
		}
		b.WriteString("\n")
	}
	b.WriteString("Answer again with the whole JSON value and nothing else.")
	return b.String()
}

// newFieldError makes an error about a value that was not read from a text.
//
//go:noinline
func newFieldError(path, want, got, hint string) *FieldError {
	return &FieldError{Path: path, Expected: want, Got: got, Hint: hint, Offset: -1}
}

// Once removes the errors about fields that are missing because they are misspelt: the error about the unknown key
// already names the field, and one error per mistake is enough. Use it where unknown keys are reported.
func (l FieldErrors) Once() FieldErrors {
	meant := map[string]bool{}
	for _, e := range l {
		if near, ok := strings.CutPrefix(e.Hint, "did you mean "); ok && e.Got != "nothing" {
			meant[e.Path[:strings.LastIndexByte(e.Path, '.')+1]+strings.TrimSuffix(near, "?")] = true
		}
	}
	if len(meant) == 0 {
		return l
	}
	var kept FieldErrors
	for _, e := range l {
		if e.Got != "nothing" || !meant[e.Path] {
			kept = append(kept, e)
		}
	}
	return kept
}

// mismatch records that v is not a value of t, and reports false.
func (c *converter) mismatch(v Value, t *Type, at *message.Path) bool {
	if c.quiet > 0 {
		return false
	}
	if s, ok := v.AsStr(); ok && t.Kind == EnumType {
		return c.fail(at, message.OneOf(t.Values), message.Quote(s), message.DidYouMean(s, t.Values))
	}
	want, hint := wanted(t)
	switch {
	case hint != "":
	case v.kind == MapKind && t.Kind == RecordType:
		hint = "make an instance: " + t.String() + "(**value)"
	case v.kind == Int && t.Kind == FloatType:
		hint = "convert it with float()"
	case v.kind == RecordKind && t.IsNominal() && v.TypeName() == t.Name:
		hint = "two different types are named " + t.Name
	}
	return c.fail(at, want, v.TypeName(), hint)
}

// wanted describes in words what t accepts.
func wanted(t *Type) (want, hint string) {
	switch t.Kind {
	case EnumType:
		return message.OneOf(t.Values), ""
	case RefType:
		return t.Name, "the type " + t.Name + " is not declared"
	case OneOfType:
		if t.isNumber() {
			return strings.Replace(t.String(), t.Variants[0].String()+" | "+t.Variants[1].String(), "number", 1), ""
		}
	}
	return t.String(), ""
}

// isNumber reports whether t is int | float, with or without None.
func (t *Type) isNumber() bool {
	if t.Kind != OneOfType || len(t.Variants) > 3 || len(t.Variants) == 3 && t.Variants[2].Kind != NoneType {
		return false
	}
	a, b := t.Variants[0].Kind, t.Variants[1].Kind
	return a == IntType && b == FloatType || a == FloatType && b == IntType
}

func (c *converter) unknownKeys(m *Map, t *Type, skip string, at *message.Path) {
	names := t.FieldNames()
	want := "one of the fields " + strings.Join(names, ", ")
	if len(names) == 0 {
		want = "no fields"
	}
	for _, key := range m.keys {
		if key == skip || t.FieldIndex(key) >= 0 {
			continue
		}
		step := message.Path{Up: at, Name: key}
		c.fail(&step, want, "a field that "+t.String()+" does not have", t.keyHint(key, names))
	}
}

// keyHint suggests the field that an unknown key may have meant.
func (t *Type) keyHint(key string, names []string) string {
	for i := range t.Fields {
		if f := &t.Fields[i]; slices.Contains(f.Alias, key) {
			return "did you mean " + f.Name + "?"
		}
	}
	return message.DidYouMean(key, names)
}
