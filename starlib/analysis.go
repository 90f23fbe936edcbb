package starlib

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/analysis"
)

// Analysis is what can be said of a file while it is written: unsaved, and perhaps half-typed. A statement that cannot
// be read is left out, and the others are checked as if it were there.
type Analysis struct {
	Findings diag.List // of a file that can be read as a whole, those of [Load]
	Blanked  []Range   // what was left out because it cannot be read

	opts      Options
	text      string
	recovered *analysis.Recovered
	module    *Module
}

// Range is a part of a text, in bytes.
type Range = analysis.Range

// Analyse loads the text of the entry script without what loading does beyond computing: nothing is printed. It
// reads the files that the script loads, and touches nothing else.
func Analyse(ctx context.Context, o Options, text []byte) *Analysis {
	o.Source, o.Print, o.Parsed = text, nil, nil
	if text == nil {
		o.Source = []byte{}
	}
	a := &Analysis{opts: o, text: string(text)}
	mark := len(text) - len(strings.TrimPrefix(a.text, string(byteOrderMark)))
	a.recovered = analysis.Recover(a.text[mark:])
	if a.recovered.Whole() {
		a.module, a.Findings = Load(ctx, o)
		return a
	}
	_, a.Findings = Load(ctx, o) // what is wrong with the syntax
	for _, b := range a.recovered.Blanked {
		a.Blanked = append(a.Blanked, Range{From: b.From + mark, To: b.To + mark})
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
