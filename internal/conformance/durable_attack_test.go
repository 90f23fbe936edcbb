package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// paidFlow pays, and calls a model.
const paidFlow = "a = agent(model = \"openai/x\", prompt = \"A.\")\n\ndef main(n = str):\n    sh.run([\"sh\", \"-c\", \"echo paid >> paid.txt\"])\n    return a(n)\n"

// lines returns the number of lines in a file of the user.
func (h *home) lines(name string) int {
	data, _ := os.ReadFile(filepath.Join(h.dir, name)) // none if it does not exist
	return strings.Count(string(data), "\n")
}

// want runs the command, and reports what it does not print. What begins with ! must not be printed.
func (h *home) want(p *llmtest.Server, args []string, code int, said ...string) output {
	h.t.Helper()
	out := h.run(p, args...)
	all := out.stdout + out.stderr
	bad := out.code != code
	for _, s := range said {
		if no := strings.TrimPrefix(s, "!"); no != s == strings.Contains(all, no) {
			bad = true
		}
	}
	if bad {
		h.t.Errorf("%q: exit %d, want %d and %q:\n%s", args, out.code, code, said, all)
	}
	return out
}

// A fork that is killed before it has written anything keeps what it took over, or reads it from its run again.
func TestForkKilledInItsFirstCallPaysNothingTwice(t *testing.T) {
	h := newHome(t, paidFlow)
	p := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Fault: llmtest.StallHeaders}, llmtest.Reply{Text: "two"})
	defer p.Close()
	h.want(p, strings.Fields("run flow.star q --allow-exec sh"), 0, "one")
	fork := h.command(p, strings.Fields("runs fork last --from main/agent:a#0")...)
	if err := fork.Start(); err != nil {
		t.Fatal(err)
	}
	for n := 0; len(p.Requests()) < 2 && n < 1000; n++ {
		time.Sleep(10 * time.Millisecond)
	}
	_ = fork.Process.Kill()
	_ = fork.Wait() // it was killed
	h.want(p, strings.Fields("runs show last"), 0, "a fork of", "main/exec:run#0")
	h.want(p, strings.Fields("runs resume last"), 0, "two")
	if n := h.lines("paid.txt"); n != 1 {
		t.Errorf("paid %d times", n)
	}
}

const payFlow = "def main(n = str):\n    sh.run([\"sh\", \"-c\", \"echo paid >> paid.txt\"])\n    w = wait(\"n\", int)\n    return [w, wait(\"n\", int)]\n"

