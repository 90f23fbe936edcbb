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

// Analysis is what can be said of a file while it is written: unsaved, and perhaps half-typed. A statement that cannot
// be read is left out, and the others are checked as if it were there.
type Analysis struct {
	Findings diag.List // of a file that can be read as a whole, those of [Load]
	Blanked  []Range   // what was left out because it cannot be read

	opts      Options
	text      string // without a byte order mark
	mark      int    // bytes of the byte order mark
	recovered *analysis.Recovered
	module    *Module
}

// What an analysis answers.
type (
	Range      = analysis.Range      // a part of a text, in bytes
	Completion = analysis.Completion // what can stand at a place
	Candidate  = analysis.Candidate  // one thing that can stand there
	Symbol     = analysis.Symbol     // what a name stands for
	Signature  = analysis.Signature  // what a call that is being written calls
	Parameter  = analysis.Parameter  // one of a signature
)

// Analyse loads the text of the entry script without what loading does beyond computing: nothing is printed. It
// reads the files that the script loads, and touches nothing else.
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
	_, a.Findings = Load(ctx, o) // what is wrong with the syntax
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

// mostExplained bounds the parts that were left out of which each is looked into.
const mostExplained = 10

// merge adds findings that are not there yet.
func (a *Analysis) merge(more diag.List) {
	for _, d := range more {
		if !slices.ContainsFunc(a.Findings, func(o *diag.Diagnostic) bool {
			return o.Code == d.Code && o.Message == d.Message && reflect.DeepEqual(o.Span, d.Span)
		}) {
			a.Findings.Add(d)
		}
	}
}

// Sources returns the texts that findings quote, the analysed one as it is.
func (a *Analysis) Sources() diag.Sources {
	others := a.module.Sources()
	return diag.SourceFunc(func(file string) (string, bool) {
		if file == a.module.Path() && utf8.ValidString(a.text) {
			return a.text, true
		}
		return others.Source(file)
	})
}

// Files lists the files and directories of a tree that a path may name which begins with what is typed and is relative to a
// directory of the tree, each with a line about it. It follows no links.
func Files(tree fs.FS, dir, typed, suffix string) []Candidate {
	return analysis.Files(tree, dir, typed, suffix)
}

// Complete returns what can stand at an offset of the text, in bytes. The statement there is not executed.
func (a *Analysis) Complete(ctx context.Context, offset int) Completion {
	place := analysis.At(a.text, offset-a.mark)
	q, m := a.ask(ctx, place)
	c := viewOf(a.opts, m, q).Complete(place)
	c.Range = c.Moved(a.mark)
	return c
}

// Signatures returns what the call around an offset of the text may call, as far as it is known, and which parameter is
// being given there.
func (a *Analysis) Signatures(ctx context.Context, offset int) []Signature {
	q, m := a.ask(ctx, analysis.At(a.text, offset-a.mark))
	return viewOf(a.opts, m, q).Signatures()
}

// Symbol returns what the name at an offset of the text stands for; false where there is no name, or where nothing is
// known of it.
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

// ask loads the text for the sake of a place. A statement that fails ends the loading of its file: it is left out then,
// and the file is loaded again.
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

// viewOf is what a module makes known.
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
