package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/arch"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The promises of a fake repository, and the output of go test -v for them.
const (
	made = `package runs

import "testing"

// Promise 2.10 (language): ten comes after two.
func TestPromise_2_10_Ten(t *testing.T) {}

// Promise 2.2 (language): a type is a value, and
// ` + "`A | B`" + ` is a type.
//
// More is said elsewhere.
func TestPromise_2_2_TypesAreValues(t *testing.T) {}

// Promise 5.1 (runs): a run ends.
func TestPromise_5_1_Ends(t *testing.T) {}

// Promise 5.2 (runs): a run can be cancelled.
func TestPromise_5_2_Cancels(t *testing.T) {}

// Promise 5.3 (runs): a run uses the network.
func TestPromise_5_3_Network(t *testing.T) {}

// Promise 7.1 (decoder): it compiles.
func TestPromise_7_1_Compiles(t *testing.T) {}
`
	said = `=== RUN   TestPromise_2_10_Ten
=== PAUSE TestPromise_2_10_Ten
=== RUN   TestPromise_2_2_TypesAreValues
=== RUN   TestPromise_2_2_TypesAreValues/one
    runs_test.go:3: skipped below
--- PASS: TestPromise_2_2_TypesAreValues (0.00s)
    --- SKIP: TestPromise_2_2_TypesAreValues/one (0.00s)
=== RUN   TestPromise_5_1_Ends
    runs_test.go:9: looking
    runs_test.go:10: not built: the scheduler
--- SKIP: TestPromise_5_1_Ends (0.00s)
=== RUN   TestPromise_5_2_Cancels
    runs_test.go:12: it goes on
--- FAIL: TestPromise_5_2_Cancels (0.00s)
=== RUN   TestPromise_5_3_Network
    runs_test.go:20: no network here
=== CONT  TestPromise_2_10_Ten
    runs_test.go:30: of another test
--- PASS: TestPromise_2_10_Ten (0.00s)
--- SKIP: TestPromise_5_3_Network (0.00s)
--- PASS: TestElsewhere (0.00s)
FAIL	example.test/fake/runs	0.1s
`
)

func TestWriteThenCheck(t *testing.T) {
	dir := t.TempDir()
	file, log := filepath.Join(dir, "docs", "conformance.md"), filepath.Join(dir, "log")
	for name, text := range map[string]string{file: "", log: said, filepath.Join(dir, "runs", "runs_test.go"): made} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	var out strings.Builder
	if err := work(dir, false, log, &out); err == nil || err.Error() != "a promise fails" {
		t.Errorf("writing: %v", err)
	}
	want := `SKIP  5.1 TestPromise_5_1_Ends: not built: the scheduler
FAILS 5.2 TestPromise_5_2_Cancels (runs/runs_test.go:18)
SKIP  5.3 TestPromise_5_3_Network: skipped: no network here
FAILS 7.1 TestPromise_7_1_Compiles (runs/runs_test.go:24)
6 promises: 2 hold, 1 not built, 1 skipped, 2 FAIL
`
	if out.String() != want {
		t.Errorf("the report is\n%s", out.String())
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "conformance.md")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(page) {
		t.Errorf("the page differs (run with -update to accept)\n%s", got)
	}

	out.Reset()
	if err := work(dir, true, "", &out); err != nil || out.Len() > 0 {
		t.Errorf("a fresh page checked alone: %v\n%s", err, out.String())
	}
	if err := work(dir, true, log, &out); err == nil || err.Error() != "a promise fails" {
		t.Errorf("a fresh page checked: %v", err)
	}

	// A change of a state alone is detected if the tests were run.
	edit(t, file, "not built: the scheduler", "holds")
	if err := work(dir, true, "", &out); err != nil {
		t.Errorf("without what the tests said, states do not matter: %v", err)
	}
	if err := work(dir, true, log, &out); err == nil || !strings.Contains(err.Error(), "is not what the tests say") {
		t.Errorf("a wrong state: %v", err)
	}

	// A changed text is detected in both modes, and so is a changed order.
	edit(t, file, "a run ends.", "a run ends soon.")
	err = work(dir, true, "", &out)
	if err == nil || !strings.Contains(err.Error(), "- | 5.1 | a run ends soon.") || !strings.Contains(err.Error(), "+ | 5.1 | a run ends.") {
		t.Errorf("a wrong text: %v", err)
	}
	edit(t, file, "a run ends soon.", "a run ends.")
	edit(t, file, "| 5.1 |", "| 5.x |")
	edit(t, file, "| 5.2 |", "| 5.1 |")
	if err := work(dir, true, "", &out); err == nil {
		t.Error("a wrong number is not seen")
	}
	edit(t, file, "| 5.1 |", "| 5.2 |")
	edit(t, file, "| 5.x |", "| 5.1 |")
	edit(t, file, "a run ends.", "it ends.")
	edit(t, file, "| holds |\n| 5.2", "| not built: the scheduler |\n| 5.2")
	if err := work(dir, false, "", &out); err != nil {
		t.Error(err)
	}
	if got, err = os.ReadFile(file); err != nil || string(got) != string(page) {
		t.Errorf("written without what the tests said (%v), the page lost states:\n%s", err, got)
	}
	if err := work(dir, true, filepath.Join(dir, "nosuch"), &out); err == nil {
		t.Error("a log that is not there was read")
	}
}

