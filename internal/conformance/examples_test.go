package conformance

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/exampleruns"
	"github.com/agentscript/agentscript/internal/testrun"
)

// examples are all flows of examples/.
var examples = exampleruns.All

// exampleRuns runs the examples of the given files with the built command and compares the output.
func exampleRuns(t *testing.T, files ...string) {
	t.Helper()
	seen := map[string]bool{}
	for i := range examples {
		ex := &examples[i]
		if !slices.Contains(files, ex.File) {
			continue
		}
		seen[ex.File] = true
		out := offline(t, ex.Line(repository(""))...)
		if out.code != 0 || out.stdout != ex.Want+"\n" {
			t.Errorf("%s: exit code %d, got %q, want %q\n%s", strings.Join(ex.Line(repository("")), " "), out.code, out.stdout, ex.Want, out.stderr)
		}
	}
	for _, f := range files {
		if !seen[f] {
			t.Errorf("examples has no run of %s", f)
		}
	}
}

// drawn returns an example's graph as Mermaid.
func drawn(t *testing.T, file string, args ...string) string {
	t.Helper()
	out := offline(t, append([]string{"graph", "examples/" + file}, args...)...)
	if out.code != 0 {
		t.Fatalf("graph %s: exit code %d\n%s", file, out.code, out.stderr)
	}
	return out.stdout
}

// Promise 10.1 (examples): the shapes flow routes by type through a handler that is a pipeline: `circle r=6.0`, `rect
// 2.0x3.0`, `area=113.1`.
func TestPromise_10_1_Shapes(t *testing.T) {
	exampleRuns(t, "shapes.star", "area.star")
	graph := drawn(t, "shapes.star")
	for _, edge := range []string{`-->|"Circle"|`, `-->|"Rectangle"|`, `-->|"Triangle"|`, "half", "label"} {
		if !strings.Contains(graph, edge) {
			t.Errorf("the graph of shapes.star lacks %s:\n%s", edge, graph)
		}
	}
}

// Promise 10.2 (examples): the review flow decides and ships: `Deployed with confidence 0.95`.
func TestPromise_10_2_Review(t *testing.T) {
	exampleRuns(t, "review.star")
	mod := loadedFile(t, agentscript.New(), "examples/review.star")
	for answer, want := range map[string]string{
		`{"type": "Approved", "confidence": 0.5}`:                   "Deployed with confidence 0.5",
		`{"type": "Rejected", "reason": "no tests"}`:                "Rejected: no tests",
		"No.\n{'type': 'Rejected', 'reason': 'eval', 'hints': [],}": "Rejected: eval",
	} {
		models := scripted.Answers(map[string][]string{"reviewer": {answer}})
		res, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(models)).Wait()
		if err != nil || res.Text() != want {
			t.Errorf("on %s: %s, %v, want %s", answer, res.Text(), err, want)
		}
	}
}

// Promise 10.3 (examples): several reviewers run at once and an aggregator combines their findings.
func TestPromise_10_3_Reviewers(t *testing.T) {
	exampleRuns(t, "reviewers.star")
	mod := loadedFile(t, agentscript.New(), "examples/reviewers.star")
	together := newMeeting(t, 3) // none of the reviewers answers before all were called
	res, err := mod.Start(t.Context(), input("x = eval(input())"), agentscript.HandlerForAll(answering(func(ctx context.Context, agent string, r *model.Request) engine.Outcome {
		if agent != "weigh" {
			if !together.arrive(ctx) {
				return engine.Failed(engine.Errorf(engine.KindTimeout, "AS711", "%s was asked alone", agent))
			}
			return said("by " + agent)
		}
		var reviews []string
		if err := json.Unmarshal([]byte(r.Messages[0].Parts[0].Text), &reviews); err != nil {
			return engine.Failed(engine.Errorf(engine.KindInput, "AS716", "%w", err))
		}
		return said(`{"verdict": "ship", "findings": ["` + strings.Join(reviews, `", "`) + `"]}`)
	}))).Wait()
	if want := `{"verdict":"ship","findings":["by security","by speed","by style"]}`; err != nil || res.JSON() != want {
		t.Errorf("%s, %v, want %s", res.JSON(), err, want)
	}
}

// Promise 10.4 (examples): a loop counts until 10.
func TestPromise_10_4_Loop(t *testing.T) {
	exampleRuns(t, "count.star")
	mod := loadedFile(t, agentscript.New(), "examples/count.star")
	for in, want := range map[int]string{-5: "10", 0: "10", 8: "10", 9: "10", 10: "11", 99: "100"} {
		turns := 0
		res, err := mod.Start(t.Context(), input(in), agentscript.OnEvent(engine.EventNode, func(e engine.Event) {
			if e.Phase() == engine.PhaseStart && e.Name() == "increment" {
				turns++
			}
		})).Wait()
		if err != nil || res.Text() != want || turns != max(10-in, 1) {
			t.Errorf("from %d: %s after %d turns, %v, want %s", in, res.Text(), turns, err, want)
		}
	}
}

