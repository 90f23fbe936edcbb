//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
	"github.com/agentscript/agentscript/generable/lenient"
)

// seeds returns how many answers of each type to request at each endpoint.
func seeds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("AGENTSCRIPT_E2E_SEEDS")
	if text == "" {
		return 50
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("AGENTSCRIPT_E2E_SEEDS is %q", text)
	}
	return n
}

func declared(t *testing.T) func(*generable.Type, generable.FieldErrors) *generable.Type {
	return func(typ *generable.Type, errs generable.FieldErrors) *generable.Type {
		t.Helper()
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		return typ
	}
}

func some[T any](v T) *T { return &v }

// shape is a type that answers are held to.
type shape struct {
	name string
	typ  *generable.Type
}

// shapes returns types of every kind whose rules the server can enforce.
func shapes(t *testing.T) []shape {
	d := declared(t)
	severity := d(generable.NewEnum("Severity", "How bad it is", []string{"low", "high", "blocks the release", `an "odd" one`, "größer"}))
	// Not in alphabetical order: the order of the fields is the model's line of thought.
	ticket := d(generable.NewSchema("Ticket", "A message and what it is about", []generable.Field{
		{Name: "title", Type: generable.StrT, Limits: &generable.Limits{MinLen: some(1), MaxLen: some(20)}},
		{Name: "score", Type: generable.IntT, Limits: &generable.Limits{Ge: some(0.0), Le: some(10.0)}},
		{Name: "ratio", Type: generable.FloatT},
		{Name: "done", Type: generable.BoolT},
		{Name: "kind", Type: severity},
	}))
	finding := d(generable.NewSchema("Finding", "", []generable.Field{
		{Name: "path", Type: generable.StrT}, {Name: "line", Type: generable.IntT, Limits: &generable.Limits{Gt: some(0.0)}}, {Name: "severity", Type: severity},
	}))
	approved := d(generable.NewSchema("Approved", "Ready to ship", []generable.Field{{Name: "confidence", Type: generable.IntT}}))
	rejected := d(generable.NewSchema("Rejected", "Needs changes", []generable.Field{
		{Name: "reason", Type: generable.StrT}, {Name: "findings", Type: generable.ListOfType(finding), Limits: &generable.Limits{MaxLen: some(3)}},
	}))
	later := d(generable.NewSchema("Later", "Not decided", nil))
	decision := d(generable.NewUnion("Decision", "Whether it ships", "type", []*generable.Type{approved, rejected, later}))
	node := generable.RefTo("Tree")
	tree := d(generable.NewSchema("Tree", "", []generable.Field{
		{Name: "label", Type: generable.StrT, Limits: &generable.Limits{MaxLen: some(8)}}, {Name: "next", Type: generable.OneOf(node, generable.NoneT)},
	}))
	node.Bind(tree)
	list := func(item *generable.Type, least, most int) *generable.Type {
		return d(generable.Limited(generable.ListOfType(item), generable.Limits{MinLen: some(least), MaxLen: some(most)}))
	}
	text := func(l generable.Limits) *generable.Type { return d(generable.Limited(generable.StrT, l)) }
	return []shape{
		{"record", ticket},
		{"enum", severity},
		{"list", list(ticket, 2, 3)},
		{"list of enums", list(severity, 1, 4)},
		{"union", decision},
		{"union in a list", list(decision, 1, 3)},
		{"nested", d(generable.NewSchema("Report", "A report", []generable.Field{
			{Name: "summary", Type: generable.StrT}, {Name: "ticket", Type: ticket}, {Name: "findings", Type: list(finding, 0, 2)},
			{Name: "decision", Type: decision},
		}))},
		{"optional", d(generable.NewSchema("Optional", "", []generable.Field{
			{Name: "a", Type: generable.StrT, Optional: true, Default: generable.StrOf("x")},
			{Name: "b", Type: generable.IntT},
			{Name: "c", Type: generable.OneOf(generable.StrT, generable.NoneT), Optional: true},
			generable.OmittedField(generable.Field{Name: "d", Type: generable.BoolT}),
			{Name: "e", Type: generable.OneOf(finding, generable.NoneT), Explicit: true},
		}))},
		{"one of", d(generable.NewSchema("Either", "", []generable.Field{
			{Name: "value", Type: generable.OneOf(generable.IntT, generable.StrT, generable.BoolT, generable.NoneT)},
			{Name: "record", Type: generable.OneOf(finding, generable.ListOfType(generable.IntT))},
		}))},
		{"dict", d(generable.Limited(generable.DictOfType(generable.IntT), generable.Limits{MaxLen: some(100)}))},
		{"tuple", d(generable.Limited(generable.TupleType([]*generable.Type{generable.StrT, generable.IntT, severity}, nil), generable.Limits{MinLen: some(3), MaxLen: some(3)}))},
		{"recursive", tree},
		{"texts", d(generable.NewSchema("Texts", "", []generable.Field{
			{Name: "day", Type: text(generable.Limits{Format: "date"})}, {Name: "at", Type: text(generable.Limits{Format: "date-time"})},
			{Name: "clock", Type: text(generable.Limits{Format: "time"})}, {Name: "id", Type: text(generable.Limits{Format: "uuid"})},
			{Name: "code", Type: text(generable.Limits{Pattern: "^[A-Z]{2}-[0-9]{3,5}(x|yy)?$"})},
			{Name: "three", Type: text(generable.Limits{MinLen: some(3), MaxLen: some(3)})},
		}))},
		{"numbers", d(generable.NewSchema("Numbers", "", []generable.Field{
			{Name: "any", Type: generable.IntT}, {Name: "below", Type: generable.IntT, Limits: &generable.Limits{Lt: some(-7.0)}},
			{Name: "negative", Type: generable.IntT, Limits: &generable.Limits{Lt: some(0.0)}}, {Name: "far", Type: generable.IntT, Limits: &generable.Limits{Le: some(-1050.0)}},
			{Name: "large", Type: generable.IntT, Limits: &generable.Limits{Ge: some(1005.0)}}, {Name: "round", Type: generable.IntT, Limits: &generable.Limits{Ge: some(100.0)}},
			{Name: "teens", Type: generable.IntT, Limits: &generable.Limits{Gt: some(15.0)}}, {Name: "not_far", Type: generable.IntT, Limits: &generable.Limits{Ge: some(-1050.0)}},
			{Name: "depth", Type: generable.IntT, Limits: &generable.Limits{Ge: some(-1050.0), Le: some(-95.0)}},
			{Name: "between", Type: generable.IntT, Limits: &generable.Limits{Ge: some(-128.0), Le: some(1100.0)}}, {Name: "float", Type: generable.FloatT},
		}))},
		{"odd names", d(generable.NewSchema("Odd", "", []generable.Field{
			{Name: "größe", Type: generable.IntT}, {Name: "a_b", Type: generable.BoolT}, {Name: "type", Type: generable.StrT}, {Name: "日本", Type: generable.BoolT},
		}))},
		{"integer", generable.IntT},
		{"truth", generable.BoolT},
		{"float", generable.FloatT},
		{"any value", d(generable.NewSchema("Loose", "", []generable.Field{{Name: "anything", Type: generable.DictOfType(generable.AnyT)}}))},
	}
}

