package generable

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/format"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// bound is one of the four bounds that a number can have.
type bound struct {
	Keyword string // of JSON Schema
	Words   string
	Of      func(*Limits) **float64
	Lower   bool
	Strict  bool // the bound is exclusive
}

// bounds lists the bounds in the order of schemas and texts.
var bounds = [...]bound{
	{"minimum", "at least", func(l *Limits) **float64 { return &l.Ge }, true, false},
	{"maximum", "at most", func(l *Limits) **float64 { return &l.Le }, false, false},
	{"exclusiveMinimum", "more than", func(l *Limits) **float64 { return &l.Gt }, true, true},
	{"exclusiveMaximum", "less than", func(l *Limits) **float64 { return &l.Lt }, false, true},
}

// brokenBy reports whether v is a number beyond the bound.
func (b *bound) brokenBy(l *Limits, v Value) bool {
	limit := *b.Of(l)
	if limit == nil {
		return false
	}
	c, ok := compareToFloat(v, *limit)
	if !b.Lower {
		c = -c
	}
	return ok && (c < 0 || b.Strict && c == 0)
}

// CheckLimits reports how v, which has the field's type, breaks the field's limits, or nothing when it keeps them.
// None is never limited. Paths begin at the field: ".score".
func CheckLimits(f *Field, v Value) FieldErrors {
	if f.Limits == nil {
		return nil
	}
	p := message.Path{Name: f.Name}
	return f.Limits.check(v, &p, nil)
}

// check appends to errs what is wrong with v. A limit that does not apply to the kind of v is ignored: on int | str,
// ge concerns only the int.
func (l *Limits) check(v Value, at *message.Path, errs FieldErrors) FieldErrors {
	broken := func(want, got string) {
		errs = append(errs, newFieldError(at.String(), want, got, ""))
	}
	for i := range bounds {
		if b := &bounds[i]; b.brokenBy(l, v) {
			broken(b.Words+" "+message.Number(**b.Of(l)), JSON(v, nil))
		}
	}
	if l.MultipleOf != nil && v.kind >= Int && v.kind <= Float && !format.IsMultiple(JSON(v, nil), *l.MultipleOf) {
		broken("a multiple of "+message.Number(*l.MultipleOf), JSON(v, nil))
	}
	if l.Unique && v.kind == ListKind {
		if i, j := twice((*List)(v.p).Items()); j > 0 {
			broken("items that are all different", "item "+strconv.Itoa(j)+" like item "+strconv.Itoa(i))
		}
	}
	if l.Only != nil && !l.allows(v) {
		broken(message.OneOf(l.onlyTexts()), message.Shorten(JSON(v, nil)))
	}
	if l.MinLen != nil || l.MaxLen != nil {
		if n, unit := sizeOf(v); unit != "" {
			if l.MinLen != nil && n < *l.MinLen {
				broken("at least "+text.Count(*l.MinLen, unit), text.Count(n, unit))
			}
			if l.MaxLen != nil && n > *l.MaxLen {
				broken("at most "+text.Count(*l.MaxLen, unit), text.Count(n, unit))
			}
		}
	}
	if l.Check != nil && !v.IsNull() {
		if holds, hint := l.Check.ask(v); !holds {
			errs = append(errs, newFieldError(at.String(), l.Check.Says, message.Shorten(JSON(v, nil)), hint))
		}
	}
	s, ok := v.AsStr()
	if !ok {
		return errs
	}
	if l.Pattern != "" {
		if re, err := l.regexp(); err != nil {
			broken("a regular expression as the pattern", err.Error())
		} else if !re.MatchString(s) {
			broken("text that matches "+l.Pattern, message.Quote(s))
		}
	}
	if l.Format != "" {
		if f, ok := format.Named(l.Format); ok && !f.Valid(s) {
			broken(f.What+" such as "+f.Example, message.Quote(s))
		}
	}
	return errs
}

// ask calls the host's Holds. A check that panics does not hold, and the hint reports the panic.
func (c *Check) ask(v Value) (holds bool, hint string) {
	defer func() {
		if p := recover(); p != nil {
			hint = fmt.Sprintf("the check panicked: %v", p)
		}
	}()
	return c.Holds(v), ""
}

// regexp returns the compiled pattern. Schemas compile it when they are declared; other limits compile it each time.
func (l *Limits) regexp() (*regexp.Regexp, error) {
	if l.compiled != nil {
		return l.compiled, nil
	}
	return regexp.Compile(l.Pattern)
}

