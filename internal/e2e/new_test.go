//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Each kind of project is made, checked, formatted, tested and run in a process without a network, not even the
// loopback interface.
func TestNewWithoutNetwork(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip("SKIPPED: unshare is not installed")
	}
	if out, err := exec.Command(unshare, "--map-root-user", "--net", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: there are no networks of processes here: %v %s", err, out)
	}
	bin, dir := command(t, nil)
	for _, kind := range []string{"agent", "pipeline", "branch", "tools", "mcp", "host", "test"} {
		cut := func(in string, args ...string) {
			cmd := exec.Command(unshare, append([]string{"--map-root-user", "--net", bin}, args...)...)
			cmd.Dir = in
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: agentscript %v: %v\n%s", kind, args, err, out)
			}
		}
		cut(dir, "new", kind, "--kind", kind)
		project := filepath.Join(dir, kind)
		scripts, err := filepath.Glob(filepath.Join(project, "*.star"))
		if err != nil || len(scripts) < 2 {
			t.Errorf("%s: %v %v", kind, scripts, err)
		}
		cut(project, append([]string{"check", "--strict"}, scripts...)...)
		cut(project, append([]string{"fmt", "--check"}, scripts...)...)
		cut(project, "test")
		cut(project, "run", "-q", "flow.star", "x", "--mock")
	}
}
