package generable

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// CheckLimits tells how v, which has the field's type, breaks the field's limits; nothing
// when it keeps them. None is never limited. Paths begin at the field: ".score".
func CheckLimits(f *Field, v Value) FieldErrors {
	if f.Limits == nil {
		return nil
	}
	p := message.Path{Name: f.Name}
	return f.Limits.check(v, &p, nil)
}

// check appends to errs what is wrong with v. A limit that does not concern the kind of v
// is silent: on int | str, ge speaks of the int.
func (l *Limits) check(v Value, at *message.Path, errs FieldErrors) FieldErrors {
	broken := func(want, got string) {
		errs = append(errs, newFieldError(at.String(), want, got, ""))
	}
	if l.Ge != nil {
		if c, ok := compareToFloat(v, *l.Ge); ok && c < 0 {
			broken("at least "+formatBound(*l.Ge), JSON(v, nil))
		}
	}
	if l.Gt != nil {
		if c, ok := compareToFloat(v, *l.Gt); ok && c <= 0 {
			broken("more than "+formatBound(*l.Gt), JSON(v, nil))
		}
	}
	if l.Le != nil {
		if c, ok := compareToFloat(v, *l.Le); ok && c > 0 {
			broken("at most "+formatBound(*l.Le), JSON(v, nil))
		}
	}
	if l.Lt != nil {
		if c, ok := compareToFloat(v, *l.Lt); ok && c >= 0 {
			broken("less than "+formatBound(*l.Lt), JSON(v, nil))
		}
	}
	errs = l.checkMore(v, at, errs)
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
	if l.Check != nil && !v.IsNull() && !l.Check.Holds(v) {
		broken(l.Check.Says, message.Shorten(JSON(v, nil)))
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
		if f, ok := formats[l.Format]; ok && !f.valid(s) {
			broken(f.what+" such as "+f.example, message.Quote(s))
		}
	}
	return errs
}

// regexp is the compiled pattern. Schemas compile it when they are declared; limits from
// elsewhere pay each time.
func (l *Limits) regexp() (*regexp.Regexp, error) {
	if l.compiled != nil {
		return l.compiled, nil
	}
	return regexp.Compile(l.Pattern)
}

// validated returns a copy of the limits with what is wrong for type t left out, and tells
// what that is.
func (l *Limits) validated(t *Type, at *message.Path) (*Limits, FieldErrors) {
	var errs FieldErrors
	bad := func(want, got, hint string) {
		errs = append(errs, newFieldError(at.String(), want, got, hint))
	}
	out := *l
	has := func(kinds ...TypeKind) bool { return accepts(t, kinds) }

	if l.bounded() && !has(IntType, FloatType) {
		bad("a number type for ge and le", t.String(), "limit the length of a text with min_len and max_len")
		out.Ge, out.Le, out.Gt, out.Lt = nil, nil, nil, nil
	}
	for _, b := range []**float64{&out.Ge, &out.Le, &out.Gt, &out.Lt} {
		if *b != nil && (math.IsNaN(**b) || math.IsInf(**b, 0)) {
			bad("a finite number for ge and le", fmt.Sprint(**b), "")
			*b = nil
		}
	}
	if out.Ge != nil && out.Le != nil && *out.Ge > *out.Le {
		bad("ge no greater than le", "ge "+formatBound(*out.Ge)+", le "+formatBound(*out.Le), "")
		out.Ge, out.Le = nil, nil
	}
	if lo, hi := out.lowest(), out.highest(); lo != nil && hi != nil && (out.Gt != nil || out.Lt != nil) &&
		(*lo > *hi || *lo == *hi && (lo == out.Gt || hi == out.Lt)) {
		bad("bounds with a number between them", "from "+formatBound(*lo)+" to "+formatBound(*hi), "")
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
		if _, ok := formats[out.Format]; !ok {
			names := FormatNames()
			bad("one of the formats "+strings.Join(names, ", "), message.Quote(out.Format), message.DidYouMean(out.Format, names))
			out.Format = ""
		}
	}
	if out.empty() {
		return nil, errs
	}
	return &out, errs
}

func (l *Limits) bounded() bool { return l.Ge != nil || l.Le != nil || l.Gt != nil || l.Lt != nil }

// lowest is the bound that decides how small a number may be.
func (l *Limits) lowest() *float64 {
	if l.Ge == nil || l.Gt != nil && *l.Gt >= *l.Ge {
		return l.Gt
	}
	return l.Ge
}

// highest is the bound that decides how large a number may be.
func (l *Limits) highest() *float64 {
	if l.Le == nil || l.Lt != nil && *l.Lt <= *l.Le {
		return l.Lt
	}
	return l.Le
}

func (l *Limits) empty() bool {
	return !l.bounded() && l.MultipleOf == nil && !l.Unique && l.Only == nil && l.Check == nil && l.MinLen == nil && l.MaxLen == nil && l.Pattern == "" && l.Format == ""
}

// accepts reports whether t is, or as an inline union contains, a type of one of the kinds.
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

// formatBound writes a bound the way a person would: 0, 1, 0.5.
func formatBound(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
