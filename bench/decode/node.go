package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentscript/agentscript/bench/internal/measure"
)

// node runs the decoders from npm: each text once in a separate process, or repeatedly in a process that stays alive,
// so that they take turns with the Go decoders.
type node struct {
	dir     string
	version string
	server  *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

const nodeScript = "decode.mjs"

// openNode finds Node and the packages of the lock file, which it installs if they are missing. The error says why
// there are no figures for Node.
func openNode(dir string) (*node, error) {
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("no node: %w", err)
	}
	n := &node{dir: dir, version: strings.TrimSpace(string(out))}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		install := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		install.Dir = dir
		if out, err := install.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("npm ci in %s: %w: %s", dir, err, firstLine(string(out)))
		}
	}
	return n, nil
}

// command runs the script in one thread, like the Go engines.
func (n *node) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "node", append([]string{"--single-threaded", nodeScript}, args...)...)
	cmd.Dir = n.dir
	return cmd
}

// serve starts the process that stays alive.
func (n *node) serve() error {
	n.server = n.command(context.Background(), "serve")
	n.server.Stderr = os.Stderr
	var err error
	if n.in, err = n.server.StdinPipe(); err != nil {
		return err
	}
	out, err := n.server.StdoutPipe()
	if err != nil {
		return err
	}
	n.out = bufio.NewReader(out)
	return n.server.Start()
}

// close ends the process that stays alive by closing its input.
func (n *node) close() error {
	if n.server == nil {
		return nil
	}
	n.in.Close()
	err := n.server.Wait()
	n.server = nil
	return err
}

// inNode is a task for the process that stays alive.
type inNode struct {
	node   *node
	engine string
	file   string
}

func (t inNode) Run(turns int) (measure.Usage, error) {
	if t.node.server == nil {
		if err := t.node.serve(); err != nil {
			return measure.Usage{}, err
		}
	}
	ask, err := json.Marshal(map[string]any{"engine": t.engine, "file": t.file, "turns": turns})
	if err != nil {
		return measure.Usage{}, err
	}
	if _, err := t.node.in.Write(append(ask, '\n')); err != nil {
		return measure.Usage{}, err
	}
	line, err := t.node.out.ReadBytes('\n')
	if err != nil {
		return measure.Usage{}, fmt.Errorf("node: %w", err)
	}
	var o outcome
	if err := json.Unmarshal(line, &o); err != nil {
		return measure.Usage{}, err
	}
	if o.Err != "" {
		return measure.Usage{}, errors.New(o.Err)
	}
	return measure.Usage{CPU: o.CPU}, nil
}
