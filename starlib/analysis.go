package starlib

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/analysis"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// Analysis is what is known about a file that is being edited: it is unsaved and may be incomplete. A statement that
// cannot be parsed is left out, and the others are checked as if it were there.
type Analysis struct {
	Findings diag.List // for a file that parses as a whole, the findings of [Load]
	Blanked  []Range   // the parts left out because they cannot be parsed

	opts      Options
	text      string // without a byte order mark
	mark      int    // bytes of the byte order mark
	recovered *analysis.Recovered
	module    *Module
}

// The results of an analysis.
type (
	Range      = analysis.Range      // a range of bytes of a text
	Completion = analysis.Completion // what may appear at an offset
	Candidate  = analysis.Candidate  // one candidate of a completion
	Symbol     = analysis.Symbol     // the meaning of a name
	Signature  = analysis.Signature  // what an unfinished call may call
	Parameter  = analysis.Parameter  // one parameter of a signature
)

// Analyse loads the text of the entry script. It prints nothing, reads the files that the script loads, and has no
// other side effects.
func Analyse(ctx context.Context, o Options, text []byte) *Analysis {
	o.Source, o.Print, o.Parsed = text, nil, nil
	if text == nil {
		o.Source = []byte{}
	}
	a := &Analysis{opts: o, text: strings.TrimPrefix(string(text), string(byteOrderMark))}
	a.mark = len(text) - len(a.text)
	a.recovered = analysis.Recover(a.text)
	if a.recovered.Whole() {
		a.module, a.Findings = Load(ctx, o)
		return a
	}
	_, a.Findings = Load(ctx, o) // for its syntax errors
	for _, b := range a.recovered.Blanked {
		a.Blanked = append(a.Blanked, b.Moved(a.mark))
		if len(a.Blanked) > 1 && len(a.Blanked) <= mostExplained {
			o.Source = []byte(a.recovered.Only(b))
			_, wrong := Load(ctx, o)
			a.merge(wrong)
		}
	}
	o.Source = []byte(a.recovered.Text)
	var rest diag.List
	a.module, rest = load(ctx, o, &analysis.Query{Names: a.recovered.Lost})
	a.merge(slices.DeleteFunc(rest, func(d *diag.Diagnostic) bool { return d.Code == diag.UnusedAgent })) // what was left out may use it
	a.Findings.Sort()
	return a
}

// mostExplained bounds the number of omitted parts that are examined one by one.
const mostExplained = 10

// merge adds the findings that a does not hold yet.
func (a *Analysis) merge(more diag.List) {
	for _, d := range more {
		if !slices.ContainsFunc(a.Findings, func(o *diag.Diagnostic) bool {
			return o.Code == d.Code && o.Message == d.Message && reflect.DeepEqual(o.Span, d.Span)
		}) {
			a.Findings.Add(d)
		}
	}
}

// Sources returns the texts that findings quote. The text of the analysed file is the one that was passed to Analyse.
func (a *Analysis) Sources() diag.Sources {
	others := a.module.Sources()
	return diag.SourceFunc(func(file string) (string, bool) {
		if file == a.module.Path() && utf8.ValidString(a.text) {
			return a.text, true
		}
		return others.Source(file)
	})
}

// Files lists the files and directories of a tree that complete a typed path, each with a line that describes it. The
// path is relative to dir, a directory of the tree. Files follows no links.
func Files(tree fs.FS, dir, typed, suffix string) []Candidate {
	return analysis.Files(tree, dir, typed, suffix)
}

// Complete returns what may appear at a byte offset of the text. The statement at the offset is not executed.
func (a *Analysis) Complete(ctx context.Context, offset int) Completion {
	place := analysis.At(a.text, offset-a.mark)
	q, m := a.ask(ctx, place)
	c := viewOf(a.opts, m, q).Complete(place)
	c.Range = c.Moved(a.mark)
	return c
}

// Signatures returns the signatures of the call around a byte offset of the text, as far as they are known, and the
// parameter at the offset.
func (a *Analysis) Signatures(ctx context.Context, offset int) []Signature {
	q, m := a.ask(ctx, analysis.At(a.text, offset-a.mark))
	return viewOf(a.opts, m, q).Signatures()
}

// Symbol returns the meaning of the name at a byte offset of the text. It returns false if no name is there, or if
// nothing is known about it.
func (a *Analysis) Symbol(ctx context.Context, offset int) (Symbol, bool) {
	o := a.opts
	o.Source = []byte(a.recovered.Text)
	line, col := analysis.LineCol(a.text, offset-a.mark)
	q := analysis.ForSymbol(a.recovered.Lost, line, col)
	m, _ := load(ctx, o, q)
	s, ok := viewOf(o, m, q).Symbol(a.text, offset-a.mark)
	s.Range = s.Moved(a.mark)
	return s, ok
}

// ask loads the text to answer a query about a place. If a statement fails, loading of its file stops there; ask then
// leaves the statement out and loads the file again.
func (a *Analysis) ask(ctx context.Context, place *analysis.Place) (*analysis.Query, *Module) {
	o := a.opts
	for again := false; ; again = true {
		o.Source = []byte(place.Text)
		q := analysis.ForPlace(place)
		m, found := load(ctx, o, q)
		if again || m.entry.State == script.UnitDone {
			return q, m
		}
		var lines []int
		for _, d := range found {
			if d.Severity == diag.Error && d.Span.File == m.entry.Shown {
				lines = append(lines, d.Span.Line)
			}
		}
		if !place.Without(lines) {
			return q, m
		}
	}
}

// viewOf returns the view that an analysis has of a module.
func viewOf(o Options, m *Module, q *analysis.Query) *analysis.View {
	names := maps.Clone(m.entry.Globals)
	if names == nil {
		names = starlark.StringDict{}
	}
	for id, v := range m.entry.Loaded {
		names[id.Name] = v
	}
	return &analysis.View{Query: q, State: m.c, Table: m.table, Names: names, FS: o.FS, Dir: path.Dir(path.Clean(o.Entry)), Models: o.Models}
}