// An import is complete or absent, and reports what its file lacks.
func TestImportIsWholeOrNotThere(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    return [sh.run([\"sh\", \"-c\", \"echo \" + str(i)]).stdout for i in range(300)]\n")
	h.want(nil, strings.Fields("run flow.star q --allow-exec sh"), 0)
	h.want(nil, strings.Fields("runs export last -o whole.jsonl"), 0)
	whole, err := os.ReadFile(filepath.Join(h.dir, "whole.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		cmd := h.command(nil, strings.Fields("runs import whole.jsonl --store other.db")...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 15 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		out := h.run(nil, strings.Fields("runs ls --store other.db --json")...)
		if strings.Contains(out.stdout, `"run":`) && !strings.Contains(out.stdout, `"steps": 300`) {
			t.Fatalf("killed after %d ms, a part is there:\n%s", i*15, out.stdout)
		}
		for _, name := range []string{"other.db", "other.db-wal", "other.db-shm"} {
			_ = os.Remove(filepath.Join(h.dir, name)) // if it exists
		}
	}
	h.want(nil, strings.Fields("runs import whole.jsonl --store other.db"), 0, "done, 300 steps", "!warning")
	h.want(nil, strings.Fields("runs import whole.jsonl --store other.db"), 1, "there is a run")
	lines := strings.SplitAfter(string(whole), "\n")
	h.write("cut.jsonl", strings.Join(lines[:4], ""))
	for _, more := range []string{"", " --json"} {
		h.want(nil, strings.Fields("runs import cut.jsonl --store cut"+strings.TrimSpace(more)+".db"+more), 0, "does not say how the run ended", "done again")
	}
}

// An answer that was sent and not taken is exported with the run.
func TestExportCarriesAnswers(t *testing.T) {
	h := newHome(t, payFlow)
	h.want(nil, strings.Fields("run flow.star q --allow-exec sh -q"), 5)
	h.want(nil, strings.Fields("runs answer last n --result 7"), 0)
	h.want(nil, strings.Fields("runs export last -o a.jsonl"), 0)
	h.want(nil, strings.Fields("runs import a.jsonl --store b.db"), 0)
	h.want(nil, strings.Fields("runs answer last n --result 8 --store b.db"), 2, "was answered by")
	h.want(nil, strings.Fields("runs resume last --store b.db -q --allow-exec sh"), 5)
	h.want(nil, strings.Fields("runs answer last n --result 8 --store b.db"), 0)
	h.want(nil, strings.Fields("runs resume last --store b.db -q --allow-exec sh"), 0, "[7,8]")
}

// What the loser of a race waits for is no longer asked, and takes nothing of a later wait.
func TestLoserOfARaceTakesNoAnswer(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    race([lambda s: wait(\"x\", int), lambda s: wait(\"y\", int)], n)\n    return [wait(\"x\", int), wait(\"x\", int)]\n")
	h.want(nil, strings.Fields("run flow.star q -q"), 5)
	h.want(nil, strings.Fields("runs answer last y --result 1"), 0)
	h.want(nil, strings.Fields("runs resume last -q"), 5)
	h.want(nil, strings.Fields("runs show last"), 0, "left wait", "main/wait:x#0 waits", "!race:main#0[0]/wait:x#0 waits")
	h.want(nil, strings.Fields("runs ls --json"), 0, `"waiting": 1`)
	h.want(nil, strings.Fields("runs answer last --result 5"), 0, "the run continues with")
	h.want(nil, strings.Fields("runs resume last -q"), 5)
	h.want(nil, strings.Fields("runs answer last x --result 6"), 0)
	h.want(nil, strings.Fields("runs resume last -q"), 0, "[5,6]")
}

// An answer to a name that nothing waits for yet is kept once.
func TestAnswersBeforeTheRunWaits(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    go = wait(\"go\", str)\n    return [wait(\"x\", dict[str, int]), wait(\"x\", dict[str, int])]\n")
	h.want(nil, strings.Fields("run flow.star q -q"), 5)
	first := []string{"runs", "answer", "last", "x", "--result", `{"a":1, "b":2}`}
	h.want(nil, first, 0, "no step of run", "waits for \"x\" yet", "is kept")
	h.want(nil, append(first[:5:5], `{"b":2,"a":1}`), 0)
	h.want(nil, append(first[:5:5], `{"b":2}`), 2, "was answered by", "the first answer stays")
	h.want(nil, []string{"runs", "answer", "last", "goo", "--result", `"a"`}, 0, "did you mean", "go")
	h.want(nil, []string{"runs", "answer", "last", "go", "--result", `"a"`}, 0, "go is answered")
	h.want(nil, strings.Fields("runs resume last -q"), 5)
	h.want(nil, append(first[:5:5], `{"a":3}`), 0, "x is answered")
	h.want(nil, strings.Fields("runs resume last -q"), 0, `[{"a":1,"b":2},{"a":3}]`)
}

// An answer that was rejected does not hide a waiting step.
func TestRefusedAnswerHidesNoWait(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    go = wait(\"go\", str)\n    return wait(\"x\", int)\n")
	h.want(nil, strings.Fields("run flow.star q -q"), 5)
	h.want(nil, []string{"runs", "answer", "last", "x", "--result", `"no"`}, 0)
	h.want(nil, []string{"runs", "answer", "last", "go", "--result", `"a"`}, 0)
	h.want(nil, strings.Fields("runs resume last -q"), 5, "runs answer", "--result JSON")
	h.want(nil, strings.Fields("runs show last"), 0, "main/wait:x#0 waits for a value of type int", "!153722867m")
	h.want(nil, strings.Fields("runs answer last --result 1"), 0, "x is answered")
	h.want(nil, strings.Fields("runs resume last -q"), 0, "1\n")
}

const slowFlow = "def main(n = str):\n    return sh.run([\"sh\", \"-c\", \"echo paid >> paid.txt; sleep 60\"]).stdout\n"

// An effect left unknown by a killed process is listed and can be answered at once, with a result that fits.
func TestUnknownIsAnsweredAtOnce(t *testing.T) {
	h := newHome(t, slowFlow)
	cmd := h.command(nil, strings.Fields("run flow.star q --allow-exec sh")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for n := 0; h.lines("paid.txt") == 0 && n < 1000; n++ {
		time.Sleep(10 * time.Millisecond)
	}
	h.want(nil, strings.Fields("runs answer last --again"), 2, "waits for nothing")
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	h.want(nil, strings.Fields("runs show last"), 0, "main/exec:run#0 waits for whether exec", "--again")
	bad := []string{"runs", "answer", "last", "main/exec:run#0", "--result", `{"code":0,"stdout":"hey","stderr":""}`}
	h.want(nil, bad, 2, "does not fit", "truncated")
	h.want(nil, append(bad[:5:5], `{"code":0,"stdout":"hey","stderr":"","truncated":false}`), 0, "is answered")
	h.want(nil, strings.Fields("runs resume last -q"), 0, "hey")
}

// The message about an ended run says how it ended.
func TestUnknownSaysWhy(t *testing.T) {
	h := newHome(t, strings.Replace(slowFlow, "sleep 60\"]", "sleep 60\"], timeout = \"1s\"", 1))
	h.want(nil, strings.Fields("run flow.star q --allow-exec sh -q"), 7)
	h.want(nil, strings.Fields("runs resume last -q"), 5, "AS779", "its time ran out", "!its process ended")
}

// Rules and limits that are given to a resumed run apply to what is done after that.
func TestRulesOfAResumedRunHoldForWhatIsNew(t *testing.T) {
	flow := "def pay(n = str):\n    \"\"\"Pay.\"\"\"\n    return sh.run([\"sh\", \"-c\", \"echo paid >> paid.txt\"]).stdout\n\na = agent(model = \"openai/x\", prompt = \"A.\", tools = [pay])\n\ndef main(n = str):\n    said = a(n)\n    return said + wait(\"go\", str)\n"
	for _, flags := range []string{"--deny pay", "--ask pay", "--max-tool-calls 0"} {
		h := newHome(t, flow)
		p := llmtest.New(llmtest.Reply{Calls: []llmtest.Call{{Name: "pay", Args: `{"n":"1"}`}}}, llmtest.Reply{Text: "one"})
		h.want(p, strings.Fields("run flow.star q --allow-exec sh -q"), 5)
		h.want(nil, []string{"runs", "answer", "last", "go", "--result", `"a"`}, 0)
		h.want(nil, strings.Fields("runs resume last -q "+flags), 0, "onea")
		if n := h.lines("paid.txt"); n != 1 {
			t.Errorf("paid %d times", n)
		}
		p.Close()
	}
}
