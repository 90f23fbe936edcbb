package eventlog

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
)

// eachKind returns the data of one event of each kind.
func eachKind() map[engine.EventKind]engine.EventData {
	failed := &engine.Error{Kind: engine.KindTool, Code: "AS701", Message: "no", Help: "try"}
	sure := 0.5
	change := &event.BudgetChange{What: event.BudgetOverrun, Budget: "the budget", Resource: "tokens", Used: 3, Limit: 2, Cause: event.OverrunInput}
	return map[engine.EventKind]engine.EventData{
		engine.EventRun:        &event.Run{Phase: engine.PhaseEnd, Err: failed, Spent: []event.BudgetChange{*change}},
		engine.EventNode:       &event.Node{Phase: engine.PhaseStart, Name: "n", Status: engine.StatusOK, Items: 3},
		engine.EventEffect:     &event.Effect{Phase: engine.PhaseEnd, Name: "m", Usage: &model.Usage{In: 1, Out: 2}, Replayed: true, Request: &engine.SleepRequest{For: time.Second}},
		engine.EventTool:       &event.Tool{Phase: engine.PhaseEnd, Name: "t", Text: "x", Server: "files", Made: true, Err: failed},
		engine.EventRepair:     &event.Repair{Name: "r", Text: "x", Err: failed},
		engine.EventBudget:     &event.Budget{Name: "usd", Text: "x", Change: change, Replayed: true},
		engine.EventLog:        &event.Log{Name: "hook", Text: "printed\nin two lines", Err: failed},
		engine.EventPhase:      &event.Phase{Name: "first"},
		engine.EventHandoff:    &event.Handoff{From: "a", To: "b", Type: "str"},
		engine.EventDropped:    &event.Dropped{Name: "b", Text: "x", Err: failed},
		engine.EventRetry:      &event.Retry{From: "a/b", To: "c/d", Wait: time.Second, Err: failed},
		engine.EventEscalation: &event.Escalation{Name: "t", Text: "x", Severity: engine.Severity("high")},
		engine.EventLeft:       &event.Left{Name: "t", Err: failed},
		engine.EventSkill:      &event.Skill{Agent: "a", Name: "s", Text: "x", Confidence: &sure},
		engine.EventKnowledge:  &event.Knowledge{Phase: engine.PhaseEnd, Name: "k", Text: "x", Err: failed},
		engine.EventPolicy:     &event.Policy{Phase: engine.PhaseStart, Name: "t", Text: "ask", Err: failed},
		engine.EventHistory:    &event.History{Name: "a", Text: "x"},
		engine.EventRoute:      &event.Route{From: "b", Way: "w", Index: 2, Case: "c"},
		engine.EventCitation:   &event.Citation{Name: "a", Citation: &model.Citation{Title: "T", URL: "https://example.com"}},
	}
}

