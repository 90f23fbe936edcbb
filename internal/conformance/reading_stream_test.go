package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
	"github.com/agentscript/agentscript/generable/lenient"
)

// broken are answers for the types of planned, each broken as models break them.
var broken = []struct{ typ, text string }{
	{"Step", "Sure, here it is:\n```json\n{'text': 'He said \"hi\" to', id: 7,}\n```\nBye."},
	{"Step", `<think>{"id": 0}</think>{"text": """it""", "id": "12"}`},
	{"Plan", `{"title": "Tea, "body": "hot", "steps": [{"text": "boil" "id": 1}, {"id": 2, "text": "po` + "\xc3\xb6" + `r \ud83d\ude00"}], "n": 3 // all`},
	{"Plan", `{body: no quotes here, "steps": [{"id": 1, "text": "a"}, {"zz": 1}], "n": +4, "title": None}`},
	{"Verdict", `{"type": "no", "hints": ["a", 'b', ...], "why": "because"}`},
	{"Verdict", `{"why": "late", "type": "Yes"}`},
	{"Rows", "{\"id\": 1, \"text\": \"a\"}\n{\"id\": 2, \"text\": \"b\"}\n{\"id\": 3"},
	{"Rows", `[{"id": 1, "text": "a"}, {"id": 2, "text": "b"}`},
	{"Maybe", `{"text": "x", "id": 1}`},
	{"", `{"a": "x" + "y", "b": {1, 2}, "c": [1 2 3], "d": ("e", "f"), "g": "C:\temp \u{41}"}`},
}

// plannedTypes returns the types that broken names.
func plannedTypes(t *testing.T) map[string]*generable.Type {
	mod := loaded(t, agentscript.New(), planned)
	types := map[string]*generable.Type{"": generable.AnyT}
	for _, name := range []string{"Step", "Plan", "Verdict"} {
		types[name] = mod.Type(name)
	}
	types["Rows"] = generable.ListOfType(types["Step"])
	types["Maybe"] = generable.OneOf(types["Step"], types["Verdict"], generable.NoneT)
	return types
}

// readInPieces checks at each byte that a snapshot is what the text so far would be read as if it were cut there, and
// at the end that what was complete is in the result. Nothing is shown of a text without brackets.
func readInPieces(t *testing.T, typ *generable.Type, text string) {
	t.Helper()
	settled := map[string]string{}
	s := lenient.NewStream(typ, lenient.StreamOptions{On: func(e *lenient.StreamEvent) {
		switch e.Kind {
		case lenient.StreamReset:
			clear(settled)
		case lenient.StreamField, lenient.StreamItem:
			settled[e.Path()] = generable.JSON(e.Value, nil)
		}
	}})
	for i := range len(text) {
		s.Feed(text[i : i+1])
		now := s.Snapshot()
		r := lenient.Decode(typ, text[:i+1], generable.Options{Partial: true})
		if !r.OK {
			r.Value = r.Partial
		}
		bare := now.IsNull() && !strings.ContainsAny(text[:i+1], "{[")
		if got, want := generable.JSON(now, nil), generable.JSON(r.Value, nil); got != want && !bare {
			t.Errorf("%s: %q\nsnapshot %s\nreading  %s", typ, text[:i+1], got, want)
		}
	}
	r := s.Close()
	whole := lenient.Decode(typ, text, generable.Options{})
	if r.OK != whole.OK || !generable.Equal(r.Value, whole.Value) {
		t.Errorf("%s: %q is %s in pieces, %s at once", typ, text, generable.JSON(r.Value, nil), generable.JSON(whole.Value, nil))
	}
	for path, want := range settled {
		if got, ok := settledAt(r.Value, path); r.OK && (!ok || got != want) {
			t.Errorf("%s: %q: %s was settled as %s, in the end it is %s", typ, text, path, want, got)
		}
	}
}

// settledAt returns the JSON of the value at a path of fields and items.
func settledAt(v generable.Value, path string) (string, bool) {
	for path != "" {
		if l, ok := v.AsList(); ok {
			i := 0
			if _, err := fmt.Sscanf(path, "[%d]", &i); err != nil || i >= l.Len() {
				return "", false
			}
			v, path = l.At(i), path[strings.IndexByte(path, ']')+1:]
			continue
		}
		end := strings.IndexAny(path[1:], ".[") + 1
		if end == 0 {
			end = len(path)
		}
		key, ok := path[1:end], false
		if r, is := v.AsRecord(); is {
			v, ok = r.Get(key)
		} else if m, is := v.AsMap(); is {
			v, ok = m.Get(key)
		}
		if !ok {
			return "", false
		}
		path = path[end:]
	}
	return generable.JSON(v, nil), true
}

