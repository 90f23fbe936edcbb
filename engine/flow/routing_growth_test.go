package flow

import (
	"fmt"
	"testing"

	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// test is a condition on the value itself.
func test(t *testing.T, op predicate.Op, v generable.Value) *predicate.Predicate {
	p, err := predicate.New(op, "", &v)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRoutingGrowth: the work of following values through routes grows linearly with the routes, whatever their
// conditions.
func TestRoutingGrowth(t *testing.T) {
	text := func(op predicate.Op, i int) *predicate.Predicate {
		return test(t, op, generable.StrOf(fmt.Sprint("v", i)))
	}
	num := func(op predicate.Op, i int) *predicate.Predicate { return test(t, op, generable.IntOf(int64(i))) }
	enum := func(n int) *generable.Type {
		values := make([]string, n)
		for i := range values {
			values[i] = fmt.Sprint("v", i)
		}
		e, err := generable.NewEnum("E", "", values)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	union := func(n int) *generable.Type {
		var list []*generable.Type
		for i := range n {
			s, err := generable.NewSchema(fmt.Sprint("T", i), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
		u, err := generable.NewUnion("U", "", "", list)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	fixed := func(typ *generable.Type) func(int) *generable.Type {
		return func(int) *generable.Type { return typ }
	}
	asks := func(p func(i, n int) *predicate.Predicate) func(*generable.Type, int, int) Route {
		return func(_ *generable.Type, i, n int) Route { return Route{Pred: p(i, n)} }
	}
	for name, row := range map[string]struct {
		from  func(n int) *generable.Type
		route func(from *generable.Type, i, n int) Route
	}{
		"texts":    {fixed(generable.StrT), asks(func(i, n int) *predicate.Predicate { return text(predicate.Eq, i) })},
		"not":      {fixed(generable.StrT), asks(func(i, n int) *predicate.Predicate { return text(predicate.Ne, i).Not() })},
		"numbers":  {fixed(generable.IntT), asks(func(i, n int) *predicate.Predicate { return num(predicate.Eq, i*7919%n*2) })},
		"ranges":   {fixed(generable.FloatT), asks(func(i, n int) *predicate.Predicate { return num(predicate.Ge, i).And(num(predicate.Lt, i+1)) })},
		"rising":   {fixed(generable.FloatT), asks(func(i, n int) *predicate.Predicate { return num(predicate.Lt, i) })},
		"outside":  {fixed(generable.IntT), asks(func(i, n int) *predicate.Predicate { return num(predicate.Lt, i-n).Or(num(predicate.Gt, n-i)) })},
		"values":   {enum, asks(func(i, n int) *predicate.Predicate { return text(predicate.Eq, i) })},
		"patterns": {fixed(generable.StrT), asks(func(i, n int) *predicate.Predicate { return text(predicate.Matches, i) })},
		"any":      {fixed(generable.AnyT), asks(func(i, n int) *predicate.Predicate { return num(predicate.Eq, i) })},
		"enum keys": {enum, func(_ *generable.Type, i, n int) Route {
			v := generable.StrOf(fmt.Sprint("v", i))
			return Route{Value: &v}
		}},
		"variants": {union, func(from *generable.Type, i, n int) Route { return Route{Type: from.Variants[i]} }},
	} {
		visits := func(n int) int {
			from := row.from(n)
			routes := make([]Route, n)
			for i := range routes {
				routes[i] = row.route(from, i, n)
			}
			w := ways(from, routes)
			for i, way := range w.Routes {
				if !way.Fresh {
					t.Fatalf("%s: nothing is left for route %d of %d, %s", name, i, n, routes[i].Key())
				}
			}
			return w.Visits
		}
		small, large := visits(300), visits(3000)
		t.Logf("%s: %d, %d", name, small, large)
		if small < 300 || large > 12*small || large > 20*3000 {
			t.Errorf("%s: 300 routes take %d visits, 3000 take %d", name, small, large)
		}
	}
	// The operands of one condition.
	all := func(n int) int {
		p, q := text(predicate.Eq, 0), text(predicate.Ne, 0)
		for i := 1; i < n; i++ {
			p, q = p.Or(text(predicate.Eq, i)), q.And(text(predicate.Ne, i))
		}
		w := ways(generable.StrT, []Route{{Pred: p}, {Pred: q}})
		if len(w.Missing) > 0 {
			t.Fatalf("of %d operands %v is left", n, w.Missing)
		}
		return w.Visits
	}
	if small, large := all(300), all(3000); large > 12*small {
		t.Errorf("300 operands take %d visits, 3000 take %d", small, large)
	}
	// Conditions on many fields leave over more parts than can be tracked: then tracking ends and reports that.
	var fields []generable.Field
	var routes []Route
	for i := range 24 {
		x, y := fmt.Sprint("x", i), fmt.Sprint("y", i)
		yes := generable.BoolOf(true)
		p, _ := predicate.New(predicate.Eq, x, &yes)
		q, _ := predicate.New(predicate.Eq, y, &yes)
		fields = append(fields, generable.Field{Name: x, Type: generable.BoolT}, generable.Field{Name: y, Type: generable.BoolT})
		routes = append(routes, Route{Pred: p.And(q)})
	}
	many, err := generable.NewSchema("Many", "", fields)
	if err != nil {
		t.Fatal(err)
	}
	if w := ways(many, routes); !w.vague || len(w.rest) == 0 || w.Visits > 200_000 {
		t.Errorf("24 conditions on 48 fields: vague %t, rest %v, %d visits", w.vague, w.rest, w.Visits)
	}
}