// Each kind of event is decoded as it was encoded. A new kind must be added here.
func TestEachKind(t *testing.T) {
	data := eachKind()
	for bit := engine.EventKind(1); bit <= engine.EventAll; bit <<= 1 {
		if Kinds&bit == 0 {
			continue
		}
		in := engine.Event{Kind: bit, Run: "r", Path: "main/tool:x#0", ID: "i", Attempt: 2, Seq: 7, At: time.Unix(5, 0).UTC(), Data: data[bit]}
		if in.Data == nil {
			t.Errorf("%s is not tried", bit)
			continue
		}
		text, err := encode(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Decode(text)
		if err != nil || !reflect.DeepEqual(in, out) {
			t.Errorf("%s: %+v\nnot %+v\n%v %s", bit, out.Data, in.Data, err, text)
		}
	}
}

// The line of an effect holds as much of its request as a progress display shows, and the model that answers if the
// script does not name one.
func TestEffects(t *testing.T) {
	passed := func(at string, d *event.Effect) *event.Effect {
		t.Helper()
		text, err := encode(engine.Event{Kind: engine.EventEffect, Path: at, Data: d})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		return e.Data.(*event.Effect)
	}
	if _, ok := passed("main/mcp0", &event.Effect{Request: &remote.ListRequest{}}).Request.(*remote.ListRequest); !ok {
		t.Error("that tools of a server are listed is not told")
	}
	if r := passed("main/agent:a#0/llm0", &event.Effect{Request: &model.Request{System: "long"}}).Request; r != nil {
		t.Errorf("the request of a model is told: %v", r)
	}
	for want, d := range map[string]*event.Effect{
		"the worker's model": {Phase: engine.PhaseStart},
		"a/b":                {Phase: engine.PhaseStart, Name: "a/b"},
		"c/d":                {Phase: engine.PhaseEnd, Response: &model.Response{Model: "c/d"}},
		"":                   {Phase: engine.PhaseEnd, Err: &engine.Error{Code: "AS707"}},
	} {
		if got := passed("main/agent:a#0/llm0", d).Name; got != want {
			t.Errorf("%q answers, want %q", got, want)
		}
	}
}

func printed(i int, text string) engine.Event {
	return engine.Event{Kind: engine.EventLog, Path: "main", Seq: uint64(i), Data: &event.Log{Text: text}}
}

// Events that the log dropped are reported as lost, and those after them are returned page by page.
func TestLog(t *testing.T) {
	var l Log
	const n = 400
	for i := range n {
		l.Add(printed(i, fmt.Sprint(i, " ", strings.Repeat("x", 20<<10))))
	}
	if l.bytes > maxLogBytes || l.first == 0 || int64(len(l.lines)) != n-l.first {
		t.Fatalf("%d bytes, %d lines from %d on", l.bytes, len(l.lines), l.first)
	}
	p := l.Page(0)
	if p.Lost != l.first || !p.More {
		t.Errorf("%d lost, want %d, more %t", p.Lost, l.first, p.More)
	}
	next := l.first
	for at := int64(0); ; at = p.Next {
		p = l.Page(at)
		for _, text := range p.Lines {
			e, err := Decode(text)
			if err != nil || int64(e.Seq) != next {
				t.Fatalf("%d %v, want %d", e.Seq, err, next)
			}
			if len(e.Text()) > maxText+len("…") {
				t.Fatalf("a text of %d bytes", len(e.Text()))
			}
			next++
		}
		if !p.More {
			break
		}
	}
	if next != n {
		t.Errorf("%d were returned", next)
	}
	if p := l.Page(n + 5); len(p.Lines) > 0 || p.Next != n {
		t.Errorf("behind the end: %+v", p)
	}
}

// A reader returns an event twice if it happened twice at one place, and skips what another history repeats.
func TestReader(t *testing.T) {
	page := func(history string, from int64, texts ...string) Page {
		p := Page{History: history, Next: from + int64(len(texts))}
		for _, s := range texts {
			text, err := encode(printed(0, s))
			if err != nil {
				t.Fatal(err)
			}
			p.Lines = append(p.Lines, json.RawMessage(text))
		}
		return p
	}
	r := NewReader()
	var got []string
	take := func(p Page) (again bool) {
		t.Helper()
		events, again, err := r.Take(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			got = append(got, e.Text())
		}
		return again
	}
	if take(page("one", 0, "a", "b", "a")) || r.From() != 3 {
		t.Errorf("the next page is to be from %d on", r.From())
	}
	if !take(page("two", 3, "b")) || r.From() != 0 {
		t.Error("a page of another history is not asked for from its beginning")
	}
	take(page("two", 0, "b", "a")) // branches may come in another order
	take(page("two", 2, "a", "a", "b", "c"))
	if !take(page("three", 9)) {
		t.Error("an empty page of another history is taken")
	}
	take(page("three", 0, "a", "b", "a", "a", "b", "c", "c"))
	if want := "a b a a b c c"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}
