package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

// outcome is what a run of the tests said about one promise.
type outcome struct {
	state  string // holds, not built, skipped, FAILS
	reason string // of the middle two
	output string // of a failure
}

func (o outcome) String() string {
	if o.reason == "" {
		return o.state
	}
	return o.state + ": " + o.reason
}

const notBuilt = "not built"

// logLine is a line that a test printed through t.Log and its kin.
var logLine = regexp.MustCompile(`^\s+[A-Za-z0-9_]+\.go:[0-9]+: (.*)$`)

// event is a line of test2json.
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// run executes the promises' tests below root and returns their outcomes by promise.key. A
// package that does not build fails all promises in it.
func run(root, module string, promises []*promise) (map[string]outcome, error) {
	var pkgs []string
	for _, p := range promises {
		pkgs = append(pkgs, "./"+p.pkg)
	}
	slices.Sort(pkgs)
	cmd := exec.Command("go", append([]string{"test", "-json", "-timeout", "20m", "-run", "^" + prefix}, slices.Compact(pkgs)...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // a failing test is an outcome, no error
		return nil, fmt.Errorf("go test: %w", err)
	}
	results, rerr := read(&stdout, module)
	if rerr != nil {
		return nil, fmt.Errorf("go test: %w\n%s", rerr, stderr.String())
	}
	for _, p := range promises {
		if _, ok := results[p.key()]; !ok {
			results[p.key()] = outcome{state: "FAILS", output: cmp.Or(results["./"+p.pkg].output, stderr.String(), "the test did not run\n")}
		}
	}
	return results, nil
}

// read turns a test2json stream into outcomes: of top-level tests under "./dir Test", of packages
// under "./dir".
func read(r io.Reader, module string) (map[string]outcome, error) {
	results := map[string]outcome{}
	output := map[string]*strings.Builder{}
	for dec := json.NewDecoder(r); ; {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return results, nil
		} else if err != nil {
			return nil, err
		}
		pkg := cmp.Or(e.Package, strings.Fields(e.ImportPath + " -")[0]) // a build's events name "path [path.test]"
		key := "./" + path.Clean(strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/"))
		if test, _, _ := strings.Cut(e.Test, "/"); test != "" {
			key += " " + test
		}
		if output[key] == nil {
			output[key] = new(strings.Builder)
		}
		switch e.Action {
		case "output", "build-output":
			output[key].WriteString(e.Output)
		case "pass", "skip", "fail", "build-fail":
			if strings.Contains(e.Test, "/") {
				continue
			}
			results[key] = judge(e.Action, output[key].String())
		}
	}
}

func judge(action, output string) outcome {
	switch action {
	case "pass":
		return outcome{state: "holds"}
	case "skip":
		var reason string
		for _, line := range strings.Split(output, "\n") {
			if m := logLine.FindStringSubmatch(line); m != nil {
				reason = m[1]
			}
		}
		if rest, ok := strings.CutPrefix(reason, notBuilt+": "); ok {
			return outcome{state: notBuilt, reason: rest}
		}
		return outcome{state: "skipped", reason: reason}
	}
	return outcome{state: "FAILS", output: output}
}
