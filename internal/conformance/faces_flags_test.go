package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
)

// aliased creates a project with a script that names its models by aliases.
func aliased(t *testing.T) (dir, flow, answers string) {
	t.Helper()
	dir = t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("agentscript.toml", "# of the project\n[models]\nfast = \"openai/gpt-5-mini\"  # cheap\n\"smart\" = 'anthropic/claude-sonnet-4-6'\n")
	flow = put("flows/flow.star", "a = agent(name = \"a\", model = [\"fast\", \"smart\"], prompt = \"A.\")\nb = agent(name = \"b\", prompt = \"B.\")\nmain = a >> b\n")
	return dir, flow, put("answers.jsonl", `{"agent": "*", "text": "fine", "repeat": true}`+"\n")
}

// Promise 26.150 (sound): `--help` lists completion, which works for each shell; `--output` writes the whole result to a
// file, or leaves the file alone; a model alias works on the command line, in a script, in the project's file and in Go,
// while requests, ids and records contain the model itself; the error for an unknown alias lists the known ones.
func TestPromise_26_150_Aliases(t *testing.T) {
	if out := offline(t, "--help"); !strings.Contains(out.stdout, "\n  completion ") {
		t.Errorf("the help is\n%s", out.stdout)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := offline(t, "completion", shell); out.code != 0 || !strings.Contains(out.stdout, "agentscript") || out.stderr != "" {
			t.Errorf("%s: exit code %d\n%s", shell, out.code, out.stderr)
		}
	}
	flow := file(t, "flow.star", "writer = agent(prompt = \"Write.\")\n\ndef main(topic = str, max_words = 3):\n    return writer(topic)\n")
	for _, row := range []struct{ typed, want string }{
		{"doc a", "agent\n"}, {"explain AS3", "AS305\t"}, {"graph FILE --node ", "writer\n"}, {"graph FILE --format ", "svg\n"},
		{"check FILE --format ", "sarif\n"}, {"run FILE --max", "--max-words\n"}, {"run FILE --model a", "anthropic/"},
	} {
		words := strings.Split(strings.Replace(row.typed, "FILE", flow, 1), " ")
		if out := offline(t, append([]string{"__complete"}, words...)...); out.code != 0 || !strings.Contains(out.stdout, row.want) {
			t.Errorf("%s: exit code %d, no %q in\n%s", row.typed, out.code, row.want, out.stdout)
		}
	}
	stops(t, offline(t, "check", "--json", flow), 2, "did you mean --format json?")
	stops(t, offline(t, "completion", "bahs"), 2, `did you mean "bash"?`)
	stops(t, offline(t, "completion"), 2, "bash|zsh|fish|powershell")

	dir, flow, answers := aliased(t)
	result := filepath.Join(dir, "out.txt")
	if err := os.WriteFile(result, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds := func(want string) {
		t.Helper()
		text, err := os.ReadFile(result)
		if err != nil || string(text) != want {
			t.Errorf("the file holds %q, %v", text, err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*.new"))
		if err != nil || len(left) > 0 {
			t.Errorf("left over: %v, %v", left, err)
		}
	}
	stops(t, offline(t, "run", "-q", flow, "x", "--output", result, "--scripted", file(t, "none.jsonl", "")), 1, "AS714")
	holds("before")
	stops(t, offline(t, "run", "-q", flow, "x", "--output", result, "--scripted", answers), 0)
	holds("fine\n")
	info, err := os.Stat(result)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	for name, why := range map[string]string{
		"-": "names no file", dir: "is a directory", filepath.Join(dir, "no", "x"): "there is no directory", answers: "would overwrite", flow: "would overwrite", "": "needs the name of a file",
	} {
		stops(t, offline(t, "run", "-q", flow, "x", "--scripted", answers, "--output", name), 2, "--output", why)
	}

	// The model itself is called and recorded.
	record := filepath.Join(dir, "calls.jsonl")
	prints(t, offline(t, "run", "-q", flow, "x", "--scripted", answers, "--model", "b=smart", "--record", record), "fine")
	recorded, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"model":"openai/gpt-5-mini"`, `"fallbacks":["anthropic/claude-sonnet-4-6"]`, `"model":"anthropic/claude-sonnet-4-6"`} {
		if !strings.Contains(string(recorded), want) {
			t.Errorf("the record lacks %s:\n%s", want, recorded)
		}
	}
	plain := file(t, "plain.star", strings.NewReplacer(`"fast"`, `"openai/gpt-5-mini"`, `"smart"`, `"anthropic/claude-sonnet-4-6"`).Replace("a = agent(name = \"a\", model = [\"fast\", \"smart\"], prompt = \"A.\")\nb = agent(name = \"b\", model = \"smart\", prompt = \"B.\")\nmain = a >> b\n"))
	prints(t, offline(t, "run", "-q", plain, "x", "--replay", record), "fine")

	// Flags override the file, and everything that names a model accepts an alias.
	stops(t, offline(t, "run", "-q", flow, "x", "--model", "smart"), 6, `model "anthropic/claude-sonnet-4-6": ANTHROPIC_API_KEY is not set`)
	stops(t, offline(t, "run", "-q", flow, "x", "--model", "smart", "--model-alias", "smart=mistral/small"), 6, `model "mistral/small": MISTRAL_API_KEY is not set`)
	stops(t, offline(t, "run", "-q", flow, "x", "--model", "ollama/x", "--fallback", "smart"), 6, `model "anthropic/claude-sonnet-4-6"`, "--fallback names it")
	stops(t, offline(t, "check", "--strict", flow), 0)
	if out := offline(t, "check", "--cost", "--model", "smart", flow); out.code != 0 || !strings.Contains(out.stdout, "openai/gpt-5-mini or anthropic/claude-sonnet-4-6") {
		t.Errorf("--cost, exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if out := offline(t, "models", "--model-alias", "mine=ollama/x"); !strings.Contains(out.stdout, "mine    ollama/x\n") && !strings.Contains(out.stdout, "mine    ollama/x") {
		t.Errorf("models lists\n%s", out.stdout)
	}
	if out := offline(t, "models", "mine", "--model-alias", "mine=openai/gpt-5-mini"); out.code != 0 || !strings.Contains(out.stdout, "openai/gpt-5-mini ") {
		t.Errorf("models mine, exit code %d\n%s", out.code, out.stdout+out.stderr)
	}

	// What is not an alias.
	stops(t, offline(t, "run", "-q", flow, "x", "--model", "smrt"), 6, "AS708", `did you mean "smart"?`)
	stops(t, offline(t, "run", "-q", flow, "x", "--model", "cheap"), 6, "AS708", "the aliases are fast, smart")
	wrong := strings.Replace(flow, "flow.star", "wrong.star", 1)
	if err := os.WriteFile(wrong, []byte("main = agent(model = \"fsat\", prompt = \"A.\")\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stops(t, offline(t, "check", wrong), 0, "warning[AS708]", `did you mean "fast"?`)
	for flag, why := range map[string]string{"fast": "names no model", "=x": "needs a name", "a/b=openai/x": "may hold no /", "a=": "names no model", "a=fast": "is an alias too"} {
		stops(t, offline(t, "run", "-q", flow, "x", "--model-alias", flag), 2, why)
	}

	// In Go.
	models := scripted.Answers(map[string][]string{"a": {"one"}, "b": {"two"}})
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithModelAliases(map[string]string{"fast": "acme/small", "smart": "acme/large"}), agentscript.WithDefaultModel("fast"))
	mod := loaded(t, eng, "a = agent(name = \"a\", model = \"smart\", prompt = \"A.\")\nb = agent(name = \"b\", prompt = \"B.\")\nmain = a >> b\n")
	if _, err := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ModelAliases(map[string]string{"smart": "acme/largest"})).Wait(); err != nil {
		t.Fatal(err)
	}
	if seen := models.Requests(); len(seen) != 2 || seen[0].Request.Model != "acme/largest" || seen[1].Request.Model != "acme/small" {
		t.Errorf("asked are %+v", seen)
	}
	_, err = mod.Start(t.Context(), agentscript.Input("x"), agentscript.ModelAliases(map[string]string{"deep": "smart"})).Wait()
	if e, ok := errors.AsType[*engine.Error](err); !ok || e.Code != diag.BadAlias || e.Help == "" {
		t.Errorf("an alias of an alias: %v", err)
	}
}

// Promise 26.151 (sound): the error for a wrong flag value says what the flag accepts, and the error for an unknown flag
// suggests one or two flags, never all; a scripted answer that spans several lines is one error that explains rows; and
// no stray output precedes an error.
func TestPromise_26_151_Flags(t *testing.T) {
	flow := file(t, "flow.star", "main = agent(name = \"a\", prompt = \"A.\")\n")
	for _, row := range []struct{ line, want string }{
		{"run FLOW --max-usd abc", `--max-usd: want a number such as 0.5, got "abc"`},
		{"serve mcp --max-usd abc FLOW", `--max-usd: want a number such as 0.5, got "abc"`},
		{"run FLOW --max-tokens 1e5", `--max-tokens: want a whole number such as 10`},
		{"run FLOW --timeout 5", `--timeout: want a duration such as 90s or 2m`},
		{"run FLOW --dry-run", "agentscript check FILE judges a script without running it"},
		{"run FLOW --input x", "did you mean --input-file?"},
		{"run FLOW --debug", "did you mean --verbose?"},
		{"run FLOW --out x", "did you mean --output?"},
		{"run FLOW -o x", "did you mean --output?"},
		{"run FLOW --usd 3", "did you mean --max-usd?"},
		{"run FLOW --api-key x", "did you mean --env-file?"},
		{"run FLOW --temperature 0.1", "agent(temperature = 0.2)"},
		{"run FLOW --frobnicate", "agentscript run --help lists the flags"},
		{"check --frobnicate FLOW", "agentscript check --help lists the flags"},
		{"mcp tools --frobnicate", "agentscript mcp tools --help lists the flags"},
		{"check --mnifest FLOW", "did you mean --manifest?"},
	} {
		out := offline(t, strings.Fields(strings.Replace(row.line, "FLOW", flow, 1))...)
		if stops(t, out, 2, row.want); strings.Count(out.stderr, "--") > 4 {
			t.Errorf("%s: too much is listed:\n%s", row.line, out.stderr)
		}
	}
	if out := offline(t, "version", "--json"); !strings.HasPrefix(out.stdout, "{\n  \"version\": ") {
		t.Errorf("version --json is\n%s", out.stdout)
	}

	for text, want := range map[string]string{
		"{\n  \"agent\": \"a\",\n  \"text\": \"x\"\n}\n":                                ":1: a row is one JSON object on one line, and here a value goes over 4 lines",
		"[\n  {\"agent\": \"a\", \"text\": \"x\"}\n]\n":                                 ":1: a row is one JSON object on one line",
		"{\"agent\": \"a\", \"text\": \"x\"}\n\n{\"agent\": \"a\",\n\"text\": \"x\"}\n": ":3: a row is one JSON object on one line",
	} {
		out := offline(t, "run", "-q", flow, "x", "--scripted", file(t, "rows.jsonl", text))
		if stops(t, out, 2, "AS714", want, "jq -c ."); strings.Count(out.stderr, "rows.jsonl") != 1 {
			t.Errorf("more than one error:\n%s", out.stderr)
		}
	}

	failed := file(t, "failed.star", "S = schema(3, 4)\nprint(S)\nprint(\"it is\", [S])\nprint(\"<error> is what a user writes\")\nmain = then(S)\n")
	out := offline(t, "check", failed)
	if head, _, _ := strings.Cut(out.stderr, "error["); out.code != 3 || head != "" {
		t.Errorf("printed is %q", head)
	}
	prints(t, offline(t, "run", "-q", file(t, "fine.star", "print(\"<failed>\")\ndef main():\n    return \"x\"\n")), "x")
	if out := offline(t, "run", "-q", file(t, "fine.star", "print(\"<failed>\")\ndef main():\n    return \"x\"\n")); out.stderr != "<failed>\n" {
		t.Errorf("printed is %q", out.stderr)
	}
}
