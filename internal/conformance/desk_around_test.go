package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Promise 27.64 (desk): `agentscript new NAME` makes projects that check, format, test and run offline; it never
// overwrites and asks nothing without a terminal.
func TestPromise_27_64_New(t *testing.T) {
	here := t.TempDir()
	for _, kind := range []string{"agent", "pipeline", "branch", "tools", "mcp", "host", "test"} {
		name := "my-" + kind
		if out := runCommandIn(t, here, nil, "new", name, "--kind", kind); out.code != 0 || !strings.Contains(out.stdout, filepath.Join(name, "flow.star")+"\n") {
			t.Fatalf("%s: exit code %d\n%s%s", kind, out.code, out.stdout, out.stderr)
		}
		stops(t, runCommandIn(t, here, nil, "new", name), 2, "exists already", "nothing was written")
		scripts, err := filepath.Glob(filepath.Join(here, name, "*.star"))
		if err != nil || len(scripts) < 2 {
			t.Errorf("%s: %v %v", kind, scripts, err)
		}
		for _, args := range [][]string{append([]string{"check", "--strict"}, scripts...), append([]string{"fmt", "--check"}, scripts...), {"test"}, {"run", "-q", "flow.star", "x", "--mock"}} {
			if out := runCommandIn(t, filepath.Join(here, name), nil, args...); out.code != 0 {
				t.Errorf("%s: %v: exit code %d\n%s%s", kind, args, out.code, out.stdout, out.stderr)
			}
		}
	}
	stops(t, runCommandIn(t, here, nil, "new", "a/b"), 2, "is a path")
	stops(t, runCommandIn(t, here, nil, "new", "x", "--kind", "agnet"), 2, `did you mean "agent"?`)
}

// Promise 27.65 (desk): shells complete verbs, flags, values and the flags of a script's main.
func TestPromise_27_65_Completion(t *testing.T) {
	flow := file(t, "flow.star", "Tone = enum(\"dry\", \"warm\")\nprint(\"printed\")\nwriter = agent(prompt = \"W.\")\ncritic = agent(prompt = \"C.\")\n\ndef main(topic = str, tone = field(Tone, default = \"dry\"), max_words = 3, loud = False):\n    return critic(writer(topic))\n")
	endless := file(t, "endless.star", "while True:\n    pass\n\ndef main(topic = str):\n    return topic\n")
	broken := file(t, "broken.star", "x = nothing\n\ndef main(topic = str):\n    return topic\n")
	for _, row := range []struct{ typed, want string }{
		{"vers", "version\t"},
		{"help ch", "check\t"},
		{"run ", "star\n:8\n"}, // files by their extension
		{"check ", "star\njson\njsonc\n:8\n"},
		{"run --scripted ", "jsonl\n:8\n"},
		{"run FLOW x --replay ", "jsonl\n:8\n"},
		{"run FLOW --cache ", ":16\n"}, // directories
		{"run FLOW --max", "--max-words\n"},
		{"run --quiet FLOW --to", "--topic\n--tone\n"},
		{"run ENDLESS --t", "--topic\n"},
		{"run BROKEN --t", "--topic\n"},
		{"run FLOW --tone ", "dry\nwarm\n:4\n"},
		{"run FLOW --tone=w", "dry\nwarm\n:4\n"},
		{"run FLOW --loud=", "true\nfalse\n:4\n"},
		{"run FLOW --model ", "critic=\nwriter=\n:6\n"},
		{"run FLOW --model o", "openai/\n"},
		{"run ENDLESS --model ", "openai/\n"},
		{"run FLOW --model critic=openai/gpt-5-mi", "critic=openai/gpt-5-mini\n"},
		{"run FLOW --fallback openai/gpt-5-mi", "openai/gpt-5-mini\n"},
		{"check --format ", "human\njson\nsarif\n:4\n"},
		{"graph --format ", "mermaid\ndot\nsvg\njson\n:4\n"},
		{"graph FLOW --node ", "critic\nwriter\n:4\n"},
		{"new x --kind ", "agent\npipeline\n"},
		{"serve mcp ", "star\n:8\n"},
		{"test ", "star\n:8\n"},
		{"run FLOW --progress ", "auto\ntree\n"},
		{"explain AS30", "AS301\t"},
		{"doc bra", "branch\n"},
	} {
		var words []string
		for _, w := range strings.Split(row.typed, " ") {
			words = append(words, strings.NewReplacer("FLOW", flow, "ENDLESS", endless, "BROKEN", broken).Replace(w))
		}
		out := offline(t, append([]string{"__complete"}, words...)...)
		if out.code != 0 || !strings.Contains(out.stdout, row.want) || strings.Contains(out.stdout+out.stderr, "printed") {
			t.Errorf("%s: exit code %d, no %q in\n%s%s", row.typed, out.code, row.want, out.stdout, out.stderr)
		}
	}
}

