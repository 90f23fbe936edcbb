// Command mutate changes lines that tests run, one at a time, and reports the changes that no test notices.
//
//	go run ./internal/tools/mutate [-n 20] [-seed 1] [-tests ./...] PACKAGE...
//
// It takes a sample, determined by the seed, of all changes that could be made to covered lines of the packages. A
// change is made in an overlay, never in the tree. It is noticed if the tests of a package that covers its line fail or
// time out: those of its own package are tried first, then the others, fastest first. A change that does not compile
// does not count, and is replaced by another. Files that import "testing" are tests themselves, and are not changed.
// Unnoticed changes are printed with their positions; the exit code is 0, since some changes have no effect.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	r := runner{out: os.Stdout, progress: os.Stderr}
	n := flag.Int("n", 20, "how many changes to make")
	seed := flag.Uint64("seed", 1, "which of them")
	flag.StringVar(&r.tests, "tests", "./...", "the packages whose tests are to notice them")
	flag.IntVar(&r.workers, "workers", runtime.NumCPU(), "how many changes are judged side by side")
	flag.DurationVar(&r.timeout, "timeout", 2*time.Minute, "what the tests of one package may take at most")
	flag.Parse()
	if err := r.sample(*n, *seed, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type runner struct {
	out, progress io.Writer
	tests         string
	timeout       time.Duration
	workers       int                      // changes judged concurrently
	dir           string                   // for temporary files
	took          map[string]time.Duration // the time of a package's tests
}

// sample makes n of the possible changes to the packages.
func (r *runner) sample(n int, seed uint64, patterns []string) error {
	if len(patterns) == 0 {
		return errors.New("name the packages whose lines are to be changed")
	}
	var err error
	if r.dir, err = os.MkdirTemp("", "mutate"); err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	dirs, err := list("{{.ImportPath}}\t{{.Dir}}", patterns...)
	if err != nil {
		return err
	}
	suites, err := list("{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", r.tests)
	if err != nil {
		return err
	}
	lines := coverage{}
	r.took = map[string]time.Duration{}
	for _, suite := range suites {
		if r.took[suite], err = r.cover(suite, strings.Join(patterns, ","), lines); err != nil {
			return err
		}
	}
	var all []change
	for _, line := range dirs {
		pkg, dir, _ := strings.Cut(line, "\t")
		found, err := changesOf(dir, lines[pkg])
		if err != nil {
			return err
		}
		for _, c := range found {
			c.order(pkg, r.took)
		}
		all = append(all, found...)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	could := len(all)
	rng.Shuffle(could, func(i, j int) { all[i], all[j] = all[j], all[i] })
	made, noticed := 0, 0
	for made < n && len(all) > 0 {
		batch := all[:min(n-made, len(all))] // the next batch replaces changes that do not compile
		all = all[len(batch):]
		verdicts, err := r.judgeAll(batch)
		if err != nil {
			return err
		}
		for _, v := range verdicts {
			if v != broken {
				made++
			}
			if v == seen {
				noticed++
			}
		}
	}
	_, err = fmt.Fprintf(r.out, "%d of %d changes noticed, of %d that could be made\n", noticed, made, could)
	return err
}

// judgeAll judges changes concurrently, and prints each unnoticed one as soon as that is known.
func (r *runner) judgeAll(batch []change) ([]verdict, error) {
	verdicts, failed := make([]verdict, len(batch)), make([]error, len(batch))
	var printing sync.Mutex
	var workers sync.WaitGroup
	next := make(chan int)
	for range max(1, r.workers) {
		workers.Go(func() {
			for i := range next {
				if verdicts[i], failed[i] = r.judge(batch[i]); failed[i] == nil && verdicts[i] == unseen {
					printing.Lock()
					fmt.Fprintln(r.out, batch[i])
					printing.Unlock()
				}
			}
		})
	}
	for i := range batch {
		if i > 0 && i%25 == 0 {
			fmt.Fprintf(r.progress, "mutate: %d of %d begun\n", i, len(batch))
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return verdicts, errors.Join(failed...)
}

// list returns one line for each package that the go command finds, without empty lines.
func list(form string, patterns ...string) ([]string, error) {
	out, err := exec.Command("go", append([]string{"list", "-f", form}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return line == "" }), nil
}

// coverage maps package, file name and line to the packages whose tests run the line.
type coverage map[string]map[string]map[int][]string

// cover runs the tests of a package, adds the lines of other packages that they run, and returns how long they took.
func (r *runner) cover(suite, packages string, lines coverage) (time.Duration, error) {
	profile := filepath.Join(r.dir, "profile")
	out, err := exec.Command("go", "test", "-short", "-vet=off", "-coverprofile", profile, "-coverpkg", packages, suite).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("the tests of %s fail as they are: %w\n%s", suite, err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return 0, err
	}
	var took time.Duration
	if words := strings.Fields(string(out)); len(words) > 2 {
		took, _ = time.ParseDuration(words[2]) // there is none for a cached result
	}
	return took, lines.read(suite, string(text))
}

// read adds the lines of a profile that ran: path/file.go:line.col,line.col statements count.
func (all coverage) read(suite, profile string) error {
	for line := range strings.Lines(profile) {
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		file, rest, _ := strings.Cut(line, ".go:")
		var from, to, statements, count, col int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &from, &col, &to, &col, &statements, &count); err != nil {
			return fmt.Errorf("profile: %q: %w", line, err)
		}
		pkg, name := path.Dir(file), path.Base(file)+".go"
		if all[pkg] == nil {
			all[pkg] = map[string]map[int][]string{}
		}
		if all[pkg][name] == nil {
			all[pkg][name] = map[int][]string{}
		}
		for l := from; l <= to && count > 0; l++ {
			if !slices.Contains(all[pkg][name][l], suite) {
				all[pkg][name][l] = append(all[pkg][name][l], suite)
			}
		}
	}
	return nil
}

// verdict is the result of the tests for a change.
type verdict int

const (
	unseen verdict = iota
	seen
	broken // it does not compile
)

// judge runs the tests with a change.
func (r *runner) judge(c change) (verdict, error) {
	dir, err := os.MkdirTemp(r.dir, "change")
	if err != nil {
		return broken, err
	}
	defer os.RemoveAll(dir)
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(changed, c.text, 0o600); err != nil {
		return broken, err
	}
	replace := fmt.Sprintf(`{"Replace": {%q: %q}}`, c.file, changed)
	if err := os.WriteFile(overlay, []byte(replace), 0o600); err != nil {
		return broken, err
	}
	for _, pkg := range c.tests {
		bound := min(r.timeout, 20*time.Second+5*r.took[pkg]) // beyond it, the tests are assumed to hang
		out, err := exec.Command("go", "test", "-short", "-vet=off", "-failfast", "-timeout", bound.String(), "-overlay", overlay, pkg).CombinedOutput()
		var failed *exec.ExitError
		switch {
		case errors.As(err, &failed) && bytes.Contains(out, []byte("[build failed]")):
			return broken, nil
		case errors.As(err, &failed):
			return seen, nil
		case err != nil:
			return broken, err
		}
	}
	return unseen, nil
}
