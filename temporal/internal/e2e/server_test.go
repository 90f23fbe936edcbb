package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/temporal"
)

// serverEnv names the command of the development server that `make temporal-server` builds. Without it, tests that need
// a server are skipped.
const serverEnv = "AGENTSCRIPT_TEMPORAL_SERVER"

// freeAddress is the address for a server that takes a free port.
const freeAddress = "127.0.0.1:0"

// server is a development server in a separate process.
type server struct {
	cmd     *exec.Cmd
	address string
}

func startServer(t *testing.T, address string, args ...string) *server {
	t.Helper()
	path := os.Getenv(serverEnv)
	if path == "" {
		t.Skip("not here: " + serverEnv + " names no server")
	}
	s, err := launch(path, address, args...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func launch(path, address string, args ...string) (*server, error) {
	cmd := exec.Command(path, append([]string{"--addr", address, "--quiet", "--with-parent"}, args...)...)
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
	var ready struct{ Address string }
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("the server said %q: %w", line, err)
	}
	return &server{cmd, ready.Address}, nil
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
		t.Skip("not here: " + serverEnv + " names no server")
	}
	commonOnce.Do(func() {
		var args []string
		for name, of := range temporal.Attributes() {
			args = append(args, "--search-attribute", name+"="+of.String())
		}
		common, commonErr = launch(path, freeAddress, args...)
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
