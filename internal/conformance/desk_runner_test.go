package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// testFiles creates a directory with tests: one that passes, one that fails, one that is still to be written, and one
// that passes only in one order of its branches.
func testFiles(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir, "a_test.star", "def test_one(t):\n    t.eq(1, 1)\n\ndef test_bad(t):\n    t.eq(1, 2)\n\ndef todo_later(t):\n    pass\n")
	write(t, dir, "b_test.star", "left = agent(name = \"left\", prompt = \"L.\")\nright = agent(name = \"right\", prompt = \"R.\")\nboth = left / right\n\n"+
		"def test_race(t):\n    t.reply(\"*\", \"one\", \"two\")\n    t.eq(both(\"x\"), [\"one\", \"two\"])\n")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runTests runs the tests of a directory, and keeps in it what is known about them.
func runTests(t *testing.T, dir string, args ...string) output {
	t.Helper()
	return runCommandIn(t, dir, []string{"XDG_CACHE_HOME=" + filepath.Join(dir, ".cache")}, append([]string{"test"}, args...)...)
}

// Promise 27.36 (desk): tests can be selected by name, by file, by last failure and by shard, ordered by a seed, and
// listed. A run without tests can be an error. A test that exceeds its time is named, and the others continue.
func TestPromise_27_36_Selection(t *testing.T) {
	dir := testFiles(t)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{8, "1 failed, 2 passed, 1 skipped", nil},
		{8, "1 failed", []string{"--failed"}},
		{0, "1 passed", []string{"--run", "one$"}},
		{0, "1 passed", []string{"b_test.star"}},
		{0, "2 passed", []string{"--run", "one|race"}},
		{0, "1 passed", []string{"--shard", "1/2", "--run", "one|race"}},
		{0, "1 passed (--shuffle=3)", []string{"--shuffle=3", "--run", "one"}},
		{0, "no tests", []string{"--run", "nothing.*"}},
		{8, "no tests", []string{"--run", "nothing.*", "--fail-on-empty"}},
		{0, "a_test.star:1: test_one", []string{"--list", "--run", "one"}},
	} {
		if got := runTests(t, dir, c.args...); got.code != c.code || !strings.HasSuffix(got.stdout, c.want+"\n") {
			t.Errorf("%v: exit %d, want %d and %q\n%s%s", c.args, got.code, c.code, c.want, got.stdout, got.stderr)
		}
	}
	write(t, dir, "slow_test.star", "def test_endless(t):\n    while True:\n        pass\n\ndef test_short(t):\n    pass\n")
	if got := runTests(t, dir, "--timeout", "200ms", "slow_test.star"); got.code != 8 || !strings.Contains(got.stdout, "failed  slow_test.star test_endless") || !strings.Contains(got.stdout, "1 failed, 1 passed") {
		t.Errorf("a test over its time: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// Promise 27.37 (desk): JUnit and JSON reports contain file, line, duration, tokens and cost of each test, and mark
// flaky and skipped tests.
func TestPromise_27_37_Reports(t *testing.T) {
	dir := testFiles(t)
	got := runTests(t, dir, "--repeat", "50", "--junit", "out.xml", "--json")
	data, err := os.ReadFile(filepath.Join(dir, "out.xml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<testsuite name="a_test.star" tests="3" failures="1" errors="0" skipped="1"`, `file="a_test.star" line="1"`, `<property name="flaky" value="true">`, `<property name="tokens" value="`, `<skipped message="todo">`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the JUnit report lacks %s:\n%s", want, data)
		}
	}
	var report struct {
		Flaky int
		Tests []struct {
			Status, Trace string
			Line, Tokens  int
			Flake         *struct{ Seeds []uint64 }
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil || report.Flaky != 1 || len(report.Tests) != 4 {
		t.Fatalf("the JSON report: %v\n%s", err, got.stdout)
	}
	if last := report.Tests[3]; last.Status != "flaky" || last.Line == 0 || last.Tokens == 0 || last.Flake == nil || last.Trace == "" {
		t.Errorf("the flaky test is %+v", last)
	}
}

// Promise 27.38 (desk): every failure keeps a trace.
func TestPromise_27_38_Traces(t *testing.T) {
	dir := testFiles(t)
	runTests(t, dir, "--trace-dir", "traces")
	kept, err := filepath.Glob(filepath.Join(dir, "traces", "*"))
	if err != nil || len(kept) != 1 || !strings.Contains(kept[0], "a_test.test_bad.") {
		t.Fatalf("the traces are %v, %v", kept, err)
	}
	info, err := os.Stat(kept[0])
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if data, err := os.ReadFile(kept[0]); err != nil || !strings.HasPrefix(string(data), `{"kind":"run","phase":"start"`) {
		t.Errorf("%v\n%s", err, data)
	}
}

// Promise 27.55 (desk): `--repeat N` runs each test on N seeds. A test whose verdict or events differ is reported as
// flaky, with both seeds and the first event that differs, and `--seed` repeats it.
func TestPromise_27_55_Flakes(t *testing.T) {
	dir := testFiles(t)
	got := runTests(t, dir, "--repeat", "50", "b_test.star")
	m := regexp.MustCompile(`passes with --seed (\d+) and fails with --seed (\d+)`).FindStringSubmatch(got.stderr)
	if got.code != 8 || m == nil || !strings.Contains(got.stderr, "the first event that differs is at main/") {
		t.Fatalf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	for i, code := range []int{0, 8} {
		if got := runTests(t, dir, "--seed", m[i+1], "b_test.star"); got.code != code {
			t.Errorf("--seed %s: exit %d, want %d", m[i+1], got.code, code)
		}
	}
}
