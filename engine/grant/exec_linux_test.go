package grant_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/internal/hang"
)

// killedEnv makes this test a host that is killed while its command runs in a directory.
const killedEnv = "AGENTSCRIPT_TEST_KILLED"

// family is a command that starts others: one that ignores signals to end, one whose parent has ended, one further
// down, and one in a separate session.
const family = `sh -c 'trap "" TERM HUP; echo stubborn >> begun; sleep 300; :' &
sh -c '(echo orphan >> begun; sleep 300; :) & :'
sh -c 'sh -c "echo deep >> begun; sleep 300; :"; :' &
setsid sh -c 'echo $$ > escaped; echo escaped >> begun; exec sleep 300' &
wait`

// living returns the processes that were started with a variable, and those of a group including its leader. Processes
// that have ended but were not collected are not included.
func living(t *testing.T, mark string, group int) (pids []int) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		env, _ := os.ReadFile(dir + "/environ") // empty for a process that has ended
		stat, _ := os.ReadFile(dir + "/stat")
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); bytes.Contains(env, []byte(mark)) || len(f) > 2 && f[0] != "Z" && f[2] == strconv.Itoa(group) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Promise 23.8 (capabilities): if a host is killed with kill -9, no process of a command that it ran is left, including
// children of children, whatever signals they ignore. Only a process that left the command's process group for its own
// session continues.
func TestPromise_23_8_KilledHost(t *testing.T) {
	if dir := os.Getenv(killedEnv); dir != "" {
		g := granted(t, grant.WorkDir(dir), grant.Exec("sh"), grant.Env("MARK"), environment(append(path(), "MARK", dir)...))
		touch(t, context.Background(), g, "sh.run", `{"command": ["sh", "-c", `+strconv.Quote(family)+`], "timeout": 250}`)
		return
	}
	dir := t.TempDir()
	mark := "MARK=" + dir
	if before := living(t, mark, -1); len(before) > 0 {
		t.Fatalf("before anything was started there are %v", before)
	}
	host := hang.Command(t, os.Args[0], "-test.run=^TestPromise_23_8_KilledHost$")
	host.Env = append(os.Environ(), killedEnv+"="+dir)
	host.Stderr = t.Output()
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	hang.Until(t, "all four begin", func() bool {
		begun, _ := os.ReadFile(dir + "/begun")
		return bytes.Count(begun, []byte("\n")) == 4
	})
	escaped := pidIn(t, dir+"/escaped")
	group := -1
	for _, pid := range living(t, mark, -1) {
		if pid != escaped {
			group, _ = syscall.Getpgid(pid)
		}
	}
	before := living(t, mark, group)
	if len(before) < 9 { // the leader, the command, the four, and what these wait for
		t.Errorf("%v run, in the group %d", before, group)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // it was killed
	defer syscall.Kill(escaped, syscall.SIGKILL)
	var left []int
	hang.Until(t, "the processes end", func() bool {
		left = living(t, mark, group)
		return len(left) <= 1
	})
	if len(left) != 1 || left[0] != escaped {
		t.Errorf("of %v there go on %v, want the one that left for its own session, %d", before, left, escaped)
	}
	t.Logf("%d processes before, %d after, and that is the one that left", len(before), len(left))
}
