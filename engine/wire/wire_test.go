package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/wire"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// travels encodes and decodes an effect and compares all of it.
func travels(t *testing.T, e *engine.Effect) *engine.Effect {
	t.Helper()
	data, err := wire.Encode(e)
	if err != nil {
		t.Fatalf("%s %q: %v", e.Kind, e.Name, err)
	}
	got, err := wire.Decode(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if got.ID() != e.ID() || got.At.Path() != e.At.Path() || e.At != nil && got.At.Parent().Path() != e.At.Parent().Path() {
		t.Fatalf("%s became %s\n%s", e.ID(), got.ID(), data)
	}
	if got.Req.Digest() != e.Req.Digest() {
		t.Fatalf("another digest of\n%s", data)
	}
	a, err := json.Marshal(e.Req)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(got.Req); err != nil || !bytes.Equal(a, b) {
		t.Fatalf("%s\nbecame %s (%v)", a, b, err)
	}
	again, err := wire.Encode(got)
	if err != nil || !bytes.Equal(again, data) {
		t.Fatalf("%s\nis encoded again as\n%s (%v)", data, again, err)
	}
	want, have := *e, *got
	if (want.Returns == nil) != (have.Returns == nil) || want.Returns != nil && want.Returns.ID() != have.Returns.ID() {
		t.Fatalf("it returns %v, not %v", have.Returns, want.Returns)
	}
	for _, c := range []*engine.Effect{&want, &have} {
		c.At, c.Req, c.Returns = nil, nil, nil
	}
	if !reflect.DeepEqual(plain(want), plain(have)) {
		t.Fatalf("%+v became %+v", want, have)
	}
	return got
}

// plain returns an effect without its process's state.
func plain(e engine.Effect) engine.Effect {
	return engine.Effect{Kind: e.Kind, Name: e.Name, Agent: e.Agent, Run: e.Run, Class: e.Class, Stream: e.Stream, Short: e.Short,
		OnUnknown: e.OnUnknown, MaxOut: e.MaxOut, Timeout: e.Timeout}
}

// random makes effects.
type random struct{ *gentest.Generator }

func (r random) text() string {
	words := []string{"", "a", "“quoted” <b>&amp;</b>", "line\nline\u2028", "\x00\ufffd", "é😀", "The input is the answer above."}
	return words[r.Intn(len(words))] + words[r.Intn(len(words))]
}

func (r random) texts() []string {
	var out []string
	for range r.Intn(3) {
		out = append(out, r.text())
	}
	return out
}

func some[T any](r random, v T) *T {
	if r.Intn(2) == 0 {
		return nil
	}
	return &v
}

func (r random) part() model.Part {
	p := model.Part{Kind: model.PartText, Text: r.text()}
	switch r.Intn(6) {
	case 0:
		p = model.Part{Kind: model.PartImage, Image: &model.Image{URL: r.text(), MIME: r.text()}, Of: some(r, r.text())}
	case 1:
		p = model.Part{Kind: model.PartAudio, Audio: &model.Audio{URL: r.text(), MIME: r.text()}}
	case 2:
		p = model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: r.text(), Name: r.text(), Args: `{ "a":1}`, Dialect: r.text()}}
	case 3:
		p = model.Part{Kind: model.PartResult, Result: &model.ToolResult{CallID: r.text(), Name: r.text(), Text: r.text(), IsError: r.Intn(2) == 0, Untrusted: r.Intn(2) == 0}}
	case 4:
		p = model.Part{Kind: model.PartReasoning, Text: r.text(), Opaque: &model.Opaque{Provider: "p", Data: r.text()}}
	}
	return p
}

func (r random) condition(depth int) *predicate.Predicate {
	if depth > 0 {
		switch r.Intn(4) {
		case 0:
			return r.condition(depth - 1).And(r.condition(depth - 1))
		case 1:
			return r.condition(depth - 1).Or(r.condition(depth - 1))
		case 2:
			return r.condition(depth - 1).Not()
		}
	}
	v := r.Value(r.Typ(2), 2)
	p, err := predicate.New(predicate.Op(r.Intn(int(predicate.Matches))), "a.b", &v)
	switch r.Intn(6) {
	case 0:
		pattern := generable.StrOf("^a.*")
		p, err = predicate.New(predicate.Matches, "x", &pattern)
	case 1:
		p, err = predicate.New(predicate.Has, "x", nil)
	case 2:
		p = predicate.Always()
	case 3:
		p = p.Folded()
	case 4:
		p = p.Exact()
	}
	if err != nil {
		panic(err)
	}
	return p
}

