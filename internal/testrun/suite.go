package testrun

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/starlib"
)

// Find lists the test files of paths, sorted. A directory stands for the files in and below it. Directories whose names
// begin with a dot are skipped.
func Find(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, filepath.Clean(p))
			continue
		}
		err = filepath.WalkDir(p, func(at string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && at != p && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
				return fs.SkipDir
			case !d.IsDir() && IsTest(d.Name()):
				if info, err := os.Stat(at); err != nil || info.Mode().IsRegular() { // a pipe would never end
					files = append(files, at)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Selection determines which tests run, and in which order. The zero Selection runs all in source order.
type Selection struct {
	Run          [][]*regexp.Regexp // alternative patterns for names, each a list: for the test, and for those inside it
	Only         map[string]bool    // by file and name, FILE:NAME; nil means all
	Shard, Of    int                // part Shard of Of, from 1; 0 means all
	Shuffle      uint64             // the seed of a random order; 0 keeps the order
	StopAtFailed bool
	AtOnce       int // the number of concurrent tests; 0 is one per processor
}

// ParseRun reads patterns for names, separated by |. Each is a list of regular expressions for the parts of a name,
// separated by slashes, as for go test -run.
func ParseRun(pattern string) ([][]*regexp.Regexp, error) {
	var all [][]*regexp.Regexp
	for _, one := range splitOutside(pattern, '|') {
		var parts []*regexp.Regexp
		for _, p := range splitOutside(one, '/') {
			re, err := regexp.Compile(p)
			if err != nil {
				return nil, fmt.Errorf("%q is not a regular expression: %s", p, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			}
			parts = append(parts, re)
		}
		all = append(all, parts)
	}
	return all, nil
}

// splitOutside splits a regular expression at a character outside of its brackets.
func splitOutside(pattern string, sep byte) (parts []string) {
	begin, open, class := 0, 0, false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			open++
		case c == ')':
			open--
		case c == sep && open <= 0:
			parts = append(parts, pattern[begin:i])
			begin = i + 1
		}
	}
	return append(parts, pattern[begin:])
}

// Accepts reports whether the test with a name runs.
func (s *Selection) Accepts(name string) bool {
	return s.Run == nil || slices.ContainsFunc(s.Run, func(parts []*regexp.Regexp) bool { return accepts(parts, name) })
}

func accepts(parts []*regexp.Regexp, name string) bool {
	for i, part := range strings.Split(name, "/") {
		if i < len(parts) && !parts[i].MatchString(part) {
			return false
		}
	}
	return true
}

// reaches reports whether a selection chose a test that ran, or one inside it: a pattern with a slash only chooses
// those.
func (s *Selection) reaches(r *Result) bool {
	chosen := func(parts []*regexp.Regexp) bool {
		return len(parts) <= 1+strings.Count(r.Name, "/") && accepts(parts, r.Name)
	}
	return s.Run == nil || slices.ContainsFunc(s.Run, chosen) || slices.ContainsFunc(r.Subs, s.reaches)
}

// Report is the result of the tests of a file.
type Report struct {
	*File
	Results []*Result
	Missed  []*Result // tests that passed and contain none of the chosen inner tests
	Unused  diag.List // snapshots that no test used
	Err     error     // an error in storing snapshots
}

// Any reports whether the selection chooses a test of some files, even if it belongs to another shard.
func (s *Selection) Any(files []*File) bool {
	whole := *s
	whole.Of = 0
	return slices.ContainsFunc(whole.Chosen(files), func(tests []starlib.Test) bool { return tests != nil })
}

// Chosen lists the tests of files that the selection runs, as pairs of file and test.
func (s *Selection) Chosen(files []*File) [][]starlib.Test {
	chosen := make([][]starlib.Test, len(files))
	n := 0
	for i, f := range files {
		if f.Broken {
			continue
		}
		for _, t := range f.Tests {
			if !s.Accepts(t.Name) || s.Only != nil && !s.Only[f.shown+":"+t.Name] {
				continue
			}
			if n++; s.Of > 0 && n%s.Of != s.Shard%s.Of {
				continue
			}
			chosen[i] = append(chosen[i], t)
		}
		if s.Shuffle != 0 {
			r := rand.New(rand.NewPCG(s.Shuffle, uint64(i)))
			r.Shuffle(len(chosen[i]), func(a, b int) { chosen[i][a], chosen[i][b] = chosen[i][b], chosen[i][a] })
		}
	}
	return chosen
}

// RunAll runs the chosen tests of files, several concurrently, and calls done with each report in the order of the
// files.
func (s *Selection) RunAll(ctx context.Context, files []*File, done func(*Report)) {
	chosen := s.Chosen(files)
	atOnce := s.AtOnce
	if atOnce <= 0 {
		atOnce = runtime.GOMAXPROCS(0)
	}
	slots := make(chan struct{}, atOnce)
	var failed atomic.Bool
	finished := make([]chan *Report, len(files))
	for i, f := range files {
		finished[i] = make(chan *Report, 1)
		go func() {
			r := &Report{File: f, Results: make([]*Result, len(chosen[i]))}
			var all sync.WaitGroup
			for n, t := range chosen[i] {
				slots <- struct{}{}
				all.Go(func() {
					defer func() { <-slots }()
					if s.StopAtFailed && failed.Load() || ctx.Err() != nil {
						return
					}
					r.Results[n] = f.Run(ctx, t, s.Accepts)
					if r.Results[n].Status.Bad() {
						failed.Store(true)
					}
				})
			}
			all.Wait()
			r.Results = slices.DeleteFunc(r.Results, func(res *Result) bool {
				missed := res != nil && res.Status == Passed && !s.reaches(res)
				if missed {
					r.Missed = append(r.Missed, res)
				}
				return res == nil || missed
			})
			sorting.By(r.Results, func(a, b *Result) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
			if !f.Broken {
				r.Unused, r.Err = f.Snapshots(r.Results)
			}
			finished[i] <- r
		}()
	}
	for i := range files {
		done(<-finished[i])
	}
}