// beyond reports whether everything wrong with an answer is beyond the server's grammars: a number that is too large
// for a float, such as 418380e779, and a day that is not in the calendar, such as the 31st of November.
func beyond(errs generable.FieldErrors) bool {
	for _, e := range errs {
		if text := e.Error(); !strings.Contains(text, "that a float can hold") && !strings.Contains(text, "want a date") {
			return false
		}
	}
	return len(errs) > 0
}

// decoded decodes an answer in its form.
func decoded(t *testing.T, typ *generable.Type, r *model.Response) lenient.Result {
	t.Helper()
	if r.Dialect == "" {
		return lenient.Decode(typ, r.Text(), generable.Options{})
	}
	w, err := dialect.Compile(typ, r.Dialect)
	if err != nil {
		t.Error(err)
		return lenient.Result{}
	}
	return w.Decode(r.Text(), generable.Options{})
}

// TestOllamaSchema checks that, held to the schema that a type compiles to, a model that knows nothing writes the
// type's values every time, as valid JSON, in which the decoder repairs nothing.
func TestOllamaSchema(t *testing.T) {
	base, n := randomModel(t), seeds(t)
	var total, valid, unheld int
	for _, provider := range endpoints {
		r := local(t, base)
		for _, s := range shapes(t) {
			t.Run(provider+"/"+s.name, func(t *testing.T) {
				var mu sync.Mutex
				good, long, off, kinds, texts := 0, 0, 0, map[string]int{}, map[string]bool{}
				across(n, func(seed int) {
					req := seeded(seed)
					req.Output = &model.Output{Type: s.typ, Structured: model.StructuredConstrained}
					out, streamed := ask(t, r, provider+"/random", req, seed%2 == 1)
					mu.Lock()
					defer mu.Unlock()
					if out.Err != nil {
						t.Errorf("seed %d: %v", seed, out.Err)
						return
					}
					text := out.Response.Text()
					if seed%2 == 1 && streamed.text != text {
						t.Errorf("seed %d: streamed %q of %q", seed, streamed.text, text)
					}
					if out.Response.Finish == model.FinishLength { // a random text may not end
						long++
						return
					}
					got := decoded(t, s.typ, out.Response)
					switch {
					case !json.Valid([]byte(text)):
						t.Errorf("seed %d: %q is no JSON", seed, text)
					case !got.OK && beyond(got.Errors):
						off++
					case !got.OK:
						t.Errorf("seed %d: %q is no %s: %v", seed, text, s.typ, got.Errors)
					case len(s.typ.Conforms(got.Value)) > 0:
						t.Errorf("seed %d: %q was read as %s: %v", seed, text, generable.JSON(got.Value, s.typ), s.typ.Conforms(got.Value))
					default:
						good++
						texts[text] = true
					}
					for _, repair := range got.Repairs {
						kinds[repair.Kind]++
						if repair.Kind != "int-to-float" && s.name != "any value" && // its numbers may be too large for one
							!(repair.Kind == "wrapped" && provider == "compat") {
							t.Errorf("seed %d: %q needed the repair %+v", seed, text, repair)
						}
					}
				})
				total, valid, unheld = total+n, valid+good, unheld+off
				if long+off > n/2 {
					t.Errorf("of %d answers %d did not come to an end, and %d are beyond a grammar", n, long, off)
				}
				t.Logf("ANSWERS %s/%s: %d of %d valid, %d cut off, %d beyond a grammar, %d different, repairs %v", provider, s.name, good, n, long, off, len(texts), kinds)
			})
		}
	}
	t.Logf("ANSWERS in all: %d of %d valid, %d with a float or day that no grammar rules out", valid, total, unheld)
}

