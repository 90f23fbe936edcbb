package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// Promise 4.14 (diagnostics): the checks of promise 4.13 also cover the calls that parallel, stream, attempt, retry,
// fallback and race make for a function, and calls of builtins and of functions from other files.
func TestPromise_4_14_CallsMadeInside(t *testing.T) {
	const parts = `load("lib.star", "theirs", "rate")
Plan = schema("A plan", title = str)
a = agent(prompt = "A.")
p = agent(output = Plan, prompt = "P.")
def two(x, y):
    return x
`
	const lib = "rate = agent(input = float, output = float, prompt = \"R.\")\ndef theirs(n, m = 1):\n    return n\n"
	for _, c := range []struct{ call, code, says string }{
		{"parallel([(a, x, x)])", "AS204", "a takes its input as the only argument"}, {"parallel([(a, 3)])", "AS705", "a takes str, got int"}, {"parallel([a])", "AS204", "without its input"},
		{"parallel(two, [x])", "AS216", "parallel calls two with one argument"}, {"parallel(a, [x, 1])", "AS705", "a takes str, got int"}, {"parallel(a, [x], limt = 2)", "AS202", `did you mean "limit"?`},
		{"stream([x], p, a)", "AS705", "a takes str, and stream passes it Plan"}, {"stream([x], lambda: x)", "AS216", "it takes no arguments"}, {"stream([x])", "AS203", "stream needs stages"},
		{"attempt(a, 3)", "AS705", "a takes str"}, {"attempt(two, x)", "AS216", "it needs 2 arguments"}, {"retry(two, x)", "AS216", "retry calls two"}, {"retry(a, x, mx = 2)", "AS202", `did you mean "max"?`},
		{"fallback([a, two], x)", "AS216", "fallback calls two"}, {"race([a, lambda: x], x)", "AS216", "race calls the lambda"}, {"fmt(1, \".1f\", 2)", "AS205", "fmt takes 2 arguments"},
		{"theirs()", "AS203", "`theirs` wants `n`"}, {"theirs(1, 2, 3)", "AS205", "`theirs` takes 2 arguments"}, {"theirs(1, k = 2)", "AS202", "`theirs` has no parameter `k`"}, {"rate(x)", "AS705", "rate takes float, got str"},
		{"a(p(x))", "AS705", "a takes str, got Plan"}, {"p(x).titel", "AS209", `did you mean "title"?`},
		{"parallel([(a, x), (two, x, x), lambda: x])", "", ""}, {"stream([x], p, lambda p: p.title, a)", "", ""}, {"attempt(theirs, x)", "", ""}, {"retry(a, x, until = has(\"\"))", "", ""},
		{"a(p(x).title)", "", ""}, {"rate(3)", "", ""}, {"theirs(x, m = 2)", "", ""}, {"[n.title for n in parallel(p, [x])]", "", ""},
	} {
		src := parts + "def main(x = str):\n    return " + c.call + "\nused = [a, p, rate, two]\n"
		found, shown := checked(src, "lib.star", lib)
		found = slices.DeleteFunc(found, func(d *diag.Diagnostic) bool { return d.Severity != diag.Error }) // not every agent is used
		if codes(found) != c.code || !strings.Contains(shown, c.says) {
			t.Errorf("%s is %q, want %q with %q:\n%s", c.call, codes(found), c.code, c.says, shown)
		}
		if c.code != "" && (len(found) != 1 || found[0].Span.Line != 8 || len(found[0].Help) == 0) {
			t.Errorf("%s: its place or remedy is missing:\n%s", c.call, shown)
		}
	}
}

// Promise 4.15 (diagnostics): `check --format sarif` prints the same diagnostics as SARIF 2.1.0, with a rule for each
// code, the position, the related positions and the edit that fixes it.
func TestPromise_4_15_SARIF(t *testing.T) {
	const src = "a = agent(promt = \"P.\")\nb = agent(prompt = \"P.\")\nmain = b >> agent(input = int, prompt = \"Q.\")\n"
	file := filepath.Join(t.TempDir(), "flow.star")
	if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	got := offline(t, "check", "--format", "sarif", file)
	if got.code != 3 || got.stderr != "" {
		t.Errorf("check exits with %d, want 3: %s", got.code, got.stderr)
	}
	type place struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           struct{ StartLine, StartColumn, EndColumn int }
		}
	}
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID   string
						Help struct{ Text, Markdown string }
					}
				}
			}
			Results []struct {
				RuleID           string
				RuleIndex        int
				Level            string
				Message          struct{ Text string }
				Locations        []place
				RelatedLocations []place
				Fixes            []struct {
					ArtifactChanges []struct {
						Replacements []struct{ InsertedContent struct{ Text string } }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &log); err != nil {
		t.Fatalf("%v\n%s", err, got.stdout)
	}
	if log.Version != "2.1.0" || !strings.Contains(log.Schema, "sarif-schema-2.1.0") || len(log.Runs) != 1 || len(log.Runs[0].Results) != 2 {
		t.Fatalf("got %s", got.stdout)
	}
	rules := log.Runs[0].Tool.Driver.Rules
	for i, want := range []struct {
		code, says, edit string
		line, from, to   int
		related          int
	}{
		{"AS202", "agent has no argument promt", "prompt", 1, 11, 16, 0},
		{"AS301", "b returns str, agent wants int", "", 3, 10, 12, 2},
	} {
		r := log.Runs[0].Results[i]
		if r.RuleID != want.code || r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != want.code || rules[r.RuleIndex].Help.Markdown == "" || rules[r.RuleIndex].Help.Text == "" {
			t.Errorf("result %d is no %s with a rule that explains it: %s", i, want.code, got.stdout)
		}
		if r.Level != "error" || !strings.Contains(r.Message.Text, want.says) || len(r.Locations) != 1 || len(r.RelatedLocations) != want.related {
			t.Errorf("result %d: %+v", i, r)
			continue
		}
		at := r.Locations[0].PhysicalLocation
		if at.Region.StartLine != want.line || at.Region.StartColumn != want.from || at.Region.EndColumn != want.to || !strings.HasSuffix(at.ArtifactLocation.URI, "/flow.star") {
			t.Errorf("result %d stands at %+v", i, at)
		}
		edit := ""
		if len(r.Fixes) > 0 {
			edit = r.Fixes[0].ArtifactChanges[0].Replacements[0].InsertedContent.Text
		}
		if edit != want.edit {
			t.Errorf("result %d is mended by %q, want %q", i, edit, want.edit)
		}
	}
}
