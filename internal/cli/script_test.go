package cli

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

// quickRace keeps the race detector from waiting a second at the end of every process.
const quickRace = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"agentscript": func() { os.Exit(Main("")) }})
}

// TestScripts runs testdata/script/*.txtar. In addition to the usual commands there are:
//
//	code N PROGRAM ARG...   run a program that ends with exit code N
//	provider FILE           start a provider that answers with the replies in FILE, a JSON list
//	                        of llmtest.Reply, and set OPENAI_BASE_URL and OLLAMA_BASE_URL
//	requests FILE           write what the provider got to FILE: headers, then body, per request
//	count N TEXT FILE       FILE holds TEXT exactly N times
//	hex FILE DIGITS         write bytes to FILE
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("GORACE", quickRace)
			e.Setenv("AGENTSCRIPT_STORE", "off")
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			e.Values[serverKey{}] = new(*llmtest.Server)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "race":
				return testenv.RaceDetector, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": exitsWith, "provider": startProvider, "requests": writeRequests, "count": countIn, "hex": writeHex,
		},
	})
}

func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// serverKey finds the provider of a script among the script's values.
type serverKey struct{}

func startProvider(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: provider FILE")
	}
	var replies []llmtest.Reply
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &replies))
	s := llmtest.New(replies...)
	ts.Defer(s.Close)
	ts.Setenv("OPENAI_BASE_URL", s.OpenAI())
	ts.Setenv("OLLAMA_BASE_URL", s.Ollama())
	*ts.Value(serverKey{}).(**llmtest.Server) = s
}

func writeRequests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: requests FILE")
	}
	s := *ts.Value(serverKey{}).(**llmtest.Server)
	if s == nil {
		ts.Fatalf("no provider was started")
	}
	var b strings.Builder
	for _, r := range s.Requests() {
		fmt.Fprintln(&b, r.Path)
		for _, k := range slices.Sorted(maps.Keys(r.Header)) {
			fmt.Fprintf(&b, "%s: %s\n", k, strings.Join(r.Header[k], ", "))
		}
		fmt.Fprintf(&b, "%s\n", r.Body)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o666))
}

func countIn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: count N TEXT FILE")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[2]), args[1]); got != want {
		ts.Fatalf("%s holds %q %d times, want %d", args[2], args[1], got, want)
	}
}

func writeHex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hex FILE DIGITS")
	}
	data, err := hex.DecodeString(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}
