// Command conformance writes docs/conformance.md from the tests named TestPromise_AREA_ITEM_Words,
// whose comments say what each of them promises to users.
//
//	go run ./internal/tools/conformance              run the tests and write the page
//	go run ./internal/tools/conformance -check       run them and compare: 1 if the page is stale
//	go run ./internal/tools/conformance -check -run=false   compare numbers, texts and tests alone
//
// A promise that fails ends in exit code 1 in each mode that runs the tests.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentscript/agentscript/internal/arch"
)

const target = "docs/conformance.md"

func main() {
	check := flag.Bool("check", false, "compare the page with the tests instead of writing it")
	runs := flag.Bool("run", true, "run the tests; -run=false with -check leaves the states out")
	flag.Parse()
	root, err := arch.Root()
	if err == nil {
		err = work(root, *check, *runs, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// work does what the flags say for the repository at root and reports on w.
func work(root string, check, runs bool, w io.Writer) error {
	if !check && !runs {
		return errors.New("-run=false only makes sense with -check: the page shows what the tests said")
	}
	sources, err := arch.Sources(root)
	if err != nil {
		return err
	}
	promises, problems := collect(sources)
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	results := map[string]outcome{}
	if runs {
		module, err := moduleOf(root)
		if err != nil {
			return err
		}
		if results, err = run(root, module, promises); err != nil {
			return err
		}
		report(w, promises, results)
	}
	made := page(promises, results)
	file := filepath.Join(root, filepath.FromSlash(target))
	if check {
		stands, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if diff := differences(string(stands), made, runs); diff != nil {
			return fmt.Errorf("%s is not what the tests say; run make conformance\n%s", target, strings.Join(diff, "\n"))
		}
	} else if err := os.WriteFile(file, []byte(made), 0o644); err != nil {
		return err
	}
	for _, p := range promises {
		if results[p.key()].state == "FAILS" {
			return errors.New("a promise fails")
		}
	}
	return nil
}

// report prints each promise that was skipped or fails, and the count.
func report(w io.Writer, promises []*promise, results map[string]outcome) {
	for _, p := range promises {
		r := results[p.key()]
		switch r.state {
		case "holds":
			continue
		case "FAILS":
			fmt.Fprintf(w, "FAILS %s %s (%s)\n%s", p.number(), p.test, p.where, r.output)
		default:
			fmt.Fprintf(w, "SKIP  %s %s: %s\n", p.number(), p.test, r)
		}
	}
	fmt.Fprintln(w, summary(promises, results))
}

// moduleOf returns the path of the module at root.
func moduleOf(root string) (string, error) {
	cmd := exec.Command("go", "list", "-m")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
