package event_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Events of every kind are written with the same keys in the same order.
func TestEventsAsJSON(t *testing.T) {
	failed := &engine.Error{Kind: engine.KindTool, Code: "AS707", Message: "no"}
	failure := `"error":{"kind":"tool","code":"AS707","message":"no","usage":{"in":0,"out":0}}`
	value := new(generable.IntOf(7))
	sure, usage := 0.5, model.Usage{In: 1, Out: 2}
	news := event.BudgetChange{What: event.BudgetSpent, Budget: "b", Resource: "tokens", Used: 1, Limit: 2}
	change := `{"what":"budget.spent","budget":"b","resource":"tokens","used":1,"limit":2}`
	start := engine.PhaseStart
	for _, tt := range []struct {
		kind engine.EventKind
		data engine.EventData
		want string // %s is what all events have after the name
	}{
		{engine.EventRun, &event.Run{Phase: start, Err: failed, Spent: []event.BudgetChange{news}}, `{"kind":"run","phase":"start",%s,` + failure + `,"spent":[` + change + `]}`},
		{engine.EventNode, &event.Node{Phase: start, Name: "n", Status: engine.StatusFailed, Err: failed}, `{"kind":"node","phase":"start",%s,"status":"failed",` + failure + `}`},
		{engine.EventEffect, &event.Effect{Phase: start, Name: "n", Request: &exec.Choice{Of: 2}, Response: &model.Response{Finish: model.FinishStop}, Value: value, Usage: &usage, Err: failed, Replayed: true}, ""},
		{engine.EventToken, &event.Token{Name: "n", Text: "t", Reasoning: true, Call: &engine.CallDelta{Index: 1}}, `{"kind":"token",%s,"text":"t","reasoning":true,"call":{"index":1}}`},
		{engine.EventTool, &event.Tool{Phase: start, Name: "n", Text: "t", Err: failed}, `{"kind":"tool","phase":"start",%s,"text":"t",` + failure + `}`},
		{engine.EventRepair, &event.Repair{Name: "n", Text: "t", Value: value, Err: failed}, `{"kind":"repair",%s,"text":"t","value":7,` + failure + `}`},
		{engine.EventBudget, &event.Budget{Name: "n", Text: "t", Change: &news, Err: failed, Replayed: true}, `{"kind":"budget",%s,"text":"t","replayed":true,` + failure + `,"budget":` + change + `}`},
		{engine.EventLog, &event.Log{Name: "n", Text: "t", Err: failed}, `{"kind":"log",%s,"text":"t",` + failure + `}`},
		{engine.EventPhase, &event.Phase{Name: "n"}, `{"kind":"phase",%s}`},
		{engine.EventHandoff, &event.Handoff{From: "f", To: "n", Type: "t"}, `{"kind":"handoff",%s,"text":"t"}`},
		{engine.EventDropped, &event.Dropped{Name: "n", Text: "t", Err: failed}, `{"kind":"dropped",%s,"text":"t",` + failure + `}`},
		{engine.EventRetry, &event.Retry{From: "f", To: "n", Wait: time.Second, Err: failed}, `{"kind":"retry",%s,"wait":1000000000,` + failure + `}`},
		{engine.EventPartial, &event.Partial{What: "n", Field: ".a", Text: "t", Value: value, Snapshot: func() (v generable.Value) { return v }}, `{"kind":"partial",%s,"text":"t","field":".a","value":7}`},
		{engine.EventEscalation, &event.Escalation{Name: "n", Text: "t", Severity: engine.SeverityHigh}, `{"kind":"escalation",%s,"text":"t","severity":"HIGH"}`},
		{engine.EventLeft, &event.Left{Name: "n", Err: failed}, `{"kind":"left",%s,` + failure + `}`},
		{engine.EventSkill, &event.Skill{Agent: "f", Name: "n", Text: "t", Confidence: &sure}, `{"kind":"skill",%s,"text":"t","confidence":0.5}`},
		{engine.EventKnowledge, &event.Knowledge{Phase: start, Name: "n", Text: "t", Err: failed}, `{"kind":"knowledge","phase":"start",%s,"text":"t",` + failure + `}`},
		{engine.EventPolicy, &event.Policy{Phase: start, Name: "n", Text: "t", Err: failed}, `{"kind":"policy","phase":"start",%s,"text":"t",` + failure + `}`},
		{engine.EventHistory, &event.History{Name: "n", Text: "t"}, `{"kind":"history",%s,"text":"t"}`},
		{engine.EventRoute, &event.Route{Of: failed, From: "f", Way: "n", Index: 2, Case: "t"}, `{"kind":"route",%s,"text":"t"}`},
		{engine.EventCitation, &event.Citation{Name: "n", Citation: &model.Citation{URL: "u"}}, `{"kind":"citation",%s,"citation":{"url":"u"}}`},
	} {
		if tt.want == "" {
			choice, err := json.Marshal(&exec.Choice{Of: 2})
			response, err2 := json.Marshal(&model.Response{Finish: model.FinishStop})
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			tt.want = `{"kind":"effect","phase":"start",%s,"replayed":true,"usage":{"in":1,"out":2},"request":` + string(choice) + `,"response":` + string(response) + `,"value":7,` + failure + `}`
		}
		from, name := "", `"name":"n",`
		switch tt.data.(type) {
		case *event.Handoff, *event.Retry, *event.Skill, *event.Route:
			from = `"from":"f",`
		case *event.Run:
			name = ""
		}
		want := fmt.Sprintf(tt.want, `"run":"r","path":"main","id":"i",`+from+name+`"attempt":3,"seq":4,"at":"1970-01-01T00:00:00Z"`)
		got, err := json.Marshal(engine.Event{Kind: tt.kind, Run: "r", Path: "main", ID: "i", Attempt: 3, Seq: 4, At: time.Unix(0, 0).UTC(), Data: tt.data})
		if err != nil || string(got) != want {
			t.Errorf("%v\n got %s\nwant %s", err, got, want)
		}
	}
}
