package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/hang"
)

// serverEnv names the development server that `make temporal-server` builds.
const serverEnv = "AGENTSCRIPT_TEMPORAL_SERVER"

// The five lines at the beginning of docs/temporal.md run a script on two workers. The test adds what they leave to
// defaults: a free port, and prepared answers.
func TestFirstLinesOfThePage(t *testing.T) {
	server := os.Getenv(serverEnv)
	switch {
	case server == "":
		t.Skip("not here: " + serverEnv + " names no server")
	case runtime.GOOS == "windows":
		t.Skip("the lines are for a Unix shell")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "temporal.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(string(page), "\n```sh\nmake build temporal temporal-server && ")
	lines, _, _ = strings.Cut(lines, "\n```\n")
	var verbs []string
	for _, line := range strings.Split(lines, "\n")[1:] { // the first one builds
		line, _, _ = strings.Cut(line, " #")
		verbs = append(verbs, strings.TrimSpace(line))
	}
	if len(verbs) != 4 {
		t.Fatalf("the page has %q", verbs)
	}

	bin, dir := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{
		filepath.Join(bin, "agentscript"):                    "#!/bin/sh\nshift\nexec agentscript-temporal \"$@\"\n",
		filepath.Join(bin, "agentscript-temporal-devserver"): "#!/bin/sh\nexec '" + server + "' \"$@\"\n",
		filepath.Join(dir, "flow.star"):                      "poet = agent(prompt = \"Write a line.\")\nmain = poet\n",
		filepath.Join(dir, "answers.jsonl"):                  "{\"agent\": \"poet\", \"text\": \"Rain again.\"}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close() // the server takes it
	shell := func(line string) (*exec.Cmd, *bytes.Buffer) {
		cmd := hang.Command(t, "sh", "-c", "exec "+line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "TEMPORAL_ADDRESS="+address, "NO_COLOR=1")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		return cmd, &errs
	}
	begin := func(line, ready string) {
		t.Helper()
		line, beside := strings.CutSuffix(line, " &")
		if !beside {
			t.Fatalf("%q does not go on beside the others", line)
		}
		logFile, err := os.CreateTemp(dir, "log")
		if err != nil {
			t.Fatal(err)
		}
		defer logFile.Close()
		cmd, _ := shell(line)
		cmd.Stdout, cmd.Stderr = logFile, logFile
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
		})
		hang.Until(t, line+" is ready", func() bool {
			text, err := os.ReadFile(logFile.Name())
			return err == nil && strings.Contains(string(text), ready)
		})
	}
	begin(strings.Replace(verbs[0], " &", " --addr "+address+" &", 1), `"address"`)
	for _, line := range verbs[1:3] {
		begin(strings.Replace(line, " &", " --scripted answers.jsonl &", 1), "ready:")
	}
	run, errs := shell(verbs[3])
	if out, err := run.Output(); err != nil || string(out) != "Rain again.\n" {
		t.Errorf("%s: %v\n%s%s", verbs[3], err, out, errs)
	}
}
