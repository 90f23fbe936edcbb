//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// genhtml, of lcov, reads the coverage of tests and shows the same totals.
func TestCoverageForGenhtml(t *testing.T) {
	genhtml, err := exec.LookPath("genhtml")
	if err != nil {
		t.Skip("SKIPPED: lcov is not installed: make e2e installs it as root")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"flow.star":      "def half(x):\n    if x > 1:\n        return x // 2\n    return 0 if x else 1\n\ndef unused():\n    return None\n",
		"flow_test.star": "load(\"flow.star\", \"half\")\n\ndef test_half(t):\n    t.eq(half(4), 2)\n    t.eq(half(0), 1)\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	bin := filepath.Join(dir, "agentscript")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/agentscript/agentscript/cmd/agentscript").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	shown := command(bin, "test", "--cover-out", "cover.info")
	if !strings.Contains(shown, "5 of 6") {
		t.Errorf("the report is\n%s", shown)
	}
	said := command(genhtml, "--branch-coverage", "--function-coverage", "--output-directory", "html", "cover.info")
	for _, total := range []string{"83.3% (5 of 6 lines)", "50.0% (1 of 2 functions)", "50.0% (1 of 2 branches)"} {
		if !strings.Contains(said, total) {
			t.Errorf("genhtml does not say %s:\n%s", total, said)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "html", filepath.Base(dir), "flow.star.gcov.html"))
	if err != nil {
		pages, _ := filepath.Glob(filepath.Join(dir, "html", "*", "*.html"))
		t.Fatalf("%v; there are %v", err, pages)
	}
	if !strings.Contains(string(page), "lineNoCov") {
		t.Error("no line is marked")
	}
}
