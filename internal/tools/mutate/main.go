// Command mutate changes lines that tests run, one at a time, and says which changes no test notices.
//
//	go run ./internal/tools/mutate [-n 20] [-seed 1] [-tests PKG,PKG] [-with ./internal/conformance] PACKAGE...
//
// Of all changes that could be made to lines that the tests of the packages, or of -tests, cover, it takes a
// sample by the seed. A change is made in an overlay, never in the tree. It is noticed when the tests of its
// package, of -tests or of -with fail or run out of time, in this order; one that does not compile counts for
// nothing, and another is made. What is not noticed is printed with its place; the exit code is 0, since some
// changes change nothing.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	r := runner{out: os.Stdout}
	n := flag.Int("n", 20, "how many changes to make")
	seed := flag.Uint64("seed", 1, "which of them")
	flag.Func("tests", "packages whose tests cover lines of the others and are run for each change", func(list string) error {
		r.tests = strings.Split(list, ",")
		return nil
	})
	flag.StringVar(&r.with, "with", "", "a package whose tests are run as well where those of the package notice nothing")
	flag.DurationVar(&r.timeout, "timeout", 2*time.Minute, "what the tests of one package may take")
	flag.Parse()
	if err := r.sample(*n, *seed, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type runner struct {
	out     io.Writer
	tests   []string
	with    string
	timeout time.Duration
	dir     string // for what is written meanwhile
}

// sample makes n of the changes that could be made to the packages.
func (r *runner) sample(n int, seed uint64, patterns []string) error {
	if len(patterns) == 0 {
		return errors.New("name the packages whose lines are to be changed")
	}
	var err error
	if r.dir, err = os.MkdirTemp("", "mutate"); err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	listed, err := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, patterns...)...).Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	covered, err := r.covered(patterns)
	if err != nil {
		return err
	}
	var all []change
	for line := range strings.Lines(string(listed)) {
		pkg, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		found, err := changesOf(pkg, dir, covered[pkg])
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	made, noticed := 0, 0
	for _, c := range all {
		if made == n {
			break
		}
		switch verdict, err := r.judge(c); {
		case err != nil:
			return err
		case verdict == seen:
			made, noticed = made+1, noticed+1
		case verdict == unseen:
			made++
			fmt.Fprintln(r.out, c)
		}
	}
	_, err = fmt.Fprintf(r.out, "%d of %d changes noticed, of %d that could be made\n", noticed, made, len(all))
	return err
}

// covered runs the tests of the packages, and those of -tests, and returns the packages' lines that they run.
func (r *runner) covered(patterns []string) (map[string]map[string]map[int]bool, error) {
	profile := filepath.Join(r.dir, "profile")
	args := append([]string{"test", "-short", "-coverprofile", profile, "-coverpkg", strings.Join(patterns, ",")}, patterns...)
	if out, err := exec.Command("go", append(args, r.tests...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the tests fail as they are: %w\n%s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	return linesOf(string(text))
}

// linesOf reads the lines that ran out of a profile, by package and name of the file:
// path/file.go:line.col,line.col statements count.
func linesOf(profile string) (map[string]map[string]map[int]bool, error) {
	lines := map[string]map[string]map[int]bool{}
	for line := range strings.Lines(profile) {
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		file, rest, _ := strings.Cut(line, ".go:")
		var from, to, statements, count, col int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &from, &col, &to, &col, &statements, &count); err != nil {
			return nil, fmt.Errorf("profile: %q: %w", line, err)
		}
		pkg, name := path.Dir(file), path.Base(file)+".go"
		if lines[pkg] == nil {
			lines[pkg] = map[string]map[int]bool{}
		}
		if lines[pkg][name] == nil {
			lines[pkg][name] = map[int]bool{}
		}
		for l := from; l <= to && count > 0; l++ {
			lines[pkg][name][l] = true
		}
	}
	return lines, nil
}

// verdict is what tests make of a change.
type verdict int

const (
	unseen verdict = iota
	seen
	broken // it does not compile
)

// judge runs the tests with a change.
func (r *runner) judge(c change) (verdict, error) {
	changed, overlay := filepath.Join(r.dir, "changed.go"), filepath.Join(r.dir, "overlay.json")
	if err := os.WriteFile(changed, c.text, 0o600); err != nil {
		return broken, err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{c.file: changed}})
	if err != nil {
		return broken, err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return broken, err
	}
	for _, pkg := range slices.Concat([]string{c.pkg}, r.tests, []string{r.with}) {
		if pkg == "" {
			continue
		}
		out, err := exec.Command("go", "test", "-short", "-vet=off", "-failfast", "-timeout", r.timeout.String(), "-overlay", overlay, pkg).CombinedOutput()
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
