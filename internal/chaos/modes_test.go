package chaos_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/chaos"
)

// However an answer is requested, streamed and obtained: an agent without on_bad_output fails with an error that says
// what was wrong, one with it survives, and a failure that a flow takes for a success is found.
func TestEveryMode(t *testing.T) {
	const looked = `{"agent": "judge", "calls": [{"name": "double", "args": {"x": 4}}]}` + "\n"
	handled := map[string]chaos.Verdict{"": chaos.TypedError, `, on_bad_output = lambda raw: Rejected(reason = raw)`: chaos.Survived}
	for mode, answers := range map[string]string{
		``:                        approved,
		`, structured = "guided"`: approved,
		`, repairs = 0`:           approved,
		`, repairs = 4`:           approved,
		`, on_token = piece`:      approved,
		`, on_partial = piece`:    approved,
		`, on_token = piece, on_partial = piece, repairs = 0`:                             approved,
		`, tools = [tool(double, {"x": int})]`:                                            looked + approved,
		`, tools = [tool(double, {"x": int})], structured = "guided", on_partial = piece`: looked + approved,
		`, structured = "constrained"`:                                                    approved,
	} {
		for by, want := range handled {
			src := fmt.Sprintf(`
def piece(p):
    print(p)
main = branch(agent("judge", output = Decision, prompt = "judge"%s%s), handlers())`, mode, by)
			for seed := range uint64(5) {
				seen := map[chaos.Mutation]bool{}
				for _, c := range tried(t, seed, src, answers) {
					seen[c.Mutation] = true
					if strings.Contains(fmt.Sprint(decoding), string(c.Mutation)) && c.Verdict != want || c.Verdict == chaos.WrongSuccess || c.Verdict == chaos.OtherError {
						t.Errorf("seed %d: %+v\n%s", seed, c, src)
					}
				}
				for _, m := range decoding {
					if !seen[m] {
						t.Errorf("seed %d: %s was not tried\n%s", seed, m, src)
					}
				}
			}
		}
	}
}

// Wrong successes are found in streams, after tools and inside functions.
func TestPlantedEverywhere(t *testing.T) {
	for src, answers := range map[string]string{
		`
def piece(p):
    print(p.text)
main = agent("judge", output = str, prompt = "yes or no", on_token = piece) >> fn(lambda s: "ship" if s == "yes" else "stay", input = str, output = str)
`: `{"agent": "judge", "text": "yes"}`,
		`
judge = agent("judge", output = Decision, prompt = "judge", on_bad_output = lambda raw: Approved(score = 1, note = raw))
def main(text = str):
    note = judge(text).note
    return "ship" if note == "fine" else "stay"
`: approved,
		`
judge = agent("judge", output = str, prompt = "yes or no", tools = [tool(double, {"x": int})])
def main(text = str):
    return [judge(text) == "yes"]
`: `{"agent": "judge", "calls": [{"name": "double", "args": {"x": 4}}]}
{"agent": "judge", "text": "yes"}`,
	} {
		found := 0
		for _, c := range tried(t, 1, src, answers) {
			if c.Verdict == chaos.WrongSuccess {
				found++
			}
		}
		if found == 0 {
			t.Errorf("no wrong success is found in\n%s", src)
		}
	}
}

// Changed answers are streamed if answers are.
func TestChangedAnswersStream(t *testing.T) {
	mod, err := agentscript.New(agentscript.WithDefaultModel("scripted/one")).Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(`
def piece(p):
    print(p.text)
main = agent("judge", output = str, prompt = "judge", on_token = piece)
`)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	_, err = chaos.Try(t.Context(), 1, func(ctx context.Context, p *chaos.Probe) (generable.Value, error) {
		var pieces strings.Builder
		res, err := mod.Start(ctx, agentscript.InputText("x"), agentscript.VirtualTime(), agentscript.HandlerForAll(p.Models(scripted.Answers(map[string][]string{"judge": {"It is fine."}}))),
			agentscript.OnEvent(engine.EventToken, func(e engine.Event) { fmt.Fprint(&pieces, e.Data.(*event.Token).Text) })).Wait()
		if err == nil {
			if said = append(said, pieces.String()); pieces.String() != res.Text() {
				t.Errorf("streamed is %q, the answer %q", pieces.String(), res.Text())
			}
		}
		return res.Value, err
	})
	if err != nil || len(said) != 2 || said[1] == said[0] {
		t.Errorf("%q, %v", said, err)
	}
}