// Promise 28.9 (reading): the rules of a type are implemented once: at every byte a snapshot equals the reading of the
// same prefix with --partial, and settled fields equal the final ones.
func TestPromise_28_9_OneRule(t *testing.T) {
	types := plannedTypes(t)
	for _, c := range broken {
		readInPieces(t, types[c.typ], c.text)
		whole := lenient.Decode(types[c.typ], c.text, generable.Options{OnBadItem: generable.ItemDrop})
		readInPieces(t, types[c.typ], generable.JSON(whole.Value, types[c.typ]))
	}
	// The interfaces of the command and of scripts say the same.
	text := broken[2].text
	script := planned + `
def main(text = str):
    s, odd = Plan.stream(), []
    for n in range(1, len(text) + 1):
        s.feed(text[n - 1:n])
        r = Plan.decode(text[:n], partial = True)
        if dict(s = s.snapshot()) != dict(s = r.value if r.ok else r.partial):
            odd.append(text[:n])
    return odd
`
	dir := t.TempDir()
	write(t, dir, "plan.star", script)
	if out := runCommandIn(t, dir, nil, "run", "plan.star", "--text", text); strings.TrimSpace(out.stdout) != "[]" {
		t.Errorf("in a script: %s%s", out.stdout, out.stderr)
	}
	s := lenient.NewStream(types["Plan"], lenient.StreamOptions{})
	s.Feed(text[:70])
	write(t, dir, "cut.txt", text[:70])
	if out := runCommandIn(t, dir, nil, "decode", "--schema", "plan.star:Plan", "--partial", "cut.txt"); strings.TrimSpace(out.stdout) != generable.JSON(s.Snapshot(), nil) {
		t.Errorf("the command says %s%s, a snapshot %s", out.stdout, out.stderr, generable.JSON(s.Snapshot(), nil))
	}
}

// goStep declares its policies by tags.
type goStep struct {
	_    struct{} `stream:"not_null"`
	Text string   `json:"text"`
	ID   int      `json:"id"`
	Note string   `json:"note,omitempty"`
}

type goPlan struct {
	_     struct{} `stream:"with_state"`
	Tags  []string `json:"tags" stream:"items=done"`
	Steps []goStep `json:"steps" stream:"items=with_state"`
}

// Promise 28.10 (reading): done, not_null and with_state apply to classes and list elements in streams as they apply to
// fields.
func TestPromise_28_10_StreamPolicies(t *testing.T) {
	mod := loaded(t, agentscript.New(), `
Done = schema("A step", id = int, text = str, _stream = "done")
Late = schema("A step", text = str, id = int, note = str | None, _stream = ["not_null", "with_state"])
Plan = schema("A plan", tags = field(list[str], stream_items = "done"), done = list[Done], late = list[Late], one = Done | None)
`)
	fromGo, err := govalue.TypeFor[goPlan]()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ          *generable.Type
		pieces, want []string
	}{
		{mod.Type("Plan"), []string{`{"tags": ["a", "b`, `c", `, `"d"], "done": [{"id": 1, "text": "x`, `"}, {"id": 2`, `}], "late": [{"text": "y", `, `"id": 3, "note": "n`, `"}`, `], "one": {"id": 4, "te`, `xt": "z"},`}, []string{
			`{"tags":["a"]}`, `{"tags":["a","bc"]}`, `{"tags":["a","bc","d"],"done":[]}`, `{"tags":["a","bc","d"],"done":[{"id":1,"text":"x"}]}`,
			`{"tags":["a","bc","d"],"done":[{"id":1,"text":"x"},{}],"late":[]}`,
			`{"tags":["a","bc","d"],"done":[{"id":1,"text":"x"},{}],"late":[{"value":{"text":"y","id":3,"note":"n"},"state":"incomplete"}]}`,
			`{"tags":["a","bc","d"],"done":[{"id":1,"text":"x"},{}],"late":[{"value":{"text":"y","id":3,"note":"n"},"state":"complete"}]}`,
			`{"tags":["a","bc","d"],"done":[{"id":1,"text":"x"},{}],"late":[{"text":"y","id":3,"note":"n"}]}`,
			`{"tags":["a","bc","d"],"done":[{"id":1,"text":"x"},{}],"late":[{"text":"y","id":3,"note":"n"}],"one":{"id":4,"text":"z"}}`}},
		{fromGo, []string{`{"tags": ["a", "b`, `"], "steps": [{"text": "x"`, `, "id": 1, "note": "n`, `"}`, `]}`}, []string{
			`{"value":{"tags":["a"]},"state":"incomplete"}`, `{"value":{"tags":["a","b"],"steps":[]},"state":"incomplete"}`,
			`{"value":{"tags":["a","b"],"steps":[{"value":{"text":"x","id":1,"note":"n"},"state":"incomplete"}]},"state":"incomplete"}`,
			`{"value":{"tags":["a","b"],"steps":[{"value":{"text":"x","id":1,"note":"n"},"state":"complete"}]},"state":"incomplete"}`,
			`{"tags":["a","b"],"steps":[{"text":"x","id":1,"note":"n"}]}`}},
	} {
		s, read := lenient.NewStream(c.typ, lenient.StreamOptions{}), ""
		for i, piece := range c.pieces {
			s.Feed(piece)
			read += piece
			if got := generable.JSON(s.Snapshot(), nil); got != c.want[i] {
				t.Errorf("after %q\ngot  %s\nwant %s", read, got, c.want[i])
			}
			r := lenient.Decode(c.typ, read, generable.Options{Partial: true})
			if got := generable.JSON(r.Value, nil); !r.OK || got != c.want[i] {
				t.Errorf("%q is read as\n%s, want\n%s", read, got, c.want[i])
			}
		}
	}
	for call, want := range map[string]string{
		`schema("", a = int, _stream = "finished")`:                "one of",
		`schema("", a = int | None, _stream = "first")`:            "a field that has to be there",
		`schema("", a = field(str, stream_items = "done"))`:        "stream_items: want a list or a dict, got str",
		`schema("", a = field(list[str], stream_items = "first"))`: "stream_items: want atomic or state",
	} {
		if _, shown := checked("T = " + call); !strings.Contains(shown, want) {
			t.Errorf("%s: %s", call, shown)
		}
	}
}