func (r random) model() *model.Request {
	q := &model.Request{Model: r.text(), System: r.text(), Fallbacks: r.texts()}
	for range r.Intn(5) {
		m := model.Message{Role: model.RoleUser}
		for range r.Intn(3) {
			m.Parts = append(m.Parts, r.part())
		}
		q.Messages = append(q.Messages, m)
		if r.Intn(3) == 0 {
			said := "an answer of some length " + r.text()
			m := model.TextMessage(model.RoleUser, said+r.text())
			m.HandOver(said)
			q.Messages = append(q.Messages, m)
		}
	}
	for range r.Intn(3) {
		d := model.ToolDef{Name: r.text(), Description: r.text(), Schema: r.text(), After: r.texts()}
		if r.Intn(3) > 0 {
			d.Params = r.Schema(3, "")
		}
		q.Tools = append(q.Tools, d)
	}
	q.Choice = []model.ToolChoice{{}, {Mode: model.ChoiceRequired}, {Mode: model.ChoiceTool, Tool: "x"}}[r.Intn(3)]
	if r.Intn(2) == 0 {
		q.Output = &model.Output{Type: r.Typ(4), Structured: model.StructuredGuided}
		if r.Intn(2) == 0 {
			q.Output.Enough = r.condition(3)
		}
	}
	q.Params = model.Params{Temperature: some(r, r.Float64()), TopP: some(r, 0.0), MaxTokens: some(r, 0), Seed: some(r, r.Intn(9)), Stop: r.texts(),
		Effort: "low", ReasoningTokens: some(r, 0), Cache: r.Intn(2) == 0, ParallelCalls: some(r, false)}
	if r.Intn(2) == 0 {
		q.Params.Extra = json.RawMessage(`{ "a" : "<\ufffd>", "b":1e3 }`)
	}
	return q
}

func (r random) server() *remote.Server {
	s := &remote.Server{Name: "files", Transport: remote.TransportStdio, Command: r.text(), Args: r.texts(), URL: r.text(),
		Env:     []remote.Setting{{Name: "API_TOKEN", Value: "a literal secret"}},
		Headers: []remote.Setting{{Name: "Authorization", Value: "Bearer ", Secret: "KEY"}},
		Timeout: time.Duration(r.Int63()), Call: time.Duration(r.Intn(9)), Tools: r.texts(), Class: engine.ClassRead,
		OnUnknown: engine.OnUnknown(r.Intn(4)), Untrusted: r.Intn(2) == 0, Span: diag.Span{Pos: diag.Pos{File: "a.star", Line: r.Intn(3), Col: 2}, Len: 4}}
	if r.Intn(2) == 0 {
		s.OAuth = &remote.OAuth{Grant: remote.GrantClientCredentials, ID: r.text(), Secret: "S", Key: "K", Scopes: r.texts(), Issuer: r.text()}
	}
	return s
}

func (r random) effect() *engine.Effect {
	at := engine.MainFrame().Child("then", "a/b#@[c]%", r.Intn(3)).Index(r.Intn(3)).Child("par", "", 1).Index(2).Child("llm", "", r.Intn(99))
	e := &engine.Effect{Name: r.text(), Agent: r.text(), Run: "run", At: at, Class: engine.ClassOnce, Stream: r.Intn(2) == 0, Short: r.Intn(2) == 0,
		OnUnknown: engine.OnUnknown(r.Intn(4)), MaxOut: int32(r.Intn(99)), Timeout: time.Duration(r.Intn(99))}
	if r.Intn(2) == 0 {
		e.Returns = r.Typ(3)
	}
	switch r.Intn(4) {
	case 0:
		schema := r.Schema(3, "")
		e.Kind, e.Req = engine.EffectTool, &engine.ToolRequest{Args: r.Value(schema, 4), Version: r.text()}
		if r.Intn(2) == 0 {
			e.Req.(*engine.ToolRequest).Server, e.Req.(*engine.ToolRequest).Tool = r.server(), r.text()
		}
	case 1:
		e.Kind, e.Req = engine.EffectMCP, &remote.ListRequest{Server: r.server()}
	case 2:
		args := generable.NewMap(2)
		args.Set("url", r.Value(r.Typ(2), 3))
		args.Set("$secret", generable.NewRecord(capability.SecretType, []generable.Value{generable.StrOf("KEY")}).Value())
		e.Kind, e.Req = engine.EffectHTTP, &capability.Request{Op: "http.get", Args: args}
	default:
		e.Kind, e.Req = engine.EffectModel, r.model()
	}
	return e
}

