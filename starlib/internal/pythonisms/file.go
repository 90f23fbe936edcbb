package pythonisms

import (
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// A stmt is a simple statement or the header of a compound one, up to and including its colon.
type stmt struct {
	first, last int  // tokens [first, last)
	indent      int  // cells before its line; one more for a statement after a colon on its line
	header      bool // ends with the colon that opens a block
}

// A file is a tokenized source and the findings in it.
type file struct {
	name     string
	src      string
	toks     []token
	stmts    []stmt
	bound    map[string]bool // names that the file binds anywhere
	used     map[int]bool    // tokens that a finding already explains
	chained  map[int]bool    // operators of chains of comparisons that were reported
	modules  []importedModules
	findings []finding

	quota int         // the most findings allowed at the end of the pass
	stop  func() bool // nil, or reports whether to end early
	seen  int         // tokens visited by passes
	over  bool        // stop has returned true
}

// mostFindings bounds the findings of a pass: a file with more of them is not Starlark, and is checked again after
// fixing these.
const mostFindings = 200

// stopEvery is the number of tokens a pass looks at between two calls of stop.
const stopEvery = 1024

// more reports whether a pass continues with its next token.
func (f *file) more() bool {
	if f.seen++; f.seen%stopEvery == 0 && f.stop != nil && !f.over {
		f.over = f.stop()
	}
	return !f.over && len(f.findings) < f.quota
}

// A finding is a diagnostic and what is needed to weigh it against the parser's
// own error.
type finding struct {
	d      *diag.Diagnostic
	tok    int  // the token it is reported at
	since  int  // the first token that it explains
	parses bool // the parser accepts this habit: it cannot explain a syntax error
}

func newFile(name, src string, tokens int, stop func() bool) *file {
	f := &file{name: name, src: src, toks: lex(src, tokens, stop), bound: map[string]bool{}, used: map[int]bool{}, chained: map[int]bool{}, stop: stop}
	f.split()
	f.bind()
	return f
}

// headers are the words that begin a statement with a block.
var headers = words("if elif else for while def class try except finally with async")

// keywords are the names that cannot be operands: Starlark's own, and Python's that Starlark reserves.
var keywords = words(`and break continue def elif else for if in lambda load not or pass return while
	as async await class del except finally from global import is nonlocal raise try with yield`)

// reserved are the keywords that must not occur in a Starlark file.
var reserved = words("as async await class del except finally from global import is nonlocal raise try with yield")

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// split splits the logical lines into statements.
func (f *file) split() {
	for i := 0; i < len(f.toks) && f.toks[i].kind != kEOF; {
		end := i
		for f.toks[end].kind != kNewline {
			end++
		}
		f.splitLine(i, end)
		i = end + 1
	}
	f.toks[len(f.toks)-1].stmt = max(0, len(f.stmts)-1)
}

func (f *file) splitLine(from, to int) {
	indent := f.indentOf(from)
	first := from
	close := func(end int, header bool) {
		if end > first {
			s := stmt{first: first, last: end, indent: indent, header: header}
			if first > from {
				s.indent++
			}
			for i := first; i < end; i++ {
				f.toks[i].stmt = len(f.stmts)
			}
			f.stmts = append(f.stmts, s)
		}
	}
	for i := from; i < to; i++ {
		t := &f.toks[i]
		switch {
		case t.open != -1:
		case t.is(";"):
			close(i, false)
			t.stmt = max(0, len(f.stmts)-1)
			first = i + 1
		case t.is(":") && !t.lambda && f.toks[first].kind == kName && headers[f.toks[first].text]:
			close(i+1, true)
			first = i + 1
		}
	}
	close(to, false)
	f.toks[to].stmt = max(0, len(f.stmts)-1)
}

// indentOf measures the space before the line of token i as the Starlark
// scanner does.
func (f *file) indentOf(i int) int {
	off := f.toks[i].off
	start := strings.LastIndexAny(f.src[:off], "\r\n") + 1
	n := 0
	for _, c := range f.src[start:off] {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// block returns the statements [from, to) that belong to header s.
func (f *file) block(s int) (from, to int) {
	from, to = s+1, s+1
	if !f.stmts[s].header {
		return
	}
	for to < len(f.stmts) && f.stmts[to].indent > f.stmts[s].indent {
		to++
	}
	return
}

// bind collects the names that are assigned, looped over, defined, loaded or parameters anywhere. It may collect too
// many, but not too few.
func (f *file) bind() {
	for _, s := range f.stmts {
		first := &f.toks[s.first]
		target := s.first
		for i := s.first; i < s.last; i++ {
			t := &f.toks[i]
			switch {
			case t.kind == kName && (t.params || first.is("load")),
				first.is("def") && (i == s.first+1 || t.kind == kName && t.open != -1):
				f.bound[t.text] = true
			case first.is("load") && t.kind == kString:
				f.bound[literalOf(t.text).body] = true
			case t.is("="), t.is(":="):
				if t.open == -1 || t.is(":=") {
					f.bindAll(target, i)
					target = i + 1
				}
			case t.is("for"):
				end := i + 1
				for end < s.last && end-i < longest && !f.toks[end].is("in") {
					end++
				}
				f.bindAll(i+1, end)
			}
		}
	}
}

func (f *file) bindAll(from, to int) {
	for i := from; i < to; i++ {
		if f.toks[i].kind == kName && !f.before(i).is(".") {
			f.bound[f.toks[i].text] = true
		}
	}
}

// nothing stands for a token outside the statement.
var nothing = token{kind: kNewline, open: -1, match: -1}

// before returns the token before i in its statement.
func (f *file) before(i int) *token {
	if i-1 < f.stmts[f.toks[i].stmt].first {
		return &nothing
	}
	return &f.toks[i-1]
}

// after returns the token after i in its statement.
func (f *file) after(i int) *token {
	if i+1 >= f.stmts[f.toks[i].stmt].last {
		return &nothing
	}
	return &f.toks[i+1]
}

// span returns the span of tokens [a, b), as far as they are on one line.
func (f *file) span(a, b int) diag.Span {
	t, last := &f.toks[a], &f.toks[max(a, b-1)]
	s := diag.Span{Pos: diag.Pos{File: f.name, Line: t.line, Col: t.col}}
	if s.Len = last.endCol - t.col; last.endLine != t.line {
		s.Len = utf8.RuneCountInString(f.lineFrom(t.off))
	}
	return s
}

// lineFrom returns the rest of the line at a byte offset.
func (f *file) lineFrom(off int) string {
	rest := f.src[off:]
	if n := strings.IndexAny(rest, "\r\n"); n >= 0 {
		rest = rest[:n]
	}
	return rest
}

// report adds a finding about tokens [a, b).
func (f *file) report(code diag.Code, a, b int, message string, help ...string) *diag.Diagnostic {
	for i := range help {
		if len(help[i]) > longestRemedy {
			help[i] = text.Clip(help[i], longestRemedy)
		}
	}
	d := &diag.Diagnostic{Code: code, Message: message, Span: f.span(a, b), Help: help}
	f.findings = append(f.findings, finding{d: d, tok: a, since: a})
	return d
}

// replace reports tokens [a, b), which Starlark spells differently.
func (f *file) replace(code diag.Code, a, b int, message, fixed string) *diag.Diagnostic {
	d := f.report(code, a, b, message, write(fixed))
	f.fix(d, a, b, fixed)
	return d
}

// soft marks the last finding as one that the parser accepts.
func (f *file) soft() { f.findings[len(f.findings)-1].parses = true }

// The bounds on what a finding repeats of the file.
const (
	mostShown     = 2000 // tokens
	longestRemedy = 4000 // bytes of a help text
)

// fix offers to replace tokens [a, b), if they are on one line.
func (f *file) fix(d *diag.Diagnostic, a, b int, replacement string) {
	first, last := &f.toks[a], &f.toks[b-1]
	if first.line != last.endLine || b-a > mostShown {
		return
	}
	at := f.span(a, b)
	d.Fixes = append(d.Fixes, diag.Fix{Message: "replace by " + replacement, Span: at, Replacement: replacement})
}

// write returns the help that shows code.
func write(code string) string {
	if !strings.Contains(code, "\n") {
		return "write `" + code + "`"
	}
	return "write\n    " + strings.ReplaceAll(code, "\n", "\n    ")
}
