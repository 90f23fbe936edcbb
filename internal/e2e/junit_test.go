//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// junitTests have tests with each outcome, and texts that XML must escape.
var junitTests = map[string]string{
	"flow.star": "left = agent(name = \"left\", prompt = \"Left.\")\nright = agent(name = \"right\", prompt = \"Right.\")\nboth = left / right\n",
	"a_test.star": `load("flow.star", "both", "left")

def test_good(t):
    print("<b>&\x1b[31m ]]> 工作")
    t.reply("left", "one")
    t.eq(left("x"), "one")

def test_bad(t):
    t.reply("left", "<a href='x'>&amp; ]]>\u202e 工作\x00")
    t.eq(left("x"), "two")

def test_rows(t):
    t.each([{"name": "a 'quoted' <row>", "n": 1}, {"name": "b", "n": 2}], lambda t, r: t.eq(r["n"], 1))

def todo_later(t):
    pass

def test_skipped(t):
    t.skip("not here & now")

def test_race(t):
    t.reply("*", "one", "two")
    t.eq(both("x")[0], "one")
`,
	"broken_test.star": "def test_x(t)\n",
}

// Other programs read from a JUnit report what the command counts: 3 of 8 failed, 1 could not run, 2 were skipped.
func TestJUnitForOthers(t *testing.T) {
	bin, dir := command(t, junitTests)
	cmd := exec.Command(bin, "test", "--repeat", "30", "--junit", "report.xml", "--trace-dir", "traces", "a_test.star", "broken_test.star")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 8 {
		t.Fatalf("%v\n%s", err, out)
	}
	reads := func(t *testing.T, name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	t.Run("xmllint", func(t *testing.T) {
		xmllint, err := exec.LookPath("xmllint")
		if err != nil {
			t.Skip("SKIPPED: xmllint is not installed: make e2e installs it as root")
		}
		if said := reads(t, xmllint, "--noout", "--nonet", "report.xml"); said != "" {
			t.Error(said)
		}
		for query, want := range map[string]string{
			"string(/testsuites/@tests)":                                            "8",
			"count(//testcase)":                                                     "8",
			"count(//testcase[failure])":                                            "3",
			"count(//testcase[error])":                                              "1",
			"count(//testcase[skipped])":                                            "2",
			"string(//testcase[@name='test_race']/failure/@type)":                   "flaky",
			"string(//testcase[@name='test_race']//property[@name='flaky']/@value)": "true",
			"string(//testcase[@name='test_bad']/@line)":                            "8",
			"string(//testcase[@name='test_good']/system-out)":                      `<b>&\u001b[31m ]]> 工作`,
			"count(//properties[not(property)])":                                    "0",
		} {
			if got := strings.TrimSpace(reads(t, xmllint, "--xpath", query, "report.xml")); got != want {
				t.Errorf("%s is %s, want %s", query, got, want)
			}
		}
	})
	t.Run("junit2json", func(t *testing.T) {
		module := installed(t, "node_modules", "junit2json", "dist", "esm", "index.js")
		script, err := filepath.Abs("testdata/junit.mjs")
		if err != nil {
			t.Fatal(err)
		}
		var report struct {
			Tests, Failures, Errors, Skipped int
			Suites                           []struct {
				Name                             string
				Tests, Failures, Errors, Skipped int
				Cases                            []struct {
					Name    string
					File    string
					Line    int
					Failure []struct{ Message, Inner, Type string }
				} `json:"testcase"`
			} `json:"testsuite"`
		}
		if err := json.Unmarshal([]byte(reads(t, "node", script, module, "report.xml")), &report); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(report.Tests, report.Failures, report.Errors, report.Skipped); got != "8 3 1 2" || len(report.Suites) != 2 {
			t.Fatalf("it reads %s in %d suites", got, len(report.Suites))
		}
		a := report.Suites[0]
		if got := fmt.Sprint(a.Tests, a.Failures, a.Errors, a.Skipped, len(a.Cases)); got != "7 3 0 2 7" || a.Name != "a_test.star" {
			t.Errorf("of the first suite it reads %s", got)
		}
		bad := a.Cases[1]
		if bad.Name != "test_bad" || bad.File != "a_test.star" || bad.Line != 8 || len(bad.Failure) != 1 || bad.Failure[0].Type != "AS801" ||
			!strings.Contains(bad.Failure[0].Message, `<a href='x'>&amp; ]]>\u202e 工作\u0000`) || !strings.Contains(bad.Failure[0].Inner, "a_test.star:10:") {
			t.Errorf("of the test that fails it reads %+v", bad)
		}
	})
	t.Run("xunit-viewer", func(t *testing.T) {
		viewer := installed(t, "node_modules", "xunit-viewer", "bin", "xunit-viewer.js")
		shown := reads(t, "node", viewer, "-r", "report.xml", "-o", "report.html", "-c", "-C", "-n")
		for _, want := range []string{"1 error", "2 passed", "2 skipped", "3 failure", "✗ test_rows/b", "✓ test_rows/a_'quoted'_<row>", "! (file)", "⊘ test_skipped", "not here & now", "flaky"} {
			if !strings.Contains(shown, want) {
				t.Errorf("it does not show %q:\n%s", want, shown)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "report.html")); err != nil {
			t.Error(err)
		}
	})
}
