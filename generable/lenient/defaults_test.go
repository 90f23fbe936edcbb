package lenient

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// A snapshot shows a default where the result will have it: for a null that is replaced by one as soon as it is
// complete, and for missing fields once their object is closed.
func TestSnapshotsShowDefaults(t *testing.T) {
	typ := typeOf(t, `S; S = {n: int = 7, list: list[str] = [], in: T | None, last: int | None}; T = {must: int, may: int = 5, none: str | None}`)
	for _, c := range []struct {
		level      generable.Level
		text, want string
	}{
		{generable.Safe, `{"n": null`, `{}`},
		{generable.Safe, `{"n": null,`, `{"n":7}`},
		{generable.Safe, `{"n": null, "list": null, `, `{"n":7,"list":[]}`},
		{generable.Loose, `{"n": null, "list": null, `, `{"n":7,"list":[]}`},
		{generable.Strict, `{"n": null, "last": 1, `, `{"last":1}`},
		{generable.Safe, `{"last": null, `, `{"last":null}`},
		{generable.Safe, `{"in": {"must": 1`, `{"in":{}}`},
		{generable.Safe, `{"in": {"must": 1,`, `{"in":{"must":1}}`},
		{generable.Safe, `{"in": {"must": 1}`, `{"in":{"must":1,"may":5,"none":null}}`},
		{generable.Safe, `{"in": {"must": 1, "may": null}, `, `{"in":{"must":1,"may":5,"none":null}}`},
		{generable.Safe, `{"in": {"may": 2}, `, `{"in":{"may":2}}`},
		{generable.Safe, `{"in": {"none": "x", "must": 3}, `, `{"in":{"must":3,"may":5,"none":"x"}}`},
		{generable.Safe, `{"last": 2}`, `{"n":7,"list":[],"in":null,"last":2}`},
	} {
		s := NewStream(typ, StreamOptions{Options: generable.Options{Level: c.level}})
		for i := range c.text {
			s.Feed(c.text[i : i+1])
			s.Snapshot()
		}
		if got := generable.JSON(s.Snapshot(), nil); got != c.want {
			t.Errorf("level %d: %s shows %s, want %s", c.level, c.text, got, c.want)
		}
	}
}

// The defaults in a snapshot are those of the result, unless the key occurs again.
func TestDefaultsShownStay(t *testing.T) {
	typ := typeOf(t, `list[S]; S = {a: int, b: int = 5}`)
	var events []string
	s := NewStream(typ, StreamOptions{On: func(e *StreamEvent) {
		events = append(events, e.Kind.String()+" "+e.Path()+" "+generable.JSON(e.Value, nil))
	}})
	for _, piece := range []string{`[{"a": 1, "b": null`, `}, {"a": `, `2}`, `]`} {
		s.Feed(piece)
	}
	r := s.Close()
	const want = `[{"a":1,"b":5},{"a":2,"b":5}]`
	if got := generable.JSON(r.Value, typ); !r.OK || got != want {
		t.Errorf("%s, want %s: %v", got, want, r.Errors)
	}
	seen := map[string]bool{}
	for _, e := range events {
		seen[e] = true
	}
	for _, e := range []string{`field [0].b 5`, `item [0] {"a":1,"b":5}`, `item [1] {"a":2,"b":5}`, "done  " + want} {
		if !seen[e] {
			t.Errorf("no event %q in %q", e, events)
		}
	}
	if seen["reset  null"] {
		t.Errorf("something was taken back: %q", events)
	}
}
