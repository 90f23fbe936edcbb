package conformance

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
)

// Promise 30.33 (durable): wait("name", type) parks a run until a typed value is sent, once.
func TestPromise_30_33_WaitInScripts(t *testing.T) {
	const text = `
Order = schema("An order", item = str, n = field(int, ge = 1))
def main(x = str):
    one = wait("order", Order)
    two = wait("order", Order)
    return "%s %d, %s %d" % (one.item, one.n, two.item, two.n)
`
	s := store.NewMemory()
	id := parkedRun(t, s, text)
	eng, _ := durableScript(t, s, text)
	send := func(dedup, value string) error {
		return eng.Signal(t.Context(), id, "order", dedup, engine.Answer{Result: json.RawMessage(value)})
	}
	// What does not fit is left: the run keeps waiting.
	if err := send("", `{"item": "tea", "n": 0}`); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Resume(t.Context(), id, agentscript.ParkRun()).Wait(); codeOf(err) != diag.WaitsForValue {
		t.Fatalf("a value that does not fit: %v", err)
	}
	if err := send("", `{"item": "tea", "n": 2}`); err != nil {
		t.Fatal(err)
	}
	if err := send("", `{"item": "tea", "n": 3}`); codeOf(err) != diag.BadSignal {
		t.Errorf("another answer: %v", err)
	}
	if _, err := eng.Resume(t.Context(), id, agentscript.ParkRun()).Wait(); codeOf(err) != diag.WaitsForValue {
		t.Fatalf("the second wait: %v", err)
	}
	if err := send("", `{"item": "milk", "n": 1}`); err != nil {
		t.Fatal(err)
	}
	if out, err := eng.Resume(t.Context(), id).Wait(); err != nil || out.Text() != "tea 2, milk 1" {
		t.Errorf("%q %v", out.Text(), err)
	}

	// What is sent before the wait is taken then, once per dedup key, and a run that is still in memory continues at
	// once.
	_, mod := durableScript(t, s, "a = agent(\"a\", prompt = \"Go.\")\ndef main(x = str):\n    return a(x) + wait(\"one\") + wait(\"two\")\n")
	run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("stays"))
	for _, word := range []string{"two", "two", "one"} {
		for {
			err := eng.Signal(t.Context(), "stays", word, "d-"+word, engine.Answer{Result: json.RawMessage(`"` + word + `"`)})
			if err == nil {
				break
			}
			if codeOf(err) != diag.RunNotFound { // it exists with its first effect
				t.Fatal(err)
			}
		}
	}
	if out, err := run.Wait(); err != nil || out.Text() != "xonetwo" {
		t.Errorf("%q %v", out.Text(), err)
	}
}

// Promise 30.37 (durable): approvals survive a restart and can be answered in any order, even while the process is
// down.
func TestPromise_30_37_ApprovalsSurvive(t *testing.T) {
	const text = `
def one(i):
    d = approve("Send %d?" % i, {"n": i})
    return "%s %s %s" % (d.approved, d.reason, d.data)
def main(x = str):
    return "; ".join(parallel(one, [0, 1, 2]))
`
	s := store.NewMemory()
	id := parkedRun(t, s, text)
	eng, _ := durableScript(t, s, text)
	steps := waiting(t, s, id)
	if len(steps) != 3 {
		t.Fatalf("%d questions wait", len(steps))
	}
	no := "not this one"
	answers := map[string]engine.Answer{"Send 0?": {Approved: true}, "Send 1?": {Failed: &no}, "Send 2?": {Result: json.RawMessage(`{"n": 7}`)}}
	for i := range steps {
		step := steps[len(steps)-1-i]
		for question, a := range answers {
			if strings.Contains(string(step.Request), question) {
				if err := eng.Signal(t.Context(), id, step.ID, "", a); err != nil {
					t.Fatal(err)
				}
			}
		}
		out, err := eng.Resume(t.Context(), id, agentscript.ParkRun()).Wait()
		switch last := i == len(steps)-1; {
		case !last && !errors.Is(err, agentscript.ErrApproval):
			t.Fatalf("%d answered: %v", i+1, err)
		case last && (err != nil || out.Text() != `True  {"n": 0}; False not this one None; True  {"n": 7}`):
			t.Errorf("%q %v", out.Text(), err)
		}
	}
}

// Promise 30.38 (durable): scripts may use the new names for something else.
func TestPromise_30_38_NamesAreFree(t *testing.T) {
	out := strings.Join([]string{"wait", "sleep", "now", "uuid", "random"}, " ")
	text := "wait = \"wait\"\nsleep = \"sleep\"\ndef now():\n    return \"now\"\ndef main(uuid = str, random = str):\n    return \" \".join([wait, sleep, now(), uuid, random])\n"
	_, mod := durableScript(t, store.NewMemory(), text)
	if got, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"uuid": "uuid", "random": "random"})).Wait(); err != nil || got.Text() != out || len(mod.Diagnostics()) > 0 {
		t.Errorf("%q %v %v", got.Text(), err, mod.Diagnostics())
	}
}
