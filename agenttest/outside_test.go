package agenttest_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/agenttest"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/generable"
)

// compose loads a script whose compositions a test calls.
func compose(t *testing.T, script string, opts ...agentscript.Option) *agentscript.Module {
	t.Helper()
	mod, err := agentscript.New(opts...).Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(script)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// Decisions answer both calls for which rules require approval and the script's own questions, each in order and
// independently of the other.
func TestApprove(t *testing.T) {
	asks, err := agentscript.NewPolicy("a test", agentscript.Rules{Ask: []string{"pay"}})
	if err != nil {
		t.Fatal(err)
	}
	mod := compose(t, `
def pay(sum = int):
    """Pays."""
    return "paid %d" % sum

clerk = agent(prompt = "Pay.", tools = [pay])
main = approval("Begin?", input = str) >> clerk
`, agentscript.WithPolicy(asks))
	w := agenttest.New(t, mod)
	w.Approve("")
	w.Approve("pay", engine.Decision{Reason: "too much"}, engine.Decision{Approved: true})
	w.Reply("clerk", agenttest.ToolCall{Name: "pay", Args: map[string]int{"sum": 900}}, agenttest.ToolCall{Name: "pay", Args: map[string]int{"sum": 9}}, "Paid.")
	w.Tool("pay", "paid")
	res, err := mod.Start(t.Context(), w.Options(agentscript.Input("the bill"))...).Wait()
	if err != nil || res.Text() != "Paid." {
		t.Fatalf("%q, %v", res.Text(), err)
	}
	w.Called("pay", 1) // the denied call does not count
	calls := w.Calls("clerk")
	told := calls[1].Messages[len(calls[1].Messages)-1]
	if told.Role != "tool" || !strings.Contains(told.Text, "too much") {
		t.Errorf("the model was told %+v", told)
	}
}

// A server that a test serves is not started; its tools have the parameters of the list.
func TestServe(t *testing.T) {
	mod := compose(t, `
files = mcp("no-such-command")
reader = agent(prompt = "Read.", tools = [files])
main = reader
`, agentscript.WithUngranted())
	w := agenttest.New(t, mod)
	w.Serve("files", double.Served{Name: "read", Doc: "Reads a file", Params: &generable.Type{Kind: generable.RecordType, Name: "read", Fields: []generable.Field{{Name: "path", Type: generable.StrT}}}})
	w.Tool("files.read", "hello")
	w.Reply("reader", agenttest.ToolCall{Name: "read", Args: map[string]string{"path": "a.txt"}}, "It says hello.")
	res, err := mod.Start(t.Context(), w.Options(agentscript.Input("a.txt"))...).Wait()
	if err != nil || res.Text() != "It says hello." {
		t.Fatalf("%q, %v", res.Text(), err)
	}
	if made := w.Calls("files.read"); len(made) != 1 || made[0].Args["path"] != "a.txt" || made[0].Answer != "hello" {
		t.Errorf("%+v", made)
	}
}

// The flow's clock begins at the time that the test sets, and advances as the flow waits.
func TestClock(t *testing.T) {
	mod := compose(t, "def main():\n    sleep(\"36h\")\n    return now()\n")
	for _, tt := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2026, 1, 31, 10, 0, 0, 0, time.FixedZone("CET", 3600)), "2026-02-01T21:00:00.000Z"},
		{time.Time{}, "1970-01-02T12:00:00.000Z"},
	} {
		w := agenttest.New(t, mod)
		if !tt.at.IsZero() {
			w.Clock(tt.at)
		}
		if res, err := mod.Start(t.Context(), w.Options()...).Wait(); err != nil || res.Text() != tt.want {
			t.Errorf("%q, %v, want %q", res.Text(), err, tt.want)
		}
	}
}

// A record also answers the test's requests for time and random values: prompts that contain them are those of the
// record.
func TestReplayOfTimeAndChance(t *testing.T) {
	const script = `
writer = agent(prompt = "Write.", model = "openai/gpt-5-mini")

def main():
    return writer("It is " + now() + ", request " + uuid()) + str(random(1000000))
`
	t.Chdir(t.TempDir())
	file, err := os.Create("good.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	models, err := scripted.Read(strings.NewReader(`{"agent": "writer", "text": "a text of "}`), "rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := compose(t, script, agentscript.WithModels(cassette.Record(file, models, nil))).Start(t.Context(), agentscript.Seed(17)).Wait()
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	mod := compose(t, script)
	w := agenttest.New(t, mod)
	w.Replay("good.jsonl")
	if res, err := mod.Start(t.Context(), w.Options()...).Wait(); err != nil || res.Text() != recorded.Text() {
		t.Errorf("%q, %v, recorded was %q", res.Text(), err, recorded.Text())
	}
}

// A record answers what the test does not answer.
func TestReplay(t *testing.T) {
	const script = `
writer = agent(prompt = "Write.", model = "openai/gpt-5-mini")
judge = agent(prompt = "Judge.", model = "openai/gpt-5-mini")
main = writer >> judge
`
	t.Chdir(t.TempDir())
	file, err := os.Create("good.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	models, err := scripted.Read(strings.NewReader(`{"agent": "writer", "text": "a recorded text"}
{"agent": "judge", "text": "a recorded verdict"}`), "rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	recorder := cassette.Record(file, models, nil)
	if _, err := compose(t, script, agentscript.WithModels(recorder)).Start(t.Context(), agentscript.Input("tea")).Wait(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	mod := compose(t, script)
	w := agenttest.New(t, mod)
	w.Reply("writer", "a recorded text")
	w.Replay("good.jsonl")
	res, err := mod.Start(t.Context(), w.Options(agentscript.Input("tea"))...).Wait()
	if err != nil || res.Text() != "a recorded verdict" {
		t.Fatalf("%q, %v", res.Text(), err)
	}
	w.Order("writer", "judge")
}
