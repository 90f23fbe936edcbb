//go:build unix

package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/hang"
)

// host starts a server behind a shell, reports that, and waits to be killed.
func host() {
	exe, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	c := mcp.New(mcp.WithAllow(func(capability.Use) error { return nil }))
	spec := &remote.Server{Name: "s", Command: "/bin/sh", Args: []string{"-c", `trap "" TERM; "$EXE"; true`}, Transport: remote.TransportStdio,
		Env: []remote.Setting{{Name: asServer, Value: "stubborn"}, {Name: "EXE", Value: exe}, {Name: "PIDS", Value: os.Getenv("PIDS")}}}
	out := c.Do(context.Background(), &engine.Effect{Kind: engine.EffectMCP, Name: "s", Req: &remote.ListRequest{Server: spec}}, nil)
	fmt.Println("ready", out.Err)
	select {}
}

// Promise 24.16 (MCP): if a host is killed with kill -9, no process of a server is left, even if the server runs behind
// a shell and neither of them stops at the end of its input or at a signal that asks them to stop.
func TestPromise_24_16_KilledHost(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := hang.Command(t, exe)
	cmd.Env = append(os.Environ(), asServer+"=host", "PIDS="+pids)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready <nil>\n" {
		t.Fatalf("the host says %q, %v", line, err)
	}
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, word := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(word)
		if err != nil || !alive(pid) {
			t.Fatalf("%s is no process: %v", word, err)
		}
		all = append(all, pid)
	}
	if len(all) != 3 {
		t.Fatalf("server, shell and leader are %v", all)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for _, pid := range all {
		hang.Until(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !alive(pid) })
	}
}
