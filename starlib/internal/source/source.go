// Package source reads Starlark files: it parses them, answers where a call or an
// operator stands and which variable takes its value, and finds the mistakes that
// can be seen in the syntax tree alone. It executes nothing and knows no builtin
// by itself; what it needs to know of them is given to Lint.
package source

import (
	"bytes"
	"cmp"
	"fmt"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/pythonisms"
)

// A File is a parsed file and the index of its positions. It is immutable.
type File struct {
	tree   *syntax.File
	lines  []string                        // without line ends
	marks  map[int][]int32                 // of long lines that are not ASCII, where every so many runes begin
	calls  []nodeAt                        // by opening parenthesis
	ops    []nodeAt                        // by operator
	names  map[spot]string                 // the variables that take the values of calls and operators
	starts map[syntax.Node]syntax.Position // of links of long chains
	loops  map[spot]bool                   // the calls, by opening parenthesis, whose value a for goes through
	bodies []body                          // of the defs, an enclosing one first

	crossed *routes // see [File.CrossedFunction]; nil until it is asked
}

// A spot is a position within the file at hand.
type spot struct{ line, col int32 }

func at(p syntax.Position) spot { return spot{p.Line, p.Col} }

func (s spot) before(t spot) bool { return s.compare(t) < 0 }

func (s spot) compare(t spot) int {
	return cmp.Or(cmp.Compare(s.line, t.line), cmp.Compare(s.col, t.col))
}

// Options are those of the dialect that scripts are written in. A budget of
// steps bounds what While and Recursion could do.
func Options() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true}
}

// Parse reads a file whose positions will carry the name file. The list holds the
// syntax error, if there is one, and the habits of other languages that were
// recognised; it may hold errors although the file could be parsed. The File is
// nil on a syntax error.
//
// The tree has no comments: to attach them takes the syntax package time that
// grows with the square of the longest chain of operators, and whoever checks
// other people's scripts must not be held up by one line.
//
// All but the parser of the interpreter ends once stop, which may be nil, reports true; what is
// returned then means nothing.
func Parse(file string, src []byte, stop func() bool) (*File, diag.List) {
	if bad := notText(file, src); bad != nil {
		return nil, diag.List{bad}
	}
	all := string(src)
	measure := startree.MeasureSource(all, stop)
	if deep := measure.Excess; deep != nil {
		return nil, diag.List{tooDeep(diag.Span{Pos: diag.Pos{File: file, Line: deep.Line, Col: deep.Col}, Len: 1}, deep.Why)}
	}
	if stop != nil && stop() {
		return nil, nil
	}
	tree, err := Options().Parse(file, src, 0)
	if stop != nil && stop() {
		return nil, nil
	}
	found := pythonisms.Check(file, src, err, measure.Tokens, stop)
	if err != nil {
		return nil, found
	}
	f := &File{tree: tree, lines: text.Lines(all)}
	f.mark()
	if deep, ok := f.index(stop); !ok {
		found.Add(deep)
		found.Sort()
		return nil, found
	}
	return f, found
}

// notText reports the first byte that is no UTF-8, or NUL. The scanner would take the one for a
// character of its own, which could not leave the script, and the other for the end of the file.
func notText(file string, src []byte) *diag.Diagnostic {
	if utf8.Valid(src) && bytes.IndexByte(src, 0) < 0 {
		return nil
	}
	at := 0
	for at < len(src) && src[at] != 0 {
		r, size := utf8.DecodeRune(src[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	before := text.Lines(string(src[:at]))
	d := &diag.Diagnostic{Code: diag.SyntaxError, Message: fmt.Sprintf("the file is no UTF-8 text: byte 0x%02x", src[at]), Help: []string{"save it as UTF-8"},
		Span: diag.Span{Pos: diag.Pos{File: file, Line: len(before), Col: utf8.RuneCountInString(before[len(before)-1]) + 1}, Len: 1}}
	if src[at] == 0 {
		d.Message, d.Help = "the file holds a NUL byte", []string{"remove it: what stands behind it would not be read; in a string write \"\\x00\""}
	}
	return d
}

// Syntax returns the tree, which the caller must not change but by resolving it.
func (f *File) Syntax() *syntax.File { return f.tree }
