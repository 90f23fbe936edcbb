package conformance

import (
	"os"
	"strings"
	"testing"
)

// A verb whose result cannot be written fails.
func TestResultOfRunsVerbsThatIsNotWritten(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    return wait(\"go\", str)\n")
	h.want(nil, strings.Fields("run flow.star q -q"), 5)
	for _, line := range []string{"ls", "ls --json", "show last", "show last --follow", "cost", "gc", "export last", "answer last --result 1 --json", "fork last --plan", "rm last --json", "--help"} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip("there is no full device here:", err)
		}
		if strings.HasPrefix(line, "answer") {
			line = strings.Replace(line, "1", `"1"`, 1)
		}
		cmd := h.command(nil, strings.Fields("runs "+line)...)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = full, &said
		_ = cmd.Run() // its exit code is enough
		full.Close()
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "no space left on device") {
			t.Errorf("runs %s: exit %d: %s", line, code, said.String())
		}
	}
}
