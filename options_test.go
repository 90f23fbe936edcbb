package agentscript_test

import (
	"context"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
)

// Each listener of a run receives the events of its own kinds. They carry the id that the host gave the run.
func TestListenersGetTheirKinds(t *testing.T) {
	mod, err := agentscript.New().Load(t.Context(), script("def main():\n    print(\"hi\")\n    return 1\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	var runs, logs []engine.Event
	_, err = mod.Start(t.Context(), agentscript.ID("mine"),
		agentscript.OnEvent(agentscript.EventRun, func(e engine.Event) { runs = append(runs, e) }),
		agentscript.OnEvent(agentscript.EventLog, func(e engine.Event) { logs = append(logs, e) })).Wait()
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 || runs[0].Kind != engine.EventRun || runs[1].Kind != engine.EventRun || len(logs) != 1 || logs[0].Kind != engine.EventLog {
		t.Errorf("of the run %+v, of the log %+v", runs, logs)
	}
	if len(logs) > 0 && logs[0].Run != "mine" {
		t.Errorf("the run is called %q", logs[0].Run)
	}
}

// A flow is described by the only skill of its agent; if there are several, by none of them.
func TestFlowOfSkills(t *testing.T) {
	mod, err := agentscript.New().Load(t.Context(), script(`one = agent(model = "m/x", skills = [skill("orders", "Finds orders.")])
two = agent(model = "m/x", skills = [skill("a", "Does this."), skill("b", "Does that.")], select = router())
`), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"one": "Finds orders.", "two": "two: str to str"} {
		f, err := mod.Flow(name)
		if err != nil || f.Doc != want {
			t.Errorf("%s: %v, %+v", name, err, f)
		}
	}
}

type letters struct{}

func (letters) ToHTMe(context.Context, struct{}) (string, error) { return "", nil }

func (letters) HTTPGet(context.Context, struct{}) (string, error) { return "", nil }

func TestNamesOfMethods(t *testing.T) {
	tools, err := agentscript.ToolsOf(letters{}, map[string]string{"ToHTMe": "a", "HTTPGet": "b"})
	if err != nil || len(tools) != 2 || tools[0].Name != "http_get" || tools[1].Name != "to_ht_me" {
		t.Errorf("%v, %+v", err, tools)
	}
}
