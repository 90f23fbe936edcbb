package generable

import (
	"encoding/json"
	"testing"
)

// must returns a declared type, and fails the test when its declaration has problems.
func must(t testing.TB) func(*Type, FieldErrors) *Type {
	return func(typ *Type, errs FieldErrors) *Type {
		t.Helper()
		if len(errs) > 0 {
			t.Fatalf("declaration: %v", errs)
		}
		return typ
	}
}

func ptr[T any](v T) *T { return &v }

func flt(f float64) Value {
	v, ok := FloatOf(f)
	if !ok {
		panic("not a finite float")
	}
	return v
}

// dict builds a map from alternating keys and values.
func dict(pairs ...any) *Map {
	m := NewMap(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		m.Set(pairs[i].(string), val(pairs[i+1]))
	}
	return m
}

// val turns a Go datum into a value.
func val(x any) Value {
	switch x := x.(type) {
	case nil:
		return Value{}
	case Value:
		return x
	case bool:
		return BoolOf(x)
	case int:
		return IntOf(int64(x))
	case float64:
		return flt(x)
	case string:
		return StrOf(x)
	case *Map:
		return x.Value()
	case *Record:
		return x.Value()
	case []any:
		items := make([]Value, len(x))
		for i := range x {
			items[i] = val(x[i])
		}
		return NewList(items).Value()
	}
	panic("val: no value for this")
}

// samples are the types that several tests share.
type samples struct {
	Measurement, Approved, Rejected, Decision, Severity *Type
	Finding, Report, Tree, Expr                         *Type
}

func newSamples(t testing.TB) samples {
	m := must(t)
	var s samples
	s.Measurement = m(NewSchema("Measurement", "Distance measurement between two points", []Field{
		{Name: "distance", Type: FloatT, Guide: "Value in meters"},
		{Name: "label", Type: StrT, Guide: "Measurement label"},
	}))
	s.Approved = m(NewSchema("Approved", "Code is ready to ship", []Field{
		{Name: "confidence", Type: FloatT, Guide: "Confidence score 0.0 to 1.0", Limits: &Limits{Ge: ptr(0.0), Le: ptr(1.0)}},
	}))
	s.Rejected = m(NewSchema("Rejected", "Code needs changes", []Field{
		{Name: "reason", Type: StrT, Guide: "Reason for rejection"},
		{Name: "hints", Type: ListOfType(StrT), Optional: true, Default: ListOf()},
	}))
	s.Decision = m(NewUnion("Decision", "Decision on whether code is ready to ship", "", []*Type{s.Approved, s.Rejected}))
	s.Severity = m(NewEnum("Severity", "How bad it is", []string{"low", "medium", "high"}))
	s.Finding = m(NewSchema("Finding", "", []Field{
		{Name: "severity", Type: s.Severity, Guide: "Impact on users"},
		{Name: "where", Type: OneOf(StrT, NoneT), Guide: "File and line"},
		{Name: "line", Type: OneOf(IntT, NoneT), Limits: &Limits{Ge: ptr(1.0)}},
		{Name: "tags", Type: ListOfType(StrT), Limits: &Limits{MinLen: ptr(1), MaxLen: ptr(3)}, Examples: []Value{ListOf(StrOf("io"))}},
	}))
	s.Report = m(NewSchema("Report", "A review with its findings", []Field{
		{Name: "author", Type: StrT, Limits: &Limits{Format: "email", MinLen: ptr(3)}},
		{Name: "findings", Type: ListOfType(s.Finding), Guide: "All of them,\n  the worst first"},
		{Name: "by_file", Type: DictOfType(ListOfType(s.Finding))},
		{Name: "verdict", Type: s.Decision, Guide: "The outcome"},
		{Name: "plan_b", Type: OneOf(s.Decision, NoneT)},
		{Name: "id", Type: OneOf(IntT, StrT), Limits: &Limits{Ge: ptr(1.0), Pattern: "^[a-z]+$"}},
		{Name: "extra", Type: AnyT, Optional: true},
	}))
	tree := RefTo("Tree")
	s.Tree = m(NewSchema("Tree", "A tree of names", []Field{
		{Name: "name", Type: StrT},
		{Name: "children", Type: ListOfType(tree), Guide: "Subtrees"},
	}))
	tree.Bind(s.Tree)
	expr := RefTo("Expr")
	num := m(NewSchema("Num", "A number", []Field{{Name: "value", Type: FloatT}}))
	add := m(NewSchema("Add", "A sum", []Field{{Name: "left", Type: expr}, {Name: "right", Type: expr}}))
	s.Expr = m(NewUnion("Expr", "An expression", "kind", []*Type{num, add}))
	expr.Bind(s.Expr)
	return s
}

// parseStd reads JSON with the standard library, as the reference.
func parseStd(t testing.TB, text string) any {
	t.Helper()
	var x any
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		t.Fatalf("no JSON: %v\n%s", err, text)
	}
	return x
}