// Promise 27.67 (desk): `agentscript.toml` sets defaults and can only make the policy stricter. Unknown keys are errors
// with a suggestion. `agentscript config` prints each value and its origin.
func TestPromise_27_67_Config(t *testing.T) {
	flow := file(t, "flow.star", "def rm_all(what = str):\n    \"\"\"Removes.\"\"\"\n    return \"gone\"\n\na = agent(name = \"a\", tools = [rm_all], prompt = \"A.\")\nb = agent(name = \"b\", prompt = \"B.\")\nmain = a >> b\n")
	put := func(text string) {
		if err := os.WriteFile(filepath.Join(filepath.Dir(flow), "agentscript.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("[models]\nfast = \"openai/gpt-5-mini\"\n[run]\nmodel = \"fast\"\nmax-model-calls = 1\n")
	stops(t, offline(t, "run", flow, "x"), 6, `model "openai/gpt-5-mini": OPENAI_API_KEY is not set`)
	stops(t, offline(t, "run", flow, "x", "--model", "mistral/small"), 6, `model "mistral/small"`)
	stops(t, offline(t, "run", flow, "x", "--mock"), 4, "the limit of 1 model call is reached")
	if out := offline(t, "run", "-q", flow, "x", "--mock", "--max-model-calls", "3"); out.code != 0 {
		t.Errorf("a flag does not go over the file: exit %d\n%s", out.code, out.stderr)
	}
	shown := runCommand(t, []string{"AGENTSCRIPT_MAX_MODEL_CALLS=7", "AGENTSCRIPT_RETRIES=2"}, "config", flow)
	for _, want := range []string{`run\.model +fast +agentscript\.toml:4:1\n`, `run\.max-model-calls +1 +agentscript\.toml:5:1\n`, `run\.retries +2 +AGENTSCRIPT_RETRIES\n`, `run\.max-depth +16 +default\n`} {
		if !regexp.MustCompile(want).MatchString(shown.stdout) {
			t.Errorf("config lacks %s:\n%s%s", want, shown.stdout, shown.stderr)
		}
	}

	put("[policy]\ndeny = [\"rm_*\"]\n")
	stops(t, offline(t, "check", "--strict", flow, "--allow", "rm_all"), 3, "AS624", `the tool "rm_all" is denied`)
	for text, why := range map[string]string{
		"[run]\ntimout = \"1m\"\n":           `did you mean "timeout"?`,
		"[runs]\ntimeout = \"1m\"\n":         `did you mean "run"?`,
		"[run]\ntimeout = 60\n":              "agentscript.toml:2:1",
		"[policy]\nallow = [\"*\"]\n":        "only make policy stricter",
		"[run]\nallow-exec = [\"sh\"]\n":     "a project file grants nothing",
		"[run]\nopenai-api-key = \"sk-x\"\n": "a project file names no key",
		"[mcp]\nserver = \"x\"\n":            "a project file names no server",
		"[run]\ncommand = \"make\"\n":        "a project file names no command",
	} {
		put(text)
		for _, verb := range []string{"config", "check", "run"} {
			stops(t, offline(t, verb, flow), 2, why)
		}
	}
}