func TestRandomEffectsTravel(t *testing.T) {
	r := random{gentest.NewGenerator(3)}
	for range gentest.Rounds() / 2 {
		travels(t, r.effect())
	}
}

func TestWholeServersTravel(t *testing.T) {
	r := random{gentest.NewGenerator(4)}
	for range 100 {
		want := r.server()
		got := travels(t, &engine.Effect{Kind: engine.EffectMCP, Req: &remote.ListRequest{Server: want}}).Req.(*remote.ListRequest).Server
		got.Digest()
		want.Digest()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v became %+v", want, got)
		}
	}
}

// TestFieldsOfForms makes new fields noticed: it lists the number of fields of each encoded type.
func TestFieldsOfForms(t *testing.T) {
	for of, n := range map[any]int{&remote.Server{}: 18, &model.Request{}: 15, &model.ToolDef{}: 5, &model.Output{}: 3, &engine.ToolRequest{}: 4, &session.Request{}: 4,
		&capability.Request{}: 2, &engine.Effect{}: 14, &model.Params{}: 10, &generable.Field{}: 13, &generable.Limits{}: 13, &generable.Type{}: 20} {
		if got := reflect.TypeOf(of).Elem().NumField(); got != n {
			t.Errorf("%T has %d fields, and %d are thought of", of, got, n)
		}
	}
}

func TestSessionsTravel(t *testing.T) {
	for _, r := range []*session.Request{
		{Op: session.OpTake, ID: "ada", Script: "flow.star"},
		{Op: session.OpSave, ID: "ada", Script: "flow.star", Entries: map[string]engine.Entry{"transcript": {Text: "{<&>}", Version: 3}, "memory/m/": {}}},
	} {
		travels(t, &engine.Effect{Kind: engine.EffectMemory, Name: "session", Run: "r", Class: engine.ClassIdempotent, Req: r})
	}
}

func TestKnownSchemasKeepTheirPointers(t *testing.T) {
	for _, typ := range []*generable.Type{model.ImageType, model.AudioType} {
		e := &engine.Effect{Kind: engine.EffectModel, Req: &model.Request{Output: &model.Output{Type: typ}}}
		if got := travels(t, e).Req.(*model.Request).Output.Type; got != typ {
			t.Errorf("%s is another type", typ)
		}
	}
	args := generable.NewMap(1)
	args.Set("token", generable.NewRecord(capability.SecretType, []generable.Value{generable.StrOf("KEY")}).Value())
	got := travels(t, &engine.Effect{Kind: engine.EffectEnv, Req: &capability.Request{Op: "x", Args: args}})
	v, _ := got.Req.(*capability.Request).Args.Get("token")
	if r, ok := v.AsRecord(); !ok || r.Type() != capability.SecretType {
		t.Error("a secret is another record")
	}
}

func TestWhatCannotTravel(t *testing.T) {
	image := model.Message{Parts: []model.Part{{Kind: model.PartResult, Result: &model.ToolResult{Pictures: []model.Image{{}}}}}}
	for what, e := range map[string]*engine.Effect{
		"sleep":       {Kind: engine.EffectSleep, Req: &engine.SleepRequest{}},
		"approval":    {Kind: engine.EffectApproval, Req: &engine.ApprovalRequest{}},
		"a mismatch":  {Kind: engine.EffectTool, Req: &model.Request{}},
		"no request":  {Kind: engine.EffectModel},
		"not UTF-8":   {Kind: engine.EffectModel, Req: &model.Request{System: "\xff"}},
		"a short one": {Kind: engine.EffectModel, Req: &model.Request{Messages: []model.Message{image}}},
		"a note":      {Kind: engine.EffectMemory, Req: &engine.SleepRequest{}},
		"bytes":       {Kind: engine.EffectMemory, Req: &session.Request{Op: session.OpSave, Entries: map[string]engine.Entry{"m": {Text: "\xff"}}}},
		"no server":   {Kind: engine.EffectMCP, Req: &remote.ListRequest{}},
	} {
		if data, err := wire.Encode(e); err == nil {
			t.Errorf("%s is encoded as %s", what, data)
		}
	}
}

