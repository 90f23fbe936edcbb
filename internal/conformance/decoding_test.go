package conformance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// told returns everything that a result reports, except how often bytes were looked at.
func told(res lenient.Result) string {
	s := fmt.Sprint(res.OK, " ", generable.JSON(res.Value, nil), " cost ", res.Cost, " known ", generable.JSON(res.Partial, nil))
	for _, e := range res.Errors {
		s += fmt.Sprintf("\n%+v", *e)
	}
	for _, r := range res.Repairs {
		s += fmt.Sprintf("\n%+v", r)
	}
	return s
}

// kindsOf returns the kinds of a result's repairs, each once, in order.
func kindsOf(res lenient.Result) []string {
	var kinds []string
	for _, r := range res.Repairs {
		if !slices.Contains(kinds, r.Kind) {
			kinds = append(kinds, r.Kind)
		}
	}
	return kinds
}

// schemaOf returns a schema of fields.
func schemaOf(t testing.TB, name string, fields ...generable.Field) *generable.Type {
	t.Helper()
	typ, errs := generable.NewSchema(name, "", fields)
	if errs != nil {
		t.Fatal(errs)
	}
	return typ
}

// inPieces feeds a text to a stream in pieces of n bytes.
func inPieces(s *lenient.Stream, text string, n int) {
	for at := 0; at < len(text); at += n {
		s.Feed(text[at:min(at+n, len(text))])
	}
}

// shows reports whether b keeps everything that a showed: texts and lists only grow, members stay, scalars do not
// change.
func shows(a, b generable.Value) bool {
	if a.IsNull() {
		return true
	}
	if x, ok := a.AsStr(); ok {
		y, ok := b.AsStr()
		return ok && len(y) >= len(x) && y[:len(x)] == x
	}
	if x, ok := a.AsList(); ok {
		y, ok := b.AsList()
		for i := 0; ok && i < x.Len(); i++ {
			ok = i < y.Len() && shows(x.At(i), y.At(i))
		}
		return ok
	}
	if x, ok := a.AsMap(); ok {
		for i := range x.Len() {
			k, v := x.At(i)
			if w, ok := memberOf(b, k); !ok || !shows(v, w) {
				return false
			}
		}
		return true
	}
	return generable.Equal(a, b)
}

// memberOf returns the member of a dict or instance.
func memberOf(v generable.Value, key string) (generable.Value, bool) {
	if m, ok := v.AsMap(); ok {
		return m.Get(key)
	}
	if r, ok := v.AsRecord(); ok {
		if w, ok := r.Get(key); ok {
			return w, true
		}
		return generable.StrOf(r.Type().Name), true // the tag
	}
	return generable.Value{}, false
}