// A promise whose test needs something built on demand keeps its state in the page, also in other modules of the
// repository.
func TestNotHereKeepsTheState(t *testing.T) {
	const served = `package e2e

import "testing"

// Promise 31.1 (temporal): a run goes on.
func TestPromise_31_1_GoesOn(t *testing.T) {}

// Promise 31.2 (temporal): a run ends.
func TestPromise_31_2_Ends(t *testing.T) {}
`
	dir := t.TempDir()
	file, log := filepath.Join(dir, "docs", "conformance.md"), filepath.Join(dir, "log")
	run := func(check bool, said string) (string, error) {
		t.Helper()
		if err := os.WriteFile(log, []byte(said), 0o644); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err := work(dir, check, log, &out)
		return out.String(), err
	}
	for name, text := range map[string]string{file: "", filepath.Join(dir, "temporal", "go.mod"): "module example.test/temporal\n", filepath.Join(dir, "temporal", "internal", "e2e", "run_test.go"): served} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "--- PASS: TestPromise_31_1_GoesOn (0.00s)\n", "--- PASS: TestPromise_31_2_Ends (0.00s)\n"
	const absent = "=== RUN   TestPromise_31_2_Ends\n    run_test.go:9: not here: no server is built\n--- SKIP: TestPromise_31_2_Ends (0.00s)\n"

	// A page without states says what is missing.
	if out, err := run(false, first+absent); err != nil || !strings.Contains(out, "SKIP  31.2 TestPromise_31_2_Ends: not here: no server is built\n2 promises: 1 hold, 0 not built, 1 not here") {
		t.Errorf("%v\n%s", err, out)
	}
	if page, err := os.ReadFile(file); err != nil || !strings.Contains(string(page), "## 31. Beyond one machine: Temporal\n") || !strings.Contains(string(page), "`TestPromise_31_2_Ends` in `temporal/internal/e2e` | not here: no server is built |") {
		t.Errorf("%v\n%s", err, page)
	}
	if out, err := run(false, first+second); err != nil || out != "2 promises: 2 hold, 0 not built\n" {
		t.Errorf("%v\n%s", err, out)
	}
	made, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range []bool{true, false} {
		if out, err := run(check, first+absent); err != nil || !strings.HasPrefix(out, "SKIP  31.2 ") {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if page, err := os.ReadFile(file); err != nil || string(page) != string(made) {
		t.Errorf("the page changed where no server is: %v\n%s", err, page)
	}
	if _, err := run(true, first); err == nil || err.Error() != "docs/conformance.md is not what the tests say; run make conformance\n- | 31.2 | a run ends. | `TestPromise_31_2_Ends` in `temporal/internal/e2e` | holds |\n+ | 31.2 | a run ends. | `TestPromise_31_2_Ends` in `temporal/internal/e2e` | FAILS |" {
		t.Errorf("a test that did not run at all: %v", err)
	}
}

// Rows in another order, or duplicate rows, are a difference.
func TestDifferencesOfOrder(t *testing.T) {
	const one, two = "| 1 | a | holds |\n", "| 2 | b | holds |\n"
	for _, file := range []string{two + one, one + two + two} {
		if got := differences(file, one+two); len(got) != 1 {
			t.Errorf("%q: %q", file, got)
		}
	}
}

func edit(t *testing.T, file, from, to string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		t.Fatalf("%s does not hold %q", file, from)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestProblems(t *testing.T) {
	const good = "// Promise 2.1 (language): text.\nfunc TestPromise_2_1_Good(t *testing.T) {}\n"
	for name, tt := range map[string]struct{ text, want string }{
		"no comment":     {"func TestPromise_2_1_X(t *testing.T) {}", `does not begin with "Promise 2.1 (area): text"`},
		"other number":   {"// Promise 2.2 (language): text.\nfunc TestPromise_2_1_X(t *testing.T) {}", "the comment is of promise 2.2"},
		"other area":     {"// Promise 2.1 (runs): text.\nfunc TestPromise_2_1_X(t *testing.T) {}", `area 2 is "language", not "runs"`},
		"unknown area":   {"// Promise 99.1 (runs): text.\nfunc TestPromise_99_1_X(t *testing.T) {}", "there is no area 99"},
		"name":           {"// Promise 2.1 (language): text.\nfunc TestPromise_2_x(t *testing.T) {}", "the name is not TestPromise_AREA_ITEM_Words"},
		"near miss":      {"// Promise 2.1 (language): text.\nfunc TestPromise2_1_X(t *testing.T) {}", "the name is not TestPromise_AREA_ITEM_Words"},
		"twice":          {good + strings.Replace(good, "Good", "Again", 1), "promise 2.1 is made at a_test.go:3 already"},
		"no problem":     {good, ""},
		"two paragraphs": {strings.Replace(good, "func", "//\n// More.\nfunc", 1), ""},
	} {
		s, err := arch.Parse("a_test.go", []byte("package a\n"+tt.text))
		if err != nil {
			t.Fatal(err)
		}
		promises, problems := collect([]*arch.Source{s})
		got := strings.Join(problems, "\n")
		if tt.want == "" && (got != "" || len(promises) != 1 || promises[0].text != "text.") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, %d promises", name, got, len(promises))
		}
	}
}

// The page in docs must name the current tests. Their states are compared where they are run, by the command itself.
func TestThePageIsCurrent(t *testing.T) {
	root, err := arch.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := work(root, true, "", os.Stdout); err != nil {
		t.Error(err)
	}
}