func TestHostileEffects(t *testing.T) {
	for data, want := range map[string]string{
		``: "end", `{}`: "version", `null`: "version",
		`{"v":2,"kind":"model","model":[]}`: "form 2", `{"v":2}`: "form 2",
		`{"v":1}`: "kind", `{"v":1,"kind":"sleep","types":[]}`: "kind", `{"v":1,"kind":"model","types":[]}`: "kind",
		`{"v":1,"kind":"memory","types":[]}`: "kind", `{"v":1,"kind":"memory","types":[],"session":{"op":"drop"}}`: `operation "drop"`,
		`{"v":1,"kind":"model","model":{"messages":[]}}`:                                                                "table",
		`{"v":1,"kind":"model","types":[],"model":{"output":{}}}`:                                                       "no type",
		`{"v":1,"kind":"model","types":[],"model":{"output":{"type":3}}}`:                                               "no type 3",
		`{"v":1,"kind":"model","types":[],"model":{"extra":"{"}}`:                                                       "JSON",
		`{"v":1,"kind":"model","types":[],"model":{"stands":{"4":"x"}}}`:                                                "message 4",
		`{"v":1,"kind":"model","types":[],"model":{"messages":[{"role":"user","parts":[{"kind":"call"}]}]}}`:            "message 0",
		`{"v":1,"kind":"model","types":[{"kind":"int"}],"model":{"output":{"type":0,"enough":{"op":"&"}}}}`:             "parts",
		`{"v":1,"kind":"model","types":[{"kind":"int"}],"model":{"output":{"type":0,"enough":{"op":"ge"}}}}`:            "nothing",
		`{"v":1,"kind":"model","types":[{"kind":"int"}],"model":{"output":{"type":0,"enough":{"op":"~","of":[null]}}}}`: "empty",
		`{"v":1,"kind":"tool","types":[],"tool":{}}`:                                                                    "value",
		`{"v":1,"kind":"tool","types":[],"tool":{"args":{"schema":0,"fields":[]}}}`:                                     "no type 0",
		`{"v":1,"kind":"http","types":[],"capability":{"op":"x","args":1}}`:                                             "no map",
		`{"v":1,"kind":"mcp","types":[],"list":{"name":"x","class":"y"}}`:                                               "class",
		`{"v":1,"kind":"mcp","types":[],"onUnknown":"y","list":{"name":"x"}}`:                                           "unknown",
	} {
		if got, err := wire.Decode([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is read as %+v, %v; want %q", data, got, err, want)
		}
	}
}

func TestUnknownKeysAreSkipped(t *testing.T) {
	e, err := wire.Decode([]byte(`{"v":1,"later":{},"kind":"model","types":[],"model":{"messages":[],"later":1}}`))
	if err != nil || e.Kind != engine.EffectModel {
		t.Errorf("%v, %v", e, err)
	}
}

func FuzzDecode(f *testing.F) {
	r := random{gentest.NewGenerator(9)}
	for range 40 {
		if data, err := wire.Encode(r.effect()); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		if e, err := wire.Decode(data); err == nil {
			travels(t, e)
		}
	})
}

// long returns a model request with 20 messages.
func long() *engine.Effect {
	r := random{&gentest.Generator{Rand: rand.New(rand.NewSource(1))}}
	q := &model.Request{System: strings.Repeat("Be brief. ", 50), Output: &model.Output{Type: r.Schema(3, "")}, Tools: []model.ToolDef{{Name: "t", Params: r.Schema(3, "")}}}
	for i := range 20 {
		q.Messages = append(q.Messages, model.TextMessage(model.RoleUser, fmt.Sprintf("%d. %s", i, strings.Repeat("a word and more ", 30))))
	}
	return &engine.Effect{Kind: engine.EffectModel, At: engine.MainFrame(), Req: q}
}

func BenchmarkEncode(b *testing.B) {
	e := long()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.Encode(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data, err := wire.Encode(long())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
