package conformance

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript/internal/chaos"
	"github.com/agentscript/agentscript/internal/testrun"
)

// Promise 27.56 (desk): `--mutate` changes each scripted answer and reports which mutations survived, which ended in a
// typed error and which were a wrong success.
func TestPromise_27_56_Mutations(t *testing.T) {
	const flow = `
Approved = schema("Ships", score = field(int, ge = 0, le = 10))
Rejected = schema("Stays", reason = str)
Decision = union("Either", Approved, Rejected)

def look(x):
    """Looks."""
    return str(x)

judge = agent(output = Decision, prompt = "Judge.", tools = [tool(look, {"x": int})] %)
main = branch(judge, {Approved: fn(lambda a: "ship", input = Approved, output = str), Rejected: fn(lambda r: "stay", input = Rejected, output = str)})

def test_ship(t):
    t.reply("judge", t.call("look", x = 1), {"type": "Approved", "score": 9})
    t.eq(main("x"), "ship")
`
	const planted = `
guess = agent(prompt = "Is it fine? Answer yes or no.")
main = guess >> fn(lambda s: "stay" if s.startswith("no") else "ship", input = str, output = str)

def test_stay(t):
    t.reply("guess", "no")
    t.eq(main("x"), "stay")

grade = agent(output = schema("A grade", score = int, why = str), prompt = "Grade.")
graded = grade >> fn(lambda g: "good" if g.why == "it works" else "bad", output = str)

def test_grade(t):
    t.reply("grade", {"score": 5, "why": "it works"})
    t.eq(graded("x"), "good")
`
	decoding := []chaos.Mutation{chaos.MissingField, chaos.WrongType, chaos.UnknownVariant, chaos.Truncated}
	calls := []chaos.Mutation{chaos.DuplicateCall, chaos.UnknownTool, chaos.BadArguments}
	for name, tt := range map[string]struct {
		src  string
		want func(c chaos.Case) chaos.Verdict
	}{
		"with on_bad_output": {strings.Replace(flow, "%", ", on_bad_output = lambda raw: Rejected(reason = raw)", 1), func(c chaos.Case) chaos.Verdict {
			if slices.Contains([]chaos.Mutation{chaos.Empty, chaos.Refusal, chaos.Timeout, chaos.RateLimit}, c.Mutation) {
				return chaos.TypedError
			}
			return chaos.Survived
		}},
		"without": {strings.Replace(flow, " %", "", 1), func(c chaos.Case) chaos.Verdict {
			if slices.Contains(calls, c.Mutation) || c.Mutation == chaos.Prose || c.Mutation == chaos.Fence {
				return chaos.Survived
			}
			return chaos.TypedError
		}},
		"planted": {planted, func(c chaos.Case) chaos.Verdict {
			switch c.Mutation {
			case chaos.Injection:
				if c.Agent == "guess" { // it begins with no nevertheless
					return chaos.Survived
				}
				return chaos.WrongSuccess
			case chaos.Prose, chaos.Fence:
				return chaos.Survived
			}
			return chaos.TypedError
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := testrun.Load(t.Context(), fstest.MapFS{"flow_test.star": {Data: []byte(tt.src)}}, "flow_test.star", testrun.Options{})
			if f.Broken || f.Found.HasErrors() {
				t.Fatal(f.Found)
			}
			for seed := range uint64(10) {
				seen := map[chaos.Mutation]bool{}
				var all testrun.Mutations
				for _, test := range f.Tests {
					all.Add(t.Context(), f, f.Run(t.Context(), test, nil), nil, seed)
				}
				for _, left := range all.Left {
					t.Errorf("seed %d: %s is not changed: %s", seed, left.Test, left.Why)
				}
				for _, c := range all.Cases {
					if seen[c.Mutation] = true; c.Verdict != tt.want(c) {
						t.Errorf("seed %d: %+v, want %s", seed, c, tt.want(c))
					}
				}
				if name == "planted" {
					continue
				}
				for _, m := range slices.Concat(decoding, calls) {
					if !seen[m] {
						t.Errorf("seed %d: no answer is changed so: %s", seed, m)
					}
				}
			}
		})
	}
}
