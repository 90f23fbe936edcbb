package grant_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/grant"
)

// killedEnv makes this test a host that is killed while its command runs, in a directory.
const killedEnv = "AGENTSCRIPT_TEST_KILLED"

// TestExecKilledHost: a command ends with a host that is killed without a word.
func TestExecKilledHost(t *testing.T) {
	if dir := os.Getenv(killedEnv); dir != "" {
		g := granted(t, grant.WorkDir(dir), grant.Exec("sh"), environment(path()...))
		touch(t, context.Background(), g, "sh.run", `{"command": ["sh", "-c", "echo $$ > child.new; mv child.new child; exec sleep 300"], "timeout": 250}`)
		return
	}
	dir := t.TempDir()
	host := exec.Command(os.Args[0], "-test.run=^TestExecKilledHost$")
	host.Env = append(os.Environ(), killedEnv+"="+dir)
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(dir + "/child"); err == nil || t.Context().Err() != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // it was killed
	gone(t, pidIn(t, dir+"/child"))
}
