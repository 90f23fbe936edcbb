// Command conformance writes docs/conformance.md from the tests named TestPromise_AREA_ITEM_Words, whose comments say
// what each of them promises to users, and from LOG, which is the output of go test -v.
//
//	go run ./internal/tools/conformance LOG          write the page
//	go run ./internal/tools/conformance              write it with its current states: tests were moved or reworded
//	go run ./internal/tools/conformance -check LOG   compare: 1 if the page is stale
//	go run ./internal/tools/conformance -check       compare only numbers, texts and tests
//
// A promise that fails, or did not run, results in exit code 1 in each mode with a LOG. A promise whose test was
// skipped with a reason that begins with "not here: " keeps its state in the page: its test needs a server that takes
// minutes to build, and whether one is built is not a property of the promise.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentscript/agentscript/internal/arch"
)

const target = "docs/conformance.md"

func main() {
	check := flag.Bool("check", false, "compare the page with the tests instead of writing it")
	flag.Parse()
	root, err := arch.Root()
	if err == nil {
		err = work(root, *check, flag.Arg(0), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// work writes or checks the page of the repository at root and reports on w.
func work(root string, check bool, log string, w io.Writer) error {
	sources, err := arch.Sources(root)
	if err != nil {
		return err
	}
	promises, problems := collect(sources)
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	if log != "" {
		if err := read(log, promises); err != nil {
			return err
		}
		report(w, promises)
	}
	file := filepath.Join(root, filepath.FromSlash(target))
	stands, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	keepStates(string(stands), promises, func(p *promise) bool { return log == "" || p.state == notHere })
	made := page(promises)
	if check {
		if diff := differences(string(stands), made); diff != nil {
			return fmt.Errorf("%s is not what the tests say; run make conformance\n%s", target, strings.Join(diff, "\n"))
		}
	} else if err := os.WriteFile(file, []byte(made), 0o644); err != nil {
		return err
	}
	for _, p := range promises {
		if log != "" && p.state == failed {
			return errors.New("a promise fails")
		}
	}
	return nil
}

// report prints each promise that was skipped or failed, and the count.
func report(w io.Writer, promises []*promise) {
	for _, p := range promises {
		switch p.state {
		case holds:
		case failed:
			fmt.Fprintf(w, "FAILS %s %s (%s)\n", p.number(), p.test, p.where)
		default:
			fmt.Fprintf(w, "SKIP  %s %s: %s: %s\n", p.number(), p.test, p.state, p.reason)
		}
	}
	fmt.Fprintln(w, summary(promises))
}