// TestOllamaFieldOrder checks that fields come in the order of their declaration.
func TestOllamaFieldOrder(t *testing.T) {
	base := randomModel(t)
	names := []string{"zeta", "alpha", "mid", "beta", "omega"}
	fields := make([]generable.Field, len(names))
	for i, name := range names {
		fields[i] = generable.Field{Name: name, Type: generable.IntT}
	}
	typ := declared(t)(generable.NewSchema("Ordered", "", fields))
	bothWays(t, "random", func(t *testing.T, m string, stream bool) {
		req := seeded(1)
		req.Output = &model.Output{Type: typ, Structured: model.StructuredConstrained}
		out, _ := ask(t, local(t, base), m, req, stream)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		places := make([]int, len(names))
		for i, name := range names {
			places[i] = strings.Index(out.Response.Text(), strconv.Quote(name))
		}
		if !slices.IsSorted(places) || places[0] < 0 {
			t.Errorf("%s", out.Response.Text())
		}
	})
}

// TestOllamaUnheld checks that the port leaves out of the schema what no grammar of the server can express, so that the
// server does not reject it, and that the decoder checks it: a value that breaks a rule is an error that names it.
func TestOllamaUnheld(t *testing.T) {
	base := randomModel(t)
	d := declared(t)
	typ := d(generable.NewSchema("Unheld", "", []generable.Field{
		{Name: "share", Type: generable.FloatT, Limits: &generable.Limits{Ge: some(0.0), Le: some(1.0)}},
		{Name: "tens", Type: generable.IntT, Limits: &generable.Limits{MultipleOf: some(10.0)}},
		{Name: "mail", Type: generable.StrT, Limits: &generable.Limits{Format: "email"}},
		{Name: "digits", Type: generable.StrT, Limits: &generable.Limits{Pattern: `\d+`}},
		{Name: "set", Type: generable.ListOfType(generable.BoolT), Limits: &generable.Limits{Unique: true, MinLen: some(3), MaxLen: some(3)}},
	}))
	for _, provider := range endpoints {
		var mu sync.Mutex
		broken := map[string]bool{}
		r := local(t, base)
		across(20, func(seed int) {
			req := seeded(seed)
			req.Output = &model.Output{Type: typ, Structured: model.StructuredConstrained}
			out, _ := ask(t, r, provider+"/random", req, false)
			mu.Lock()
			defer mu.Unlock()
			if out.Err != nil {
				t.Errorf("%s: %v", provider, out.Err)
				return
			}
			for _, e := range decoded(t, typ, out.Response).Errors {
				broken[strings.SplitN(fmt.Sprint(e.Path), "[", 2)[0]] = true
			}
		})
		for _, f := range typ.Fields {
			if !broken["."+f.Name] {
				t.Errorf("%s: no answer breaks the rule of %s; %v", provider, f.Name, broken)
			}
		}
	}
}
