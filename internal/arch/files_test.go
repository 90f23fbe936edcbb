package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// A file holds one idea. One with more than LongFile lines deserves a second look, one with more than MaxFile holds
// two.
const (
	LongFile = 350
	MaxFile  = 500
)

// Lengths returns the non-test Go files with more lines than limit, except generated ones.
func Lengths(sources []*Source, limit int) []Finding {
	var found []Finding
	for _, s := range sources {
		if s.Test() || ast.IsGenerated(s.File) {
			continue
		}
		if n := bytes.Count(s.Text, []byte("\n")); n > limit {
			found = append(found, Finding{s.Rel, fmt.Sprintf("%d lines, more than %d: it holds more than one idea", n, limit)})
		}
	}
	return found
}

// Undocumented returns the packages in which no non-test file, or more than one, has a package comment in the form that
// documentation tools expect.
func Undocumented(sources []*Source) []Finding {
	type pkg struct {
		name string
		docs []string // the files with a package comment
		form bool
	}
	pkgs := map[string]*pkg{}
	for _, s := range sources {
		if s.Test() {
			continue
		}
		p := pkgs[s.Dir()]
		if p == nil {
			p = &pkg{name: s.File.Name.Name}
			pkgs[s.Dir()] = p
		}
		if text := s.File.Doc.Text(); text != "" {
			p.docs = append(p.docs, s.Rel)
			p.form = p.name == "main" || strings.HasPrefix(text, "Package "+p.name+" ")
		}
	}
	var found []Finding
	for dir, p := range pkgs {
		switch {
		case len(p.docs) == 0:
			found = append(found, Finding{dir, "package " + p.name + " has no package comment"})
		case len(p.docs) > 1:
			slices.Sort(p.docs)
			found = append(found, Finding{dir, "package comments in " + strings.Join(p.docs, " and ")})
		case !p.form:
			found = append(found, Finding{p.docs[0], "the package comment does not begin with \"Package " + p.name + " \""})
		}
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Where, b.Where) })
	return found
}

// WordRule is a pattern that must not occur in the repository's files.
type WordRule struct {
	Pattern *regexp.Regexp
	Except  []string // path prefixes where it may
	Why     string
}

// WordRules keeps the repository about the product. The patterns are written so that they do not match themselves.
var WordRules = []WordRule{
	{regexp.MustCompile(`(?i)\bissue [#]`), nil, "name the behaviour: a number means nothing to a reader of the code"},
	{regexp.MustCompile(`(?i)\bsub[a]gent|\bhelper[ ]agent`), nil, "who wrote it is no matter of the product"},
	{regexp.MustCompile(`/work[/]`), nil, "a path of one machine"},
	{regexp.MustCompile(`(?i)\bproxy\.gol[a]ng\.org|\bregistry\.npm[j]s\.org`), nil, "the registry is the reader's choice"},
	{regexp.MustCompile(`(?i)\bagents[.]kt\b`), []string{"docs/"}, "another system's name"},
	{regexp.MustCompile(`(?i)\bk[o]og\b`), []string{"docs/", "flowjson/", "testdata/flowjson/", "examples/flowjson/", "CHANGELOG.md"}, "another system's name, where no format of it is cited"},
	{regexp.MustCompile(`(?i)\bseed('s)? (page|wiki|system)s?\b|\bDESIGN[.]md\b`), nil, "a text that the reader does not have"},
}

// Words returns each line of a file that a rule forbids. A file with a NUL byte is not text.
func Words(rel string, text []byte, rules []WordRule) []Finding {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	var found []Finding
	for _, rule := range rules {
		if slices.ContainsFunc(rule.Except, func(p string) bool { return strings.HasPrefix(rel, p) }) {
			continue
		}
		for _, at := range rule.Pattern.FindAllIndex(text, -1) {
			line := 1 + bytes.Count(text[:at[0]], []byte("\n"))
			found = append(found, Finding{fmt.Sprintf("%s:%d", rel, line), fmt.Sprintf("%q: %s", text[at[0]:at[1]], rule.Why)})
		}
	}
	return found
}
