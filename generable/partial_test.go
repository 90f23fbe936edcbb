package generable_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

func partialOf(t testing.TB, typ *generable.Type, pairs ...any) generable.Partial {
	t.Helper()
	p, err := generable.NewPartial(typ)
	if err != nil {
		t.Fatal(err)
	}
	return grow(t, p, pairs...)
}

func grow(t testing.TB, p generable.Partial, pairs ...any) generable.Partial {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		next, err := p.WithField(pairs[i].(string), of(pairs[i+1]))
		if err != nil {
			t.Fatal(err)
		}
		p = next
	}
	return p
}

func TestPartial(t *testing.T) {
	score := gentest.Must(t)(generable.NewSchema("ScoreResult", "", []generable.Field{{Name: "score", Type: generable.FloatT}, {Name: "verdict", Type: generable.StrT}}))
	empty := partialOf(t, score)
	if n := empty.ArrivedFieldNames(); len(n) != 0 {
		t.Errorf("arrived: %v", n)
	}
	one := grow(t, empty, "score", 0.5)
	if n := empty.ArrivedFieldNames(); len(n) != 0 {
		t.Errorf("the original changed: %v", n)
	}
	if !one.Has("score") || one.Has("verdict") || one.Has("nothing") {
		t.Error("Has is wrong")
	}
	if v, ok := one.Get("score"); !ok || !generable.Equal(v, gentest.Float(0.5)) {
		t.Errorf("got %v", v)
	}
	if _, ok := one.Get("verdict"); ok {
		t.Error("got a field that has not arrived")
	}
	if _, errs := one.ToComplete(); errs.Error() != "verdict: want str, got nothing" {
		t.Errorf("got %v", errs)
	}
	both := grow(t, one, "verdict", "pass")
	if r, errs := both.ToComplete(); errs != nil || generable.JSON(r.Value(), nil) != `{"score":0.5,"verdict":"pass"}` {
		t.Errorf("got %v", errs)
	}
	null := grow(t, one, "verdict", nil)
	if !null.Has("verdict") {
		t.Error("a field that arrived as None has not arrived")
	}
	if _, errs := null.ToComplete(); errs.Error() != "verdict: want str, got None" {
		t.Errorf("got %v", errs)
	}
	if _, err := one.WithField("verdikt", generable.StrOf("x")); err == nil ||
		err.Error() != "verdikt: want one of the fields score, verdict, got a field that ScoreResult does not have; did you mean verdict?" {
		t.Errorf("got %v", err)
	}
	if _, err := generable.NewPartial(generable.ListOfType(generable.StrT)); err == nil || !strings.Contains(err.Error(), "want a schema or union, got list[str]") {
		t.Errorf("got %v", err)
	}
}

func TestPartialDefaultsAndOrder(t *testing.T) {
	s := newSamples(t)
	p := partialOf(t, s.Rejected, "hints", []any{"x"}, "reason", "a", "hints", []any{"y"})
	if got := fmt.Sprint(p.ArrivedFieldNames()); got != "[hints reason]" {
		t.Errorf("order of arrival: %s", got)
	}
	if r, errs := p.ToComplete(); errs != nil || generable.JSON(r.Value(), nil) != `{"reason":"a","hints":["y"]}` {
		t.Errorf("got %v", errs)
	}
	if r, errs := partialOf(t, s.Rejected, "reason", "a").ToComplete(); errs != nil || generable.JSON(r.Value(), nil) != `{"reason":"a","hints":[]}` {
		t.Errorf("got %v", errs)
	}
}

func TestPartialOfUnion(t *testing.T) {
	s := newSamples(t)
	p := partialOf(t, s.Decision)
	if _, err := p.WithField("reason", generable.StrOf("x")); err == nil ||
		err.Error() != "reason: want the tag type first, got another field; it says which variant of Decision the fields belong to" {
		t.Errorf("got %v", err)
	}
	if _, err := p.WithField("type", generable.StrOf("Rejectd")); err == nil ||
		err.Error() != `type: want one of Approved, Rejected, got "Rejectd"; did you mean Rejected?` {
		t.Errorf("got %v", err)
	}
	if _, errs := p.ToComplete(); errs == nil {
		t.Error("complete without a tag")
	}
	if p.Has("reason") || len(p.ArrivedFieldNames()) != 0 {
		t.Error("something has arrived")
	}
	r := grow(t, p, "type", "Rejected", "reason", "x")
	if r.Type() != s.Rejected || !r.Has("reason") {
		t.Errorf("got a partial %v", r.Type())
	}
}

func TestPartialZeroValue(t *testing.T) {
	var p generable.Partial
	if p.Has("x") || len(p.ArrivedFieldNames()) != 0 {
		t.Error("something has arrived")
	}
	if _, err := p.WithField("x", generable.Value{}); err == nil {
		t.Error("no error")
	}
	if _, errs := p.ToComplete(); errs == nil {
		t.Error("complete")
	}
}

// Two versions that continue the same one do not see each other's fields.
func TestPartialVersionsAreIndependent(t *testing.T) {
	s := newSamples(t)
	base := partialOf(t, s.Measurement, "label", "a")
	left := grow(t, base, "distance", 1)
	right := grow(t, base, "distance", 2)
	again := grow(t, left, "label", "b")
	for _, tc := range []struct {
		p    generable.Partial
		want string
	}{{base, ""}, {left, `{"distance":1.0,"label":"a"}`}, {right, `{"distance":2.0,"label":"a"}`}, {again, `{"distance":1.0,"label":"b"}`}} {
		r, errs := tc.p.ToComplete()
		if tc.want == "" {
			if errs == nil {
				t.Error("the base is complete")
			}
			continue
		}
		if errs != nil || generable.JSON(r.Value(), nil) != tc.want {
			t.Errorf("got %v, %v, want %s", r, errs, tc.want)
		}
	}
}

func TestPartialConcurrently(t *testing.T) {
	s := newSamples(t)
	base := partialOf(t, s.Measurement, "label", "a")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			p := base
			for j := range 200 {
				p, _ = p.WithField("distance", generable.IntOf(int64(i*1000+j)))
				if v, _ := p.Get("distance"); !generable.Equal(v, generable.IntOf(int64(i*1000+j))) {
					t.Error("another branch's value")
					return
				}
			}
		})
	}
	wg.Wait()
	if base.Has("distance") {
		t.Error("the base changed")
	}
}

// A text that grows token by token costs a constant number of allocations per token, and a
// version of a large schema is not a copy of it.
func TestPartialGrowsCheaply(t *testing.T) {
	fields := make([]generable.Field, 200)
	for i := range fields {
		fields[i] = generable.Field{Name: fmt.Sprintf("f%d", i), Type: generable.StrT}
	}
	typ := gentest.Must(t)(generable.NewSchema("Wide", "", fields))
	p := partialOf(t, typ)
	for i := range fields {
		p = grow(t, p, fields[i].Name, "x")
	}
	const tokens = 10_000
	text := generable.StrOf("token")
	if n := testing.AllocsPerRun(1, func() {
		q := p
		for range tokens {
			q, _ = q.WithField("f7", text)
		}
	}); n > tokens/4 {
		t.Errorf("%v allocations for %d tokens", n, tokens)
	}
}
