package conformance

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 11.1 (bad input): unknown names, arguments, fields and variants are check errors with a code, a position and
// a remedy.
func TestPromise_11_1_UnknownNames(t *testing.T) {
	for src, words := range map[string][]string{
		"reviewer = agent(prompt = \"x\")\nmain = reviwer\n": {"AS201", "2:8", `"reviewer"`},
		"main = agent(promt = \"x\")\n":                      {"AS202", "1:14", `"prompt"`},
		"A = schema(\"a\", text = str)\nx = A(txt = \"\")\n": {"AS503", "2:7", `did you mean "text"?`},
		"A = schema(\"a\", n = int)\nB = schema(\"b\", n = int)\nC = schema(\"c\", n = int)\nU = union(\"u\", A, B)\na = agent(output = U, prompt = \"x\")\nh = agent(input = A, run = lambda x: \"\")\ni = agent(input = C, run = lambda x: \"\")\nmain = a.branch({A: h, C: i}, otherwise = fn(lambda x: \"\", output = str))\n": {"AS306", "8:"},
	} {
		stops(t, offline(t, "check", file(t, "x.star", src)), 3, words...)
	}
}

// Promise 11.2 (bad input): an error about an unknown model or provider names it and lists the known ones.
func TestPromise_11_2_UnknownModels(t *testing.T) {
	stops(t, offline(t, "run", "-q", file(t, "x.star", "main = agent(model = \"opnai/x\", prompt = \"x\")\n"), "x"), 6, "AS708", `"opnai"`, "openai/x")
}

// Promise 11.3 (bad input): an error about a missing key names its environment variable.
func TestPromise_11_3_MissingKey(t *testing.T) {
	for provider, key := range map[string]string{"openai": "OPENAI_API_KEY", "mistral": "MISTRAL_API_KEY", "deepseek": "DEEPSEEK_API_KEY", "openrouter": "OPENROUTER_API_KEY", "anthropic": "ANTHROPIC_API_KEY"} {
		stops(t, offline(t, "run", "-q", "examples/review.star", "x", "--model", provider+"/m"), 6, "AS709", key)
	}
}

// Promise 11.4 (bad input): the error of a run without any model names the environment variables, Ollama and
// `--scripted`.
func TestPromise_11_4_NoModel(t *testing.T) {
	stops(t, offline(t, "run", "-q", "examples/review.star", "x"), 6, "AS707", "OPENAI_API_KEY", "ollama/", "--model", "--scripted")
}

// Promise 11.5 (bad input): input that `main` does not accept is refused before anything runs, with an error that says
// what it accepts.
func TestPromise_11_5_WrongInput(t *testing.T) {
	got := offline(t, "run", "examples/count.star", "many")
	stops(t, got, 2, "AS716", "int")
	if strings.Contains(got.stderr, "start") {
		t.Errorf("something ran:\n%s", got.stderr)
	}
	stops(t, offline(t, "run", "-q", file(t, "x.star", "P = schema(\"p\", name = str)\nmain = fn(lambda p: p.name, input = P)\n"), `{"nme": "x"}`), 2, "AS716", "name")
}

// Promise 11.6 (bad input): an error about a missing script, loaded file or input file names the file and where it is
// referenced.
func TestPromise_11_6_MissingFile(t *testing.T) {
	stops(t, offline(t, "run", "nowhere.star", "x"), 2, "nowhere.star")
	stops(t, offline(t, "check", file(t, "x.star", "load(\"lib.star\", \"f\")\nmain = f\n")), 3, "lib.star", "x.star:1:6")
	stops(t, offline(t, "check", file(t, "y.star", "main = agent(prompt = file(\"style.md\"))\n")), 3, "AS602", "style.md", "y.star:1:")
	stops(t, offline(t, "run", "-q", "examples/count.star", "--input-file", "nothing.txt"), 2, "nothing.txt")
}

// Promise 11.7 (bad input): a callback that raises results in an error with its position in the script.
func TestPromise_11_7_CallbackRaises(t *testing.T) {
	stops(t, offline(t, "run", "-q", file(t, "x.star", "def f(s):\n    return s[100]\nmain = agent(run = f)\n"), "x"), 1, "AS701", "x.star:2:", "main/agent:main#0")
}

// Promise 11.8 (bad input): a callback that loops forever is stopped.
func TestPromise_11_8_EndlessLoop(t *testing.T) {
	stops(t, offline(t, "run", "-q", file(t, "x.star", "def f(s):\n    while True:\n        pass\nmain = agent(run = f)\n"), "x", "--max-steps", "1000000"), 4, "AS717", "x.star:", "--max-steps")
}

// Promise 11.9 (bad input): a callback that recurses forever is stopped.
func TestPromise_11_9_EndlessRecursion(t *testing.T) {
	stops(t, offline(t, "run", "-q", file(t, "x.star", "def f(s):\n    return f(s)\nmain = agent(run = f)\n"), "x"), 1, "x.star:2:", "deep")
}

