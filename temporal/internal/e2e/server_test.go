package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/temporal"
	"github.com/agentscript/agentscript/temporal/blob"
)

// serverEnv names the command of the development server, as `make temporal-server` builds it. Without it tests that need a
// server are skipped.
const serverEnv = "AGENTSCRIPT_TEMPORAL_SERVER"

// server is a development server in a process of its own.
type server struct {
	cmd     *exec.Cmd
	address string
}

func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	path := os.Getenv(serverEnv)
	if path == "" {
		t.Skip(serverEnv + " names no server")
	}
	s, err := started(path, args...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func started(path string, args ...string) (*server, error) {
	cmd := exec.Command(path, append([]string{"--addr", "127.0.0.1:0", "--quiet", "--with-parent"}, args...)...)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // it ends with this process
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var said struct{ Address string }
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("the server said %q: %w", line, err)
	}
	return &server{cmd, said.Address}, nil
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
}

var (
	commonOnce sync.Once
	common     *server
	commonErr  error
)

// shared returns the server that most tests share.
func shared(t *testing.T) *server {
	t.Helper()
	path := os.Getenv(serverEnv)
	if path == "" {
		t.Skip(serverEnv + " names no server")
	}
	commonOnce.Do(func() {
		var args []string
		for name, of := range temporal.Attributes() {
			args = append(args, "--search-attribute", name+"="+of.String())
		}
		common, commonErr = started(path, args...)
	})
	if commonErr != nil {
		t.Fatal(commonErr)
	}
	return common
}

func stopServer() {
	if common != nil {
		common.kill()
	}
}

// cluster is a server with a client, a directory of blobs and a world in which effects are seen.
type cluster struct {
	*temporal.Store
	t      *testing.T
	server *server
	job    job
	client client.Client

	workers []*exec.Cmd
}

// on returns a cluster of its own queue on a server.
func on(t *testing.T, s *server) *cluster {
	t.Helper()
	dir := t.TempDir()
	cl := &cluster{t: t, server: s, job: job{Address: s.address, Queue: strings.ReplaceAll(t.Name(), "/", "."), Blobs: filepath.Join(dir, "blobs"), World: filepath.Join(dir, "world"), Sticky: -1}}
	c, err := client.Dial(client.Options{HostPort: s.address, Logger: log.NewStructuredLogger(silent)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	cl.client = c
	cl.with(temporal.Options{})
	return cl
}

// with has runs be started with other options.
func (c *cluster) with(o temporal.Options) {
	c.t.Helper()
	o.TaskQueue, o.Blobs = c.job.Queue, blob.Dir(c.job.Blobs)
	s, err := temporal.NewStore(c.client, o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.Store = s
}

// worker begins a worker process, which ends with the test at the latest.
func (c *cluster) worker(name string) *exec.Cmd {
	c.t.Helper()
	j := c.job
	j.Name = name
	text, err := json.Marshal(j)
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	c.workers = append(c.workers, cmd)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		c.t.Fatalf("the worker said %q, %v", line, err)
	}
	return cmd
}

// begin starts a run of a script.
func (c *cluster) begin(script string, opts ...agentscript.RunOption) string {
	c.t.Helper()
	m, err := worldly(&c.job).LoadBundle(c.t.Context(), engine.Bundle{Entry: "flow.star", Files: map[string][]byte{"flow.star": []byte(script)}}, "flow.star")
	if err != nil {
		c.t.Fatal(err)
	}
	id, err := c.Start(c.t.Context(), m, "main", opts...)
	if err != nil {
		c.t.Fatal(err)
	}
	return id
}

// ends waits for the end of a run, no longer than a minute and a half.
func (c *cluster) ends(id string) engine.RunInfo {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 90*time.Second)
	defer cancel()
	info, err := c.Wait(ctx, id)
	if err != nil {
		c.t.Fatal(err)
	}
	return info
}

// world returns what effects have said by now.
func (c *cluster) world() (lines []said) {
	c.t.Helper()
	text, err := os.ReadFile(c.job.World)
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var s said
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &s) == nil {
			lines = append(lines, s)
		}
	}
	return lines
}

// counts returns how often each effect began, and ended.
func (c *cluster) counts() (starts, ends map[string]int) {
	starts, ends = map[string]int{}, map[string]int{}
	for _, s := range c.world() {
		switch s.What {
		case "start":
			starts[s.ID]++
		case "end":
			ends[s.ID]++
		}
	}
	return starts, ends
}
