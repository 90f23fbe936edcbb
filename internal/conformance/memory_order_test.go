package conformance

import (
	"encoding/json"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/store"
)

// Promise 22.13 (memory): tools of a script that use notes, through a global, a called function, a captured variable, a
// default or a loaded file, keep the order of the answer among themselves and with the model's own operations on its
// notes.
func TestPromise_22_13_ToolsThatUseNotes(t *testing.T) {
	src := `
load("lib.star", "store", "recall")
notes = memory("notes", shared = True)
store["notes"] = notes

def keep(text, by = notes.append):
    by(text)

def remember(text = str):
    """Keeps a text."""
    keep(text)
    return "kept"

def recorder(m):
    def record(text = str):
        """Records a text."""
        m.append(text)
        return "recorded"
    return record

def other(text = str):
    """Does something else."""
    return text.upper()

clerk = agent(prompt = "Work.", memory = notes, tools = [remember, tool(recorder(notes), name = "record"), recall, other])

def main():
    clerk("go")
    return notes.read()
`
	lib := `
store = {}

def recall(text = str):
    """Adds a text by what another file keeps."""
    store["notes"].append(text)
    return store["notes"].read()
`
	call := func(name, text string) scripted.Call {
		args, err := json.Marshal(map[string]string{"text": text, "content": text})
		if err != nil {
			t.Fatal(err)
		}
		return scripted.Call{Name: name, Args: args}
	}
	calls := []scripted.Call{call("remember", "1"), call("other", "x"), call("record", "2"), call("memory_append", "3"), call("recall", "4"), call("remember", "5"),
		call("other", "y"), call("record", "6"), call("remember", "7"), call("memory_append", "8")}
	const want = "1\n2\n3\n4\n5\n6\n7\n8"
	run := func(how string, opts ...agentscript.RunOption) {
		t.Helper()
		done := "done"
		models := scripted.New([]scripted.Row{{Calls: calls}, {Text: &done}})
		mod := loaded(t, agentscript.New(agentscript.WithModels(models)), src, "lib.star", lib)
		res, err := mod.Start(t.Context(), opts...).Wait()
		if err != nil || res.Text() != want {
			t.Errorf("%s: %q, %v", how, res.Text(), err)
		}
	}
	for seed := range uint64(25) {
		j := &store.Memory{}
		run("cooperative", agentscript.Cooperative(seed), agentscript.RunJournal(j))
		run("replayed", agentscript.Cooperative(seed+1), agentscript.RunJournal(j), agentscript.HandlerForAll(engine.Handlers{}))
	}
	for range 10 {
		run("goroutines")
	}
}