// Promise 10.5 (examples): a forum discusses and its captain decides.
func TestPromise_10_5_Forum(t *testing.T) {
	exampleRuns(t, "forum.star")
	mod := loadedFile(t, agentscript.New(), "examples/forum.star")
	models := scripted.Answers(map[string][]string{"optimist": {"yes!"}, "sceptic": {"no!"}, "captain": {"perhaps"}})
	res, err := mod.Start(t.Context(), input("Should we?"), agentscript.HandlerForAll(models)).Wait()
	if err != nil || res.Text() != "perhaps" {
		t.Fatalf("%s, %v", res.Text(), err)
	}
	for _, call := range models.Requests() {
		asked := call.Request.Messages[0].Parts[0].Text
		heard := strings.Contains(asked, "yes!") && strings.Contains(asked, "no!")
		if !strings.Contains(asked, "Should we?") || heard != (call.Agent == "captain") {
			t.Errorf("%s is asked %q", call.Agent, asked)
		}
	}
}

// Promise 10.6 (examples): factory functions make the agents that are needed more than once.
func TestPromise_10_6_Factories(t *testing.T) {
	mod := loadedFile(t, agentscript.New(), "examples/reviewers.star")
	made := map[string]bool{} // three agents made at one place in the source
	for _, n := range mod.Nodes() {
		if n.Agent() != nil && strings.HasSuffix(n.Pos().File, "lib/reviewer.star") {
			made[n.Name()] = true
		}
	}
	if len(made) != 3 || !made["security"] || !made["speed"] || !made["style"] {
		t.Errorf("the factory made %v", made)
	}
	// The same agent at two places is rejected, and the remedy is such a factory.
	found, shown := checked("a = agent(prompt = \"A.\")\nmain = a >> a\n")
	if codes(found) != "AS401" || !strings.Contains(shown, "make it in a factory, def new_a()") {
		t.Errorf("check says\n%s", shown)
	}
}

// Promise 10.7 (examples): a real source file passed with `--input-file` is reviewed.
func TestPromise_10_7_SourceFile(t *testing.T) {
	exampleRuns(t, "source_review.star")
	mod := loadedFile(t, agentscript.New(), "examples/source_review.star")
	for _, path := range []string{"engine/position.go", "module.go", "examples/review.star"} {
		text, err := os.ReadFile(repository(path))
		if err != nil {
			t.Fatal(err)
		}
		models := scripted.Answers(map[string][]string{"reviewer": {`{"summary": "fine"}`}})
		res, err := mod.Start(t.Context(), agentscript.InputText(string(text)), agentscript.HandlerForAll(models)).Wait()
		if err != nil || res.Text() != "fine (0 findings)" {
			t.Errorf("%s: %s, %v", path, res.Text(), err)
		}
		if asked := models.Requests()[0].Request.Messages[0].Parts[0].Text; asked != string(text) {
			t.Errorf("%s: the model is asked about %d bytes of %d", path, len(asked), len(text))
		}
	}
}

// exampleOfServer needs a third-party server: it is checked here, and run with the server by make e2e.
const exampleOfServer = "examples/mcp_files.star"

// Promise 10.8 (examples): every example passes check without a finding, is formatted, and runs offline, except the
// one that needs a server.
func TestPromise_10_8_AllOffline(t *testing.T) {
	var files []string
	for _, pattern := range []string{"examples/*.star", "examples/*/*.star"} {
		found, err := filepath.Glob(repository(pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			files = append(files, filepath.ToSlash(strings.TrimPrefix(f, repository("")+string(filepath.Separator))))
		}
	}
	if len(files) < len(examples)/2 {
		t.Fatalf("only %v found", files)
	}
	alone := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == exampleOfServer || testrun.IsTest(f) })
	// The server's command need not exist on this machine, which a grant would require.
	for _, line := range [][]string{slices.Concat([]string{"check", "--strict"}, exampleruns.Grants, alone), slices.Concat([]string{"check", "--strict"}, files)} {
		if out := offline(t, line...); out.code != 0 || strings.Contains(out.stderr, "AS") {
			t.Errorf("check --strict: exit code %d\n%s", out.code, out.stderr)
		}
	}
	stops(t, offline(t, "check", exampleOfServer), 0, "--allow-exec npx")
	if out := offline(t, append([]string{"fmt", "--check"}, files...)...); out.code != 0 {
		t.Errorf("fmt --check: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	shown := regexp.MustCompile(`(?m)^    agentscript (run .+?)(?:\s+# (.+))?$`)
	for _, f := range alone { // those that need no server, and no tests
		if strings.HasPrefix(f, "examples/lib/") || strings.HasPrefix(f, "examples/flowjson/") { // they are run next to their JSON
			continue
		}
		runs := slices.ContainsFunc(examples, func(e exampleruns.Run) bool { return "examples/"+e.File == f })
		if !runs {
			t.Errorf("%s is run by no test", f)
		}
		// The command lines in a file's doc work as written.
		text, err := os.ReadFile(repository(f))
		if err != nil {
			t.Fatal(err)
		}
		lines := shown.FindAllStringSubmatch(string(text), -1)
		if len(lines) == 0 {
			t.Errorf("%s does not say how it is run", f)
		}
		for _, m := range lines {
			out := offline(t, words(m[1])...)
			if out.code != 0 || m[2] != "" && out.stdout != m[2]+"\n" {
				t.Errorf("%s shows %q: exit code %d, got %q, want %q\n%s", f, m[1], out.code, out.stdout, m[2], out.stderr)
			}
		}
	}
}

// words splits a command line at blanks outside of quotes.
func words(line string) []string {
	var out []string
	word, quote := "", rune(0)
	begun := false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				out = append(out, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	return out
}