// validated returns a copy of the limits without those that are wrong for type t, and reports those.
func (l *Limits) validated(t *Type, at *message.Path) (*Limits, FieldErrors) {
	var errs FieldErrors
	bad := func(want, got, hint string) {
		errs = append(errs, newFieldError(at.String(), want, got, hint))
	}
	out := *l
	out.compiled = nil
	has := func(kinds ...TypeKind) bool { return accepts(t, kinds) }

	if l.bounded() && !has(IntType, FloatType) {
		what := "the length of a text"
		if has(ListType, DictType) && !has(StrType) {
			what = "how much it holds"
		}
		bad("a number type for ge and le", t.String(), "limit "+what+" with min_len and max_len")
		out.Ge, out.Le, out.Gt, out.Lt = nil, nil, nil, nil
	}
	for i := range bounds {
		if f := bounds[i].Of(&out); *f != nil && (math.IsNaN(**f) || math.IsInf(**f, 0)) {
			bad("a finite number for ge and le", fmt.Sprint(**f), "")
			*f = nil
		}
	}
	if out.Ge != nil && out.Le != nil && *out.Ge > *out.Le {
		bad("ge no greater than le", "ge "+message.Number(*out.Ge)+", le "+message.Number(*out.Le), "")
		out.Ge, out.Le = nil, nil
	}
	if lo, hi := out.lowest(), out.highest(); lo != nil && hi != nil && (out.Gt != nil || out.Lt != nil) &&
		(*lo > *hi || *lo == *hi && (lo == out.Gt || hi == out.Lt)) {
		bad("bounds with a number between them", "from "+message.Number(*lo)+" to "+message.Number(*hi), "")
		out.Ge, out.Le, out.Gt, out.Lt = nil, nil, nil, nil
	}
	if l.MultipleOf != nil && !has(IntType, FloatType) {
		bad("a number type for a multiple", t.String(), "")
		out.MultipleOf = nil
	}
	if out.MultipleOf != nil && !(*out.MultipleOf > 0 && *out.MultipleOf <= math.MaxFloat64) {
		bad("a finite number above 0 to be a multiple of", fmt.Sprint(*out.MultipleOf), "")
		out.MultipleOf = nil
	}
	if l.Unique && !has(ListType) {
		bad("a list type for unique items", t.String(), "")
		out.Unique = false
	}
	if out.Check != nil && (out.Check.Holds == nil || out.Check.Says == "") {
		bad("a check with a condition and a text that says what it wants", "one without", "")
		out.Check = nil
	}
	if (l.MinLen != nil || l.MaxLen != nil) && !has(StrType, ListType, DictType) {
		bad("str, list or dict for min_len and max_len", t.String(), "limit a number with ge and le")
		out.MinLen, out.MaxLen = nil, nil
	}
	for _, n := range []**int{&out.MinLen, &out.MaxLen} {
		if *n != nil && **n < 0 {
			bad("a length of at least 0", strconv.Itoa(**n), "")
			*n = nil
		}
	}
	if out.MinLen != nil && out.MaxLen != nil && *out.MinLen > *out.MaxLen {
		bad("min_len no greater than max_len", fmt.Sprintf("min_len %d, max_len %d", *out.MinLen, *out.MaxLen), "")
		out.MinLen, out.MaxLen = nil, nil
	}
	if (l.Pattern != "" || l.Format != "") && !has(StrType) {
		bad("str for pattern and format", t.String(), "")
		out.Pattern, out.Format = "", ""
	}
	if out.Pattern != "" {
		re, err := regexp.Compile(out.Pattern)
		if err != nil {
			bad("a regular expression as the pattern", err.Error(), "look-around and back-references are not supported")
			out.Pattern = ""
		}
		out.compiled = re
	}
	if out.Format != "" {
		if _, ok := format.Named(out.Format); !ok {
			names := format.Names()
			bad("one of the formats "+strings.Join(names, ", "), message.Quote(out.Format), message.DidYouMean(out.Format, names))
			out.Format = ""
		}
	}
	if out == (Limits{}) {
		return nil, errs
	}
	return &out, errs
}

func (l *Limits) bounded() bool { return l.Ge != nil || l.Le != nil || l.Gt != nil || l.Lt != nil }

// With combines the limits with others: it takes the tighter of two bounds, and prefers the others for limits that
// can occur only once.
func (l Limits) With(other Limits) Limits {
	for i := range bounds {
		b := &bounds[i]
		if mine, theirs := b.Of(&l), *b.Of(&other); theirs != nil && (*mine == nil || b.Lower == (*theirs > **mine)) {
			*mine = theirs
		}
	}
	if other.Only != nil {
		l.Only = other.Only
	}
	if other.Pattern != "" {
		l.Pattern, l.compiled = other.Pattern, nil
	}
	return l
}

