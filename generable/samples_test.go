package generable_test

import (
	"encoding/json"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// dict builds a map from alternating keys and values.
func dict(pairs ...any) *generable.Map {
	m := generable.NewMap(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		m.Set(pairs[i].(string), of(pairs[i+1]))
	}
	return m
}

// of turns a Go datum into a value.
func of(x any) generable.Value {
	switch x := x.(type) {
	case nil:
		return generable.Value{}
	case generable.Value:
		return x
	case bool:
		return generable.BoolOf(x)
	case int:
		return generable.IntOf(int64(x))
	case float64:
		return gentest.Float(x)
	case string:
		return generable.StrOf(x)
	case *generable.Map:
		return x.Value()
	case *generable.Record:
		return x.Value()
	case []any:
		items := make([]generable.Value, len(x))
		for i := range x {
			items[i] = of(x[i])
		}
		return generable.NewList(items).Value()
	}
	panic("no value for this")
}

// samples are the types that several tests share.
type samples struct {
	Measurement, Approved, Rejected, Decision, Severity *generable.Type
	Finding, Report, Tree, Expr                         *generable.Type
}

func newSamples(t testing.TB) samples {
	m := gentest.Must(t)
	var s samples
	s.Measurement = m(generable.NewSchema("Measurement", "Distance measurement between two points", []generable.Field{
		{Name: "distance", Type: generable.FloatT, Guide: "Value in meters"},
		{Name: "label", Type: generable.StrT, Guide: "Measurement label"},
	}))
	s.Approved = m(generable.NewSchema("Approved", "Code is ready to ship", []generable.Field{
		{Name: "confidence", Type: generable.FloatT, Guide: "Confidence score 0.0 to 1.0", Limits: &generable.Limits{Ge: gentest.Ptr(0.0), Le: gentest.Ptr(1.0)}},
	}))
	s.Rejected = m(generable.NewSchema("Rejected", "Code needs changes", []generable.Field{
		{Name: "reason", Type: generable.StrT, Guide: "Reason for rejection"},
		{Name: "hints", Type: generable.ListOfType(generable.StrT), Optional: true, Default: generable.ListOf()},
	}))
	s.Decision = m(generable.NewUnion("Decision", "Decision on whether code is ready to ship", "", []*generable.Type{s.Approved, s.Rejected}))
	s.Severity = m(generable.NewEnum("Severity", "How bad it is", []string{"low", "medium", "high"}))
	s.Finding = m(generable.NewSchema("Finding", "", []generable.Field{
		{Name: "severity", Type: s.Severity, Guide: "Impact on users"},
		{Name: "where", Type: generable.OneOf(generable.StrT, generable.NoneT), Guide: "File and line"},
		{Name: "line", Type: generable.OneOf(generable.IntT, generable.NoneT), Limits: &generable.Limits{Ge: gentest.Ptr(1.0)}},
		{Name: "tags", Type: generable.ListOfType(generable.StrT), Limits: &generable.Limits{MinLen: gentest.Ptr(1), MaxLen: gentest.Ptr(3)}, Examples: []generable.Value{generable.ListOf(generable.StrOf("io"))}},
	}))
	s.Report = m(generable.NewSchema("Report", "A review with its findings", []generable.Field{
		{Name: "author", Type: generable.StrT, Limits: &generable.Limits{Format: "email", MinLen: gentest.Ptr(3)}},
		{Name: "findings", Type: generable.ListOfType(s.Finding), Guide: "All of them,\n  the worst first"},
		{Name: "by_file", Type: generable.DictOfType(generable.ListOfType(s.Finding))},
		{Name: "verdict", Type: s.Decision, Guide: "The outcome"},
		{Name: "plan_b", Type: generable.OneOf(s.Decision, generable.NoneT)},
		{Name: "id", Type: generable.OneOf(generable.IntT, generable.StrT), Limits: &generable.Limits{Ge: gentest.Ptr(1.0), Pattern: "^[a-z]+$"}},
		{Name: "extra", Type: generable.AnyT, Optional: true},
	}))
	tree := generable.RefTo("Tree")
	s.Tree = m(generable.NewSchema("Tree", "A tree of names", []generable.Field{
		{Name: "name", Type: generable.StrT},
		{Name: "children", Type: generable.ListOfType(tree), Guide: "Subtrees"},
	}))
	tree.Bind(s.Tree)
	expr := generable.RefTo("Expr")
	num := m(generable.NewSchema("Num", "A number", []generable.Field{{Name: "value", Type: generable.FloatT}}))
	add := m(generable.NewSchema("Add", "A sum", []generable.Field{{Name: "left", Type: expr}, {Name: "right", Type: expr}}))
	s.Expr = m(generable.NewUnion("Expr", "An expression", "kind", []*generable.Type{num, add}))
	expr.Bind(s.Expr)
	return s
}

// parseJSON reads JSON with the standard library, as the reference.
func parseJSON(t testing.TB, text string) any {
	t.Helper()
	var x any
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		t.Fatalf("no JSON: %v\n%s", err, text)
	}
	return x
}
