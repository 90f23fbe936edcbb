package starlib_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// full is a journal whose store accepts nothing.
type full struct{ store.Memory }

func (*full) Commit(context.Context, string, *engine.Effect, engine.Outcome) error {
	return errors.New("the disk is full")
}

// failures are those that only a host can cause, each with the rule that it shows.
var failures = []struct {
	code diag.Code
	rule string
	fail func(t *testing.T) error
}{
	{diag.SealedNode, "a node of a loaded script is composed nowhere else", func(t *testing.T) error {
		m := sound(t, "main = agent(prompt = \"P.\")\n")
		s := flow.NewSession()
		s.Then(flow.Site{What: "then"}, spec(t, m, generable.StrOf("x")).Node, s.Pick(flow.Site{}, "f", nil))
		return s.Diagnostics().Err()
	}},
	{diag.Cancelled, "a run whose caller gave up says so", func(t *testing.T) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ended(t, ctx, starlib.Options{}, nil, nil)
	}},
	{diag.Panic, "a function of the host that panics fails the run alone", func(t *testing.T) error {
		row := starlib.Builtin{Name: "explode", Returns: "None", Doc: "Panics.", Func: func(*starlib.Call) (starlark.Value, error) { panic("boom") }}
		return ended(t, context.Background(), starlib.Options{Builtins: []starlib.Builtin{row}}, nil, nil)
	}},
	{diag.ReplayMismatch, "a replay makes no call that was not recorded", func(t *testing.T) error {
		return ended(t, context.Background(), starlib.Options{}, nil, refuse)
	}},
	{diag.SessionBusy, "a session has one run at a time", func(t *testing.T) error {
		var sessions session.Memory
		if _, err := sessions.OpenSession(context.Background(), "s", "main.star"); err != nil {
			t.Fatal(err)
		}
		_, err := sessions.OpenSession(context.Background(), "s", "main.star")
		return err
	}},
	{diag.BadAlias, "an alias stands for a model, not for another alias", func(*testing.T) error {
		return (&run.Spec{Aliases: map[string]string{"fast": "quick", "quick": "acme/small"}}).CheckAliases()
	}},
	{diag.JournalFailed, "an outcome that is not on record ends the run", func(t *testing.T) error {
		return ended(t, context.Background(), starlib.Options{}, &full{}, nil)
	}},
}

// ended runs a script that calls a model, with what the host adds, if anything.
func ended(t *testing.T, ctx context.Context, o starlib.Options, j engine.Journal, h engine.Handler) error {
	t.Helper()
	call := ""
	for _, b := range o.Builtins {
		call = "    " + b.Name + "()\n"
	}
	m, found := loadWith(o, "writer = agent(prompt = \"Write.\")\n\ndef main(x = str):\n"+call+"    return writer(x)\n")
	if found.HasErrors() {
		t.Fatal(render(m, found))
	}
	s := spec(t, m, value(t, `{"x": "a fox"}`))
	s.Model, s.Journal, s.Handler = "test/model", j, h
	if h == nil {
		s.Handler = answers(nil)
	}
	_, err := run.Exec(sched.NewGoSched(ctx), &s)
	return err
}

var digest = regexp.MustCompile(`@[0-9a-f]{16}`)

