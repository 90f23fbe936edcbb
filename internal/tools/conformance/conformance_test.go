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

// repo copies the fake repository, so that a test may write into it.
func repo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "repo"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWriteThenCheck(t *testing.T) {
	dir := repo(t)
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "docs", "conformance.md")

	var out strings.Builder
	if err := work(dir, false, true, &out); err == nil || err.Error() != "a promise fails" {
		t.Errorf("writing: %v", err)
	}
	for _, want := range []string{
		"SKIP  5.1 TestPromise_5_1_Ends: not built: the scheduler\n",
		"SKIP  5.3 TestPromise_5_3_Network: skipped: no network here\n",
		"FAILS 5.2 TestPromise_5_2_Cancels (runs/runs_test.go:12)\n",
		"it goes on",
		"undefined: missing",
		"6 promises: 2 hold, 1 not built, 1 skipped, 2 FAIL\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
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
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the page differs (run with -update to accept)\n%s", got)
	}

	out.Reset()
	if err := work(dir, true, false, &out); err != nil || out.Len() > 0 {
		t.Errorf("a fresh page checked without running: %v\n%s", err, out.String())
	}
	if err := work(dir, true, true, &out); err == nil || err.Error() != "a promise fails" {
		t.Errorf("a fresh page checked: %v", err)
	}

	// A state alone that changed is seen where the tests were run.
	edit(t, file, "not built: the scheduler", "holds")
	if err := work(dir, true, false, &out); err != nil {
		t.Errorf("without running, states do not matter: %v", err)
	}
	if err := work(dir, true, true, &out); err == nil || !strings.Contains(err.Error(), "is not what the tests say") {
		t.Errorf("a wrong state: %v", err)
	}

	// A text that changed is seen in both modes.
	edit(t, file, "a run ends.", "a run ends soon.")
	err = work(dir, true, false, &out)
	if err == nil || !strings.Contains(err.Error(), "- | 5.1 | a run ends soon.") || !strings.Contains(err.Error(), "+ | 5.1 | a run ends.") {
		t.Errorf("a wrong text: %v", err)
	}
	if err := work(dir, false, false, &out); err == nil {
		t.Error("a page without states was written")
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

// The page in docs must name the tests as they are. Their states are compared where they are run,
// by the command itself.
func TestThePageIsCurrent(t *testing.T) {
	root, err := arch.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := work(root, true, false, os.Stdout); err != nil {
		t.Error(err)
	}
}