// Promise 11.10 (bad input): the error for a callback that returns the wrong type names the callback and the expected
// type.
func TestPromise_11_10_WrongResult(t *testing.T) {
	stops(t, offline(t, "run", "-q", file(t, "x.star", "count = agent(output = int, run = lambda s: json.decode(\"null\") or s)\nmain = count\n"), "x"), 1, "AS705", "count", "int", "x.star:1:")
}

// Promise 11.11 (bad input): Ctrl-C ends a run at once, with exit code 130.
func TestPromise_11_11_Interrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("not built: windows has no signal that a test can send")
	}
	if got := interrupted(t); got.code != 130 {
		t.Errorf("exit %d\n%s", got.code, got.stderr)
	}
}

// interrupted runs a function that never ends, until it prints, and interrupts it.
func interrupted(t *testing.T) output {
	t.Helper()
	cmd := hang.Command(t, command(t), "run", "--max-steps", "100000000000", file(t, "x.star", "def f(s):\n    print(\"spinning\")\n    while True:\n        pass\nmain = agent(run = f)\n"), "x")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	for lines := bufio.NewScanner(pipe); lines.Scan() && !strings.Contains(lines.Text(), "spinning"); {
		stderr.WriteString(lines.Text() + "\n")
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code says how it ended
	return output{code: cmd.ProcessState.ExitCode(), stderr: stderr.String()}
}

// Promise 11.12 (bad input): a connection that stalls or drops results in an error, never in an endless wait.
func TestPromise_11_12_StalledConnection(t *testing.T) {
	for how, url := range map[string]string{"refused": "http://127.0.0.1:1/v1", "no such host": "http://nowhere.invalid/v1"} {
		got := runCommand(t, []string{"OPENAI_API_KEY=sk-0123456789", "OPENAI_BASE_URL=" + url}, "run", "-q", "examples/review.star", "x", "--model", "openai/m", "--timeout", "1h")
		if got.code != 6 || !strings.Contains(got.stderr, "AS710") {
			t.Errorf("%s: exit %d\n%s", how, got.code, got.stderr)
		}
	}
	for _, name := range everyModel {
		for fault, want := range map[llmtest.Fault]engine.ErrKind{
			llmtest.StallHeaders: engine.KindTimeout, llmtest.StallStream: engine.KindTimeout, llmtest.Cut: engine.KindTruncated, llmtest.Reset: engine.KindNetwork,
		} {
			s := serving(t, llmtest.Reply{Text: "one two three four", Fault: fault, Repeat: true})
			short := llm.WithTimeouts(llm.Timeouts{FirstByte: 200 * time.Millisecond, Idle: 200 * time.Millisecond})
			if err := callFails(t, name, allProviders(t, s, short), agentscript.OnEvent(engine.EventToken, func(engine.Event) {})); err.Kind != want {
				t.Errorf("%s, fault %v: %v", name, fault, err)
			}
		}
	}
}

// Promise 11.13 (bad input): a provider's key appears in no output, event, error or trace.
func TestPromise_11_13_CanaryKey(t *testing.T) {
	const canary = "sk-canary-abcdef0123456789"
	var env []string
	for _, p := range []string{"OPENAI", "OLLAMA", "MISTRAL", "DEEPSEEK", "OPENROUTER", "ANTHROPIC", "GEMINI", "GOOGLE", "AGENTSCRIPT_COMPAT"} {
		env = append(env, p+"_API_KEY="+canary)
	}
	env = append(env, "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "AGENTSCRIPT_COMPAT_URL=http://127.0.0.1:1/v1", "OLLAMA_BASE_URL=http://127.0.0.1:1")
	for _, model := range []string{"openai/m", "compat/m", "ollama/m", "nowhere/m"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel() // most of it is the wait before a call is repeated
			trace := filepath.Join(t.TempDir(), "trace.jsonl")
			got := runCommand(t, env, "run", "--json", "--trace", trace, "examples/review.star", "x", "--model", model, "--retries", "1")
			kept, _ := os.ReadFile(trace)
			for where, text := range map[string]string{"stdout": got.stdout, "stderr": got.stderr, "the trace": string(kept)} {
				if strings.Contains(text, canary) {
					t.Errorf("%s shows the key", where)
				}
			}
		})
	}
}

// Promise 11.14 (bad input): no script makes the checker panic.
func TestPromise_11_14_NoPanic(t *testing.T) {
	for _, src := range []string{"", "\x00", "\xff\xfe", "main = ", "((((", "x = json.decode(\"[\" * 3000000)\n", "main = agent() >> 3 / None * [] | {}\n",
		"schema()\nunion()\nenum()\nagent()\nthen()\npar()\nforum()\nbranch()\nloop()\neach()\nfn()\npick()\ntemplate()\nskill()\ntool()\n",
		"A = schema(\"a\", a = ref(\"A\"))\nmain = agent(output = A, prompt = \"x\")\n", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "x = " + strings.Repeat("-", 20000) + "1\n"} {
		got := offline(t, "check", file(t, "x.star", src))
		if (got.code != 0 && got.code != 3) || strings.Contains(got.stderr, "goroutine ") || strings.Contains(got.stderr, "AS715") {
			t.Errorf("%.40q: exit %d\n%.2000s", src, got.code, got.stderr)
		}
	}
}
