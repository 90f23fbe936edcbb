package testverb

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/internal/text"
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

// unmatched reports names in --run that match no test. A literal name without a match is a mistake; a pattern may match
// nothing.
func unmatched(o *options, s *testrun.Selection, files []*testrun.File, broken bool) (found diag.List, problem *term.Failure) {
	if len(s.Run) == 0 {
		return nil, nil
	}
	var names []string
	for _, f := range files {
		for _, t := range f.Tests {
			if s.Accepts(t.Name) {
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

// rowless is like unmatched for tests inside of others.
func rowless(o *options, missed []*testrun.Result, broken bool) (found diag.List, problem *term.Failure) {
	if len(missed) == 0 {
		return nil, nil
	}
	test, row, _ := strings.Cut(o.run, "/")
	first := missed[0].Name
	var names []string
	for _, r := range missed {
		names = append(names, within(r)...)
		if r.Name == strings.Trim(test, "^$") {
			first = r.Name
		}
	}
	d := &diag.Diagnostic{Code: diag.NoTests, Message: fmt.Sprintf("%s has no test inside of it that matches %q", first, row), Help: []string{"it runs none"}}
	if n := len(missed) - 1; n > 0 {
		d.Message = fmt.Sprintf("%s and %s have no test inside of them that matches %q", first, text.Count(n, "other test"), row)
	}
	if len(names) > 0 {
		known := "there are " + strings.Join(names[:min(len(names), mostNames)], ", ")
		if more := len(names) - mostNames; more > 0 {
			known += fmt.Sprintf(" and %d more", more)
		}
		d.Help = []string{cmp.Or(diag.DidYouMean(row, names), known)}
	}
	if name := strings.Trim(row, "^$"); regexp.QuoteMeta(name) == name && !broken {
		return nil, &term.Failure{Code: term.ExitUsage, Found: diag.List{d}}
	}
	d.Severity = diag.Warning
	return diag.List{d}, nil
}

// mostNames bounds the names in a message.
const mostNames = 10

// within lists the tests inside a test that were not chosen, by their names relative to it.
func within(r *testrun.Result) []string {
	names := slices.Clone(r.Left)
	for _, sub := range r.Subs {
		for _, name := range within(sub) {
			names = append(names, sub.Name[len(r.Name)+1:]+"/"+name)
		}
	}
	return names
}

// key returns the name of a test in the record of the last failures.
func key(f *testrun.File, name string) string {
	at, err := filepath.Abs(f.Shown())
	if err != nil {
		at = f.Shown()
	}
	return at + ":" + name
}

// onlyFailed restricts a selection to the tests that failed last. For a file that was broken, it keeps all tests.
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