// TestFailures compares them with a golden file.
func TestFailures(t *testing.T) {
	var got strings.Builder
	for _, f := range failures {
		err := f.fail(t)
		fmt.Fprintf(&got, "# %s: %s\n", f.code, f.rule)
		var e *engine.Error
		var l diag.List
		switch {
		case errors.As(err, &e):
			fmt.Fprintf(&got, "%s[%s]: %s\n", e.Kind, e.Code, e.Message)
			if at := e.Pos.String(); at != "" {
				fmt.Fprintf(&got, "  at %s in %s\n", at, e.Path)
			}
			if e.Help != "" {
				fmt.Fprintf(&got, "  help: %s\n", e.Help)
			}
		case errors.As(err, &l):
			if err := diag.Render(&got, l, nil, diag.Options{NoSummary: true}); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s: %v", f.code, err)
		}
		got.WriteByte('\n')
	}
	text := digest.ReplaceAllString(got.String(), "@…") // it changes with the contents of a request
	const golden = "testdata/failures.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// rows matches "# AS301 AS302: the rule", the heading of golden rows.
var rows = regexp.MustCompile(`(?m)^# (AS\d{3}(?: AS\d{3})*): .`)

// runCodes returns the codes of runs in a store, which tests of stores and of durable runs check by name.
func runCodes(t *testing.T) (codes []string) {
	t.Helper()
	tested := ""
	for _, glob := range []string{"../internal/conformance/durable_*_test.go", "../engine/store/storetest/*.go"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatal("no tests of runs", err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tested += string(data)
		}
	}
	for name, code := range map[string]diag.Code{"RunHeld": diag.RunHeld, "RunLost": diag.RunLost, "RunNotFound": diag.RunNotFound, "UnknownEffect": diag.UnknownEffect,
		"WaitsForValue": diag.WaitsForValue, "RunDiverged": diag.RunDiverged, "OtherABI": diag.OtherABI, "BadSignal": diag.BadSignal, "RunExists": diag.RunExists} {
		if strings.Contains(tested, "diag."+name) {
			codes = append(codes, string(code))
		}
	}
	return codes
}

// serverCodes returns the codes of faults of MCP servers, one server for each. Their messages contain the output of a
// process, so they are not golden texts.
func serverCodes(t *testing.T) (codes []string) {
	t.Helper()
	files, err := filepath.Glob("../engine/mcp/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no tests of servers", err)
	}
	names := map[string]diag.Code{"NoServers": diag.NoServers, "ServerNotGranted": diag.ServerNotGranted, "NoSecret": diag.NoSecret, "ServerUnreachable": diag.ServerUnreachable,
		"ServerLost": diag.ServerLost, "ServerProtocol": diag.ServerProtocol, "ServerTools": diag.ServerTools, "ServerResult": diag.ServerResult, "ServerTimeout": diag.ServerTimeout,
		"ServerSignIn": diag.ServerSignIn, "SignInFailed": diag.SignInFailed}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, code := range names {
			if regexp.MustCompile(`diag\.` + name + `\b`).Match(data) {
				codes = append(codes, string(code))
			}
		}
	}
	// The codes of runs on Temporal, which have their own tests.
	elsewhere, err := filepath.Glob("../temporal/*/*/*_test.go")
	if err != nil || len(elsewhere) == 0 {
		t.Fatal("no tests of runs on Temporal", err)
	}
	for _, file := range elsewhere {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, code := range map[string]diag.Code{"BlobGone": diag.BlobGone, "WorkerLost": diag.WorkerLost, "NoWorker": diag.NoWorker} {
			named := strings.Contains(string(data), string(code)) || strings.Contains(string(data), "diag."+name)
			if named && !slices.Contains(codes, string(code)) {
				codes = append(codes, string(code))
			}
		}
	}
	return codes
}

// TestEveryCodeHasAGoldenRow requires, for every code, a golden row that names the rule: for loading in
// testdata/errors, for running in testdata/script, and for hosts in failures.
func TestEveryCodeHasAGoldenRow(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	files = append(files, "testdata/failures.golden", "../testdata/script/run_codes.txtar", "../testdata/script/check_schemas.txtar", "../testdata/script/capabilities.txtar", "../testdata/script/test.txtar", "../testdata/script/test_runner.txtar")
	covered := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range rows.FindAllStringSubmatch(string(data), -1) {
			for _, code := range strings.Fields(m[1]) {
				covered[code] = true
			}
		}
	}
	for _, code := range append(serverCodes(t), runCodes(t)...) {
		covered[code] = true
	}
	for _, e := range diag.Entries() {
		if !covered[string(e.Code)] && !strings.HasPrefix(string(e.Code), "AS9") { // flowjson has rows for these
			t.Errorf("no golden row gives %s: %s", e.Code, e.Title)
		}
		delete(covered, string(e.Code))
	}
	for code := range covered {
		t.Errorf("golden rows are about %s, which there is not", code)
	}
}
