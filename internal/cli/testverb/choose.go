package testverb

import (
	"cmp"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
)

// anySeed is --shuffle without a seed.
const anySeed = "any"

// selection reads the flags that choose tests.
func (o *options) selection() (*testrun.Selection, *term.Failure) {
	s := &testrun.Selection{StopAtFailed: o.stop}
	if o.run != "" {
		parts, err := testrun.ParseRun(o.run)
		if err != nil {
			return nil, term.Usagef("write a regular expression in the syntax of RE2: --run 'test_(a|b)'", "--run: %s", err)
		}
		s.Run = parts
	}
	if o.shard != "" {
		i, n, both := strings.Cut(o.shard, "/")
		var wrong, also error
		s.Shard, wrong = strconv.Atoi(i)
		s.Of, also = strconv.Atoi(n)
		if !both || wrong != nil || also != nil || s.Shard < 1 || s.Shard > s.Of {
			return nil, term.Usagef("write which part of how many: --shard 1/3, --shard 2/3, --shard 3/3", "--shard: there is no part %q", o.shard)
		}
	}
	switch o.shuffle {
	case "":
	case anySeed:
		s.Shuffle = rand.Uint64N(1_000_000) + 1
	default:
		seed, err := strconv.ParseUint(o.shuffle, 10, 64)
		if err != nil || seed == 0 {
			return nil, term.Usagef("write a whole number above 0: --shuffle=7; without one a seed is picked and shown", "--shuffle: want a seed, got %q", o.shuffle)
		}
		s.Shuffle = seed
	}
	for _, rule := range []struct {
		broken        bool
		help, message string
	}{
		{o.timeout <= 0, "write a duration above 0: --timeout 30s", "--timeout must be more than 0"},
		{o.quiet && o.verbose, "leave one of them out", "--quiet and --verbose contradict each other"},
		{o.repeat < 1, "1 runs each test once", "--repeat must be 1 or more"},
		{o.list && (o.junit != "" || o.update), "", "--list runs no test: --junit and --update do not go with it"},
		{o.repeat > 1 && o.live, "a live model answers differently each time", "--repeat compares runs: --live does not go with it"},
	} {
		if rule.broken {
			return nil, term.Usagef(rule.help, "%s", rule.message)
		}
	}
	return s, nil
}

// unmatched reports what --run names and no test is called. A name that is written out is a mistake, a pattern may
// match nothing.
func unmatched(o *options, s *testrun.Selection, files []*testrun.File, broken bool) (found diag.List, problem *term.Failure) {
	if len(s.Run) == 0 {
		return nil, nil
	}
	var names []string
	for _, f := range files {
		for _, t := range f.Tests {
			if s.Run[0].MatchString(t.Name) {
				return nil, nil
			}
			names = append(names, t.Name)
		}
	}
	pattern, _, _ := strings.Cut(o.run, "/")
	name := strings.Trim(pattern, "^$")
	help := cmp.Or(diag.DidYouMean(name, names), "agentscript test --list lists the tests that there are")
	if regexp.QuoteMeta(name) == name && !broken {
		return nil, &term.Failure{Code: term.ExitUsage, Found: diag.List{{Code: diag.NoTests, Message: "there is no test " + strconv.Quote(name), Help: []string{help}}}}
	}
	return diag.List{{Code: diag.NoTests, Severity: diag.Warning, Message: "no test matches --run " + strconv.Quote(pattern), Help: []string{help}}}, nil
}

// rowless reports tests that ran for the sake of one inside of them which they do not have.
func rowless(o *options, s *testrun.Selection, r *testrun.Result) *diag.Diagnostic {
	if len(s.Run) < 2 || len(r.Subs) > 0 || r.Status != testrun.Passed {
		return nil
	}
	_, row, _ := strings.Cut(o.run, "/")
	d := &diag.Diagnostic{Code: diag.NoTests, Severity: diag.Warning, Span: diag.Span{Pos: r.Pos}, Message: r.Name + " has no test inside of it that matches " + strconv.Quote(row)}
	if len(r.Left) > 0 {
		d.Help = []string{cmp.Or(diag.DidYouMean(row, r.Left), "it has "+strings.Join(r.Left, ", "))}
	}
	return d
}

// key names a test in the record of what failed last.
func key(f *testrun.File, name string) string {
	at, err := filepath.Abs(f.Shown())
	if err != nil {
		at = f.Shown()
	}
	return at + ":" + name
}

// onlyFailed restricts a selection to the tests that failed last; a file that was broken has all of its tests run.
func onlyFailed(s *testrun.Selection, files []*testrun.File, failed map[string]bool) {
	s.Only = map[string]bool{}
	for _, f := range files {
		for _, t := range f.Tests {
			if failed[key(f, t.Name)] || failed[key(f, "")] {
				s.Only[f.Shown()+":"+t.Name] = true
			}
		}
	}
}
