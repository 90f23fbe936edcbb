// Package pythonisms finds constructs of Python and other languages that people and models write into a Starlark file
// although Starlark lacks them: f-strings, try, classes, imports, annotations and the like. Each is reported at its
// token with a rewrite, made from the user's own text where possible.
//
// It reads tokens, not syntax trees: the parser stops at the first such habit, and all of them should be reported. In a
// file that Starlark accepts it finds nothing, except constructs that parse and fail later, such as "%.1f" % x.
package pythonisms

import (
	"errors"
	"slices"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
)

// Check returns the habits of a file, sorted by position. parseErr is the error of syntax.Parse for src, nil if it
// parses. If no habit explains it, the list includes it as AS101, with its position corrected.
//
// tokens is the expected number of tokens. Check looks at each token a bounded number of times. It ends early once
// stop, which may be nil, returns true, and then returns what it has found so far.
func Check(name string, src []byte, parseErr error, tokens int, stop func() bool) diag.List {
	f := newFile(name, string(src), tokens, stop)
	f.find()
	var list diag.List
	for _, x := range f.findings {
		list.Add(x.d)
	}
	if parseErr != nil {
		if d := f.syntaxError(parseErr); d != nil {
			list.Add(d)
		}
	}
	list.Sort()
	return list
}

// find looks for every habit. Statements come first: they explain words and
// operators that would otherwise be reported alone.
func (f *file) find() {
	for _, pass := range []func(*file){
		(*file).reservedHabits, (*file).annotations, (*file).softStatements, (*file).stringHabits,
		(*file).operatorHabits, (*file).comparisonChains, (*file).formatHabits, (*file).nameHabits,
	} {
		f.quota = len(f.findings) + mostFindings
		pass(f)
	}
}

// syntaxError converts the parser's error, unless a habit explains it: one that does not parse and is before the error
// or in its statement. The parser stops at the first error, so such a habit is the cause, unless an unclosed bracket
// before the error is.
func (f *file) syntaxError(err error) *diag.Diagnostic {
	var e syntax.Error
	if !errors.As(err, &e) || len(f.stmts) == 0 {
		return &diag.Diagnostic{Code: diag.SyntaxError, Message: err.Error(), Span: diag.Span{Pos: diag.Pos{File: f.name}}, Cause: err}
	}
	p := f.locate(e)
	explained := slices.ContainsFunc(f.findings, func(x finding) bool {
		return !x.parses && (x.since <= p.tok || f.toks[x.tok].stmt == f.toks[p.tok].stmt && p.tok > 0)
	})
	open := f.unclosed(p.tok)
	if explained && (open < 0 || p.tok != f.stmts[f.toks[p.tok].stmt].first) {
		return nil
	}
	return f.explain(e, p)
}
