package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// An error is data: a decoded error has the same content and is the same to errors.Is.
func TestErrorJSON(t *testing.T) {
	point := enginetest.Schema(t, "Point", generable.Field{Name: "x", Type: generable.IntT})
	m := generable.NewMap(1)
	m.Set("x", generable.IntOf(3))
	part, _ := point.Construct(m)
	whole := &engine.Error{
		Kind: engine.KindSchema, Code: diag.BadModelOutput, Message: "no Point", Help: "ask again", Path: "main/agent:a#0",
		Pos: diag.Pos{File: "a.star", Line: 3, Col: 7}, Trace: []diag.Frame{{Name: "main", Pos: diag.Pos{File: "a.star", Line: 1, Col: 1}}, {Name: "f", Pos: diag.Pos{File: "b.star", Line: 2, Col: 2}}},
		Attempt: 2, OfRun: true, Raw: "{x: \u2028<3>", Partial: part.Value(), Usage: model.Usage{In: 3, Out: 4},
		Tool:  &engine.FailedCall{Agent: "a", Skill: "s", Name: "look", Attempt: 2},
		Model: &engine.Provider{Name: "openai", Model: "gpt-5", Status: 500, RetryAfter: time.Second, Retryable: true},
		Cause: fmt.Errorf("outer: %w", &engine.Error{Kind: engine.KindTool, Code: diag.ToolFailed, Message: "inner", Cause: errors.Join(io.ErrUnexpectedEOF, errors.ErrUnsupported)}),
	}
	for name, e := range map[string]*engine.Error{
		"whole": whole, "bare": {Kind: engine.KindTool, Message: "x"},
		"cancelled": {Kind: engine.KindCancelled, Message: "x", Cause: fmt.Errorf("so: %w", context.Canceled)},
		"late":      {Kind: engine.KindTimeout, Message: "x", Cause: context.DeadlineExceeded},
	} {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back engine.Error
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		again, err := json.Marshal(&back)
		if err != nil || string(again) != string(text) {
			t.Errorf("%s: %v\n%s\nis again\n%s", name, err, text, again)
		}
		if back.Error() != e.Error() {
			t.Errorf("%s: says %q, said %q", name, back.Error(), e.Error())
		}
		for _, target := range []error{engine.ErrSchema, engine.ErrTool, engine.ErrBudget, engine.ErrCancelled, io.ErrUnexpectedEOF, io.EOF, context.Canceled, context.DeadlineExceeded} {
			if errors.Is(&back, target) != errors.Is(e, target) {
				t.Errorf("%s: errors.Is(%v) is %v, was %v", name, target, errors.Is(&back, target), errors.Is(e, target))
			}
		}
		var was, is []string
		for c := error(e); c != nil; c = errors.Unwrap(c) {
			was = append(was, c.Error())
		}
		for c := error(&back); c != nil; c = errors.Unwrap(c) {
			is = append(is, c.Error())
		}
		if fmt.Sprint(was) != fmt.Sprint(is) {
			t.Errorf("%s: causes %q, were %q", name, is, was)
		}
		if back.Pos != e.Pos || fmt.Sprint(back.Trace) != fmt.Sprint(e.Trace) || back.Help != e.Help || back.Raw != e.Raw || back.Usage != e.Usage || back.Attempt != e.Attempt || back.OfRun != e.OfRun {
			t.Errorf("%s: %#v\nwas %#v", name, back, e)
		}
		if generable.JSON(back.Partial, nil) != generable.JSON(e.Partial, nil) {
			t.Errorf("%s: partial %s", name, generable.JSON(back.Partial, nil))
		}
	}
	if err := json.Unmarshal([]byte(`{"kind": 3}`), &engine.Error{}); err == nil {
		t.Error("an error of the wrong form is decoded")
	}
}

// A nil *Error in an event or outcome is null.
func TestErrorJSONInEvents(t *testing.T) {
	text, err := json.Marshal(engine.Event{Kind: engine.EventRun, Data: &event.Run{Err: &engine.Error{Kind: engine.KindTool, Pos: diag.Pos{File: "f", Line: 1}}}})
	if err != nil || !strings.Contains(string(text), `"line":1`) {
		t.Errorf("%s %v", text, err)
	}
}

