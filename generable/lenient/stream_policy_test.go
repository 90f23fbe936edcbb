package lenient

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// TestPoliciesOfTypes shows how a policy of a schema, a union or the items of a list affects snapshots, and that a
// truncated text is read the same.
func TestPoliciesOfTypes(t *testing.T) {
	m := gentest.Must(t)
	schema := func(name string, p generable.StreamPolicy, fields ...generable.Field) *generable.Type {
		out, err := generable.Streamed(m(generable.NewSchema(name, "", fields)), p)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	items := func(of *generable.Type, p generable.StreamPolicy) *generable.Type {
		out, err := generable.StreamedItems(of, p)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	id, text := generable.Field{Name: "id", Type: generable.IntT}, generable.Field{Name: "text", Type: generable.StrT}
	note := generable.Field{Name: "note", Type: generable.OneOf(generable.StrT, generable.NoneT)}
	done := schema("Done", generable.StreamAtomic, id, text)
	notNull := schema("NotNull", generable.StreamFirst, text, id, note)
	state := schema("State", generable.StreamState, id, text)
	union, err := generable.Streamed(m(generable.NewUnion("U", "", "", []*generable.Type{done, schema("Open", 0, id, text)})), generable.StreamState)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		typ  *generable.Type
		text string // with a mark at the cut
		want []string
	}{
		{"done at the root", done, `{"id": 1, "text": "a|b"|}|`, []string{`null`, `null`, `{"id":1,"text":"ab"}`}},
		{"done in a list", generable.ListOfType(done), `[{|"id": 1, "text": "a|"}|, {"id": 2|}|]|`,
			[]string{`[]`, `[]`, `[{"id":1,"text":"a"}]`, `[{"id":1,"text":"a"}]`, `[{"id":1,"text":"a"},{}]`, `[{"id":1,"text":"a"},{}]`}},
		{"done in a field", schema("P", 0, generable.Field{Name: "d", Type: generable.OneOf(done, generable.NoneT)}, text), `{"d": {"id": 1|, "text": "x"}, |"text": "y|`,
			[]string{`{}`, `{"d":{"id":1,"text":"x"}}`, `{"d":{"id":1,"text":"x"},"text":"y"}`}},
		{"not null", generable.ListOfType(notNull), `[{"note": "n", "text": "a|", "id": 1|, "|`, []string{`[]`, `[]`, `[{"text":"a","id":1,"note":"n"}]`}},
		{"with state", generable.ListOfType(state), `[{"id": 1, "text": "a|"}, |{|"id": 2|, "text": ""}|]|`, []string{
			`[{"value":{"id":1,"text":"a"},"state":"incomplete"}]`, `[{"value":{"id":1,"text":"a"},"state":"complete"}]`,
			`[{"value":{"id":1,"text":"a"},"state":"complete"},{"value":{},"state":"incomplete"}]`,
			`[{"value":{"id":1,"text":"a"},"state":"complete"},{"value":{},"state":"incomplete"}]`,
			`[{"value":{"id":1,"text":"a"},"state":"complete"},{"value":{"id":2,"text":""},"state":"complete"}]`,
			`[{"id":1,"text":"a"},{"id":2,"text":""}]`}},
		{"with state at the root", state, `{|"id": 1, |"text": "a|"}|`,
			[]string{`{"value":{},"state":"incomplete"}`, `{"value":{"id":1},"state":"incomplete"}`, `{"value":{"id":1,"text":"a"},"state":"incomplete"}`, `{"id":1,"text":"a"}`}},
		{"with state in a field", schema("P", 0, generable.Field{Name: "s", Type: state}, id), `{"id": 1, |"s": {"id": 2|`,
			[]string{`{"s":{"state":"pending"},"id":1}`, `{"s":{"value":{},"state":"incomplete"},"id":1}`}},
		{"done items", items(generable.ListOfType(generable.StrT), generable.StreamAtomic), `["a", "b|c"|, "d|`, []string{`["a"]`, `["a"]`, `["a","bc"]`}},
		{"items with state", items(generable.ListOfType(generable.StrT), generable.StreamState), `["a", "b|`,
			[]string{`[{"value":"a","state":"complete"},{"value":"b","state":"incomplete"}]`}},
		{"done entries", items(generable.DictOfType(generable.StrT), generable.StreamAtomic), `{"a": "x", "b": "y|", |`, []string{`{"a":"x"}`, `{"a":"x","b":"y"}`}},
		{"entries with state", items(generable.DictOfType(generable.StrT), generable.StreamState), `{"a": "x", "b": "y|`,
			[]string{`{"a":{"value":"x","state":"complete"},"b":{"value":"y","state":"incomplete"}}`}},
		{"a variant that is done, of a union with state", generable.ListOfType(union), `[{"type": "Open", "id": 1|, "text": "x"}, {"type": "Done", "id": 1, "text": "a|"}|`, []string{
			`[{"value":{"type":"Open"},"state":"incomplete"}]`, `[{"value":{"id":1,"text":"x"},"state":"complete"}]`,
			`[{"value":{"id":1,"text":"x"},"state":"complete"},{"value":{"id":1,"text":"a"},"state":"complete"}]`}},
	} {
		pieces := strings.SplitAfter(c.text, "|")
		for _, step := range []int{1, 1 << 10} {
			s, read := NewStream(c.typ, StreamOptions{On: func(*StreamEvent) {}}), ""
			for i, want := range c.want {
				piece := strings.TrimSuffix(pieces[i], "|")
				read += piece
				for at := 0; at < len(piece); at += step {
					s.Feed(piece[at:min(at+step, len(piece))])
				}
				if got := generable.JSON(s.Snapshot(), nil); got != want {
					t.Errorf("%s: after %q\ngot  %s\nwant %s", c.name, read, got, want)
				}
				r := Decode(c.typ, read, generable.Options{Partial: true})
				if !r.OK {
					r.Value = r.Partial
				}
				if got := generable.JSON(r.Value, nil); got != want {
					t.Errorf("%s: %q is read as\n%s, want\n%s", c.name, read, got, want)
				}
			}
		}
	}
}

// TestEventsOfPolicies requires that no event concerns what is not shown.
func TestEventsOfPolicies(t *testing.T) {
	m := gentest.Must(t)
	step, _ := generable.Streamed(m(generable.NewSchema("Step", "", []generable.Field{{Name: "text", Type: generable.StrT}, {Name: "id", Type: generable.IntT}})), generable.StreamFirst)
	whole, _ := generable.Streamed(step, generable.StreamAtomic)
	for _, c := range []struct {
		typ  *generable.Type
		want string
	}{
		{step, "text [0].text|field [0].text|field [0].id|item [0]|done "},
		{whole, "item [0]|done "},
	} {
		var log []string
		s := NewStream(generable.ListOfType(c.typ), StreamOptions{On: func(e *StreamEvent) { log = append(log, e.Kind.String()+" "+e.Path()) }})
		for _, piece := range []string{`[{"text": "first`, `", "i`, `d": 1`, `}`, `]`} {
			s.Feed(piece)
		}
		s.Close()
		if got := strings.Join(log, "|"); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestPoliciesThatDoNotSuit requires an error for a policy that has no meaning.
func TestPoliciesThatDoNotSuit(t *testing.T) {
	m := gentest.Must(t)
	loose := m(generable.NewSchema("Loose", "", []generable.Field{{Name: "n", Type: generable.OneOf(generable.IntT, generable.NoneT)}}))
	union := m(generable.NewUnion("U", "", "", []*generable.Type{loose}))
	for _, c := range []struct {
		of    func(*generable.Type, generable.StreamPolicy) (*generable.Type, *generable.FieldError)
		typ   *generable.Type
		p     generable.StreamPolicy
		wants string
	}{
		{generable.Streamed, loose, generable.StreamFirst, "a field that has to be there"},
		{generable.Streamed, union, generable.StreamFirst, "a schema"},
		{generable.Streamed, generable.StrT, generable.StreamAtomic, "a schema or union"},
		{generable.StreamedItems, generable.ListOfType(generable.StrT), generable.StreamFirst, "atomic or state"},
		{generable.StreamedItems, loose, generable.StreamAtomic, "a list or a dict"},
	} {
		if _, err := c.of(c.typ, c.p); err == nil || !strings.Contains(err.Expected, c.wants) {
			t.Errorf("%s: %v", c.typ, err)
		}
	}
	if p, ok := generable.StreamPolicyOf("not_null"); !ok || p != generable.StreamFirst {
		t.Error(p, ok)
	}
}