// lowest returns the bound that decides how small a number may be.
func (l *Limits) lowest() *float64 {
	if l.Ge == nil || l.Gt != nil && *l.Gt >= *l.Ge {
		return l.Gt
	}
	return l.Ge
}

// highest returns the bound that decides how large a number may be.
func (l *Limits) highest() *float64 {
	if l.Le == nil || l.Lt != nil && *l.Lt <= *l.Le {
		return l.Lt
	}
	return l.Le
}

// FormatNames lists the formats that [Limits] support, sorted.
func FormatNames() []string { return format.Names() }

// accepts reports whether t is a type of one of the kinds, or an inline union that contains one.
func accepts(t *Type, kinds []TypeKind) bool {
	switch t = t.Deref(); t.Kind {
	case ErrorType:
		return true // its declaration failed and has been reported
	case OneOfType:
		return slices.ContainsFunc(t.Variants, func(v *Type) bool { return accepts(v, kinds) })
	}
	return slices.Contains(kinds, t.Kind)
}

func sizeOf(v Value) (n int, unit string) {
	switch v.kind {
	case Str:
		s, _ := v.AsStr()
		return utf8.RuneCountInString(s), "character"
	case ListKind:
		return (*List)(v.p).Len(), "item"
	case MapKind:
		return (*Map)(v.p).Len(), "entry"
	}
	return 0, ""
}

// Limited returns the type of those values of t that keep the limits. A schema's field carries its own limits;
// Limited is for places without a field: the items of a list, a member of an inline union, the root.
//
// Invalid limits are left out and reported; if none remain, the result is t itself.
func Limited(t *Type, l Limits) (*Type, FieldErrors) {
	limits, errs := l.validated(t, nil)
	if limits == nil {
		return t, errs
	}
	return &Type{Kind: LimitType, Elem: t, Limits: limits, depth: t.depth}, errs
}

// TupleType returns the type of lists whose first items each have their own type from items. Further items have one
// of these types, or rest if it is not nil. [Limits] set how many items there are.
func TupleType(items []*Type, rest *Type) *Type {
	all := slices.Clone(items)
	if rest != nil {
		all = append(all, rest)
	}
	t := ListOfType(OneOf(all...))
	t.Variants = items
	return t
}

// absent is the value of a field that was not given and has no default. It reads as None and is left out of JSON.
var absent = Value{n: 1}

func isAbsent(v Value) bool { return v.kind == Null && v.n != 0 }

// OmittedField makes f a field that may be left out although its type does not accept None: read from an object
// without it, the field is None, and JSON leaves it out again.
func OmittedField(f Field) Field {
	if f.Type.Deref().Kind != AnyType {
		f.Type = OneOf(f.Type, NoneT)
	}
	f.Optional, f.Default, f.Omit = true, absent, true
	return f
}

// nullMeansAbsent reports whether None for a field means an absent value.
func (f *Field) nullMeansAbsent() bool { return f.Omit && f.Type.Deref().Kind != AnyType }

// shown returns the type of the field for writers of its values.
func (f *Field) shown() *Type {
	t := f.Type.resolved()
	if !f.Omit || t.Kind != OneOfType {
		return f.Type
	}
	return OneOf(slices.DeleteFunc(slices.Clone(t.Variants), func(v *Type) bool { return v.Kind == NoneType })...)
}

// allows reports whether v is one of the values in Only.
func (l *Limits) allows(v Value) bool {
	return slices.ContainsFunc(l.Only.Items(), func(o Value) bool { return Equal(v, o) })
}

func (l *Limits) onlyTexts() []string {
	return text.Each(l.Only.Items(), func(v Value) string { return message.Shorten(JSON(v, nil)) })
}

// twice returns the indexes of two items that are equal.
func twice(items []Value) (first, second int) {
	seen := make(map[string]int, len(items))
	var b []byte
	for i, v := range items {
		if w, ok := exactInt(v); ok {
			v = w
		}
		b = AppendCanon(b[:0], v)
		if j, ok := seen[string(b)]; ok {
			return j, i
		}
		seen[string(b)] = i
	}
	return 0, 0
}

// unlimited removes the limits from a type that a field will carry itself.
func unlimited(t *Type) (*Type, *Limits) {
	switch {
	case t.Kind == LimitType:
		return t.Elem, t.Limits
	case t.Kind == OneOfType && len(t.Variants) == 2 && t.Variants[0].Kind == LimitType && t.Variants[1].Kind == NoneType && t.Variants[0].Limits.Only == nil:
		return OneOf(t.Variants[0].Elem, NoneT), t.Variants[0].Limits
	}
	return t, nil
}