// Whatever is read as a recorded error has a text and a finite chain of causes, and is written again as it was read.
func FuzzErrorJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"kind":"tool","code":"AS713","message":"x","usage":{"in":1,"out":2}}`,
		`{"kind":"tool","message":"x","partial":{"a":[1,2.5,"é"]},"pos":{"file":"a","line":1},"trace":[{"name":"f","line":2}]}`,
		`{"cause":{"text":"a","causes":[{"is":"io.EOF"},{"error":{"kind":"auth"}}],"joined":true}}`,
		`{"cause":{"text":"a","causes":[{"text":"b","causes":[{}]}]}}`, `{"cause":{"is":"nothing"}}`, `{"partial":1e999}`, `{"cause":{"error":{"cause":{"error":{}}}}}`, `null`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e engine.Error
		if json.Unmarshal(text, &e) != nil {
			return
		}
		_ = e.Error()
		for err, n := error(&e), 0; err != nil; err, n = errors.Unwrap(err), n+1 {
			if n > len(text) {
				t.Fatal("the causes do not end")
			}
			_ = err.Error()
		}
		errors.Is(&e, engine.ErrTool)
		once, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		var again engine.Error
		if err := json.Unmarshal(once, &again); err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		twice, err := json.Marshal(&again)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%v\n%s\nis written again as\n%s", err, once, twice)
		}
	})
}

// As many causes are encoded as can be decoded again, and the error says if some were omitted. Each cause is visited
// once: reading and writing so long a chain at every level takes minutes.
func TestManyCauses(t *testing.T) {
	const n = 4900
	ours, joined := &engine.Error{Kind: engine.KindTool}, errors.New("one")
	theirs := errors.New("first")
	for i := range n {
		ours = &engine.Error{Kind: engine.KindTool, Cause: ours}
		joined = &engine.Error{Kind: engine.KindTool, Message: "joined", Cause: errors.Join(joined, joined)}
		if i < 100 {
			theirs = fmt.Errorf("w: %w", theirs)
		}
	}
	for name, e := range map[string]*engine.Error{"ours": ours, "joined": joined.(*engine.Error), "theirs": {Kind: engine.KindTool, Cause: theirs}} {
		text, err := json.Marshal(e)
		if err != nil || !strings.Contains(string(text), "its causes are left out") || strings.Count(string(text), `"kind"`) > 1001 {
			t.Fatalf("%s: %v, %d bytes", name, err, len(text))
		}
		var back engine.Error
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := json.Marshal(&back)
		if err != nil || string(again) != string(text) {
			t.Errorf("%s: %v, it is written again as something else", name, err)
		}
	}
	deep := strings.Repeat(`{"cause":{"error":`, n) + `{"raw":"` + strings.Repeat("x", 200_000) + `"}` + strings.Repeat("}}", n)
	out, err := engine.DecodeOutcome([]byte(`{"error":`+deep+`}`), nil)
	depth := 0
	for e := error(out.Err); e != nil; e = errors.Unwrap(e) {
		depth++
	}
	if err != nil || depth != n+1 {
		t.Errorf("%d causes are read of %d: %v", depth, n+1, err)
	}
}

// A person's edit is taken as it is: one JSON value, and nothing else.
func TestFits(t *testing.T) {
	typ := enginetest.Schema(t, "Order", generable.Field{Name: "path", Type: generable.StrT}, generable.Field{Name: "n", Type: generable.IntT, Optional: true, Default: generable.IntOf(1)})
	for _, row := range []struct {
		typ        *generable.Type
		text, want string
	}{
		{typ, ` {"path": "b"} `, `{"path":"b","n":1}`},
		{typ, `do not {"path": "a"} but {"path": "b"}`, ""},
		{typ, `{"path": "a"} {"path": "b"}`, ""},
		{typ, `{"path": "a"}, {"path": "b"}`, ""},
		{typ, `{"path": "a", "path": "b"}`, ""},
		{typ, `{"path": "a"} // and n 2`, ""},
		{typ, "```json\n{\"path\": \"a\"}\n```", ""},
		{typ, `{`, ""},
		{typ, ``, ""},
		{typ, `{"n": 2}`, ""},
		{nil, `{"any": 1}`, `{"any":1}`},
		{generable.StrT, `ship it`, `"ship it"`},
		{generable.StrT, `"ship it"`, `"ship it"`},
		{generable.IntT, `7`, `7`},
		{generable.IntT, `"7"`, ""},
	} {
		v, err := (&engine.ApprovalRequest{Type: row.typ}).Fits(row.text)
		if got := generable.JSON(v, nil); err == nil && got != row.want || err != nil && row.want != "" {
			t.Errorf("%q: %s, %v, want %s", row.text, got, err, row.want)
		}
	}
}

// A host may wrap a nil *Error.
func TestAsErrorOfAWrappedNil(t *testing.T) {
	got := engine.AsError(fmt.Errorf("outside: %w", (*engine.Error)(nil)))
	if got.Kind != engine.KindScript || !strings.Contains(got.Message, "outside") || errors.Is(got, engine.ErrBudget) {
		t.Errorf("%+v", got)
	}
}
