// Package source reads Starlark files: it parses them, finds the calls and operators at positions and the variables
// that take their values, and finds the mistakes that are visible in the syntax tree alone. It executes nothing and
// knows no builtins itself; Lint receives what it needs to know about them.
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
	marks  map[int][]int32                 // for long lines that are not ASCII, the offsets of runes at regular distances
	calls  []nodeAt                        // by opening parenthesis
	ops    []nodeAt                        // by operator
	names  map[spot]string                 // the variables that take the values of calls and operators
	starts map[syntax.Node]syntax.Position // starts of links of long chains
	loops  map[spot]bool                   // the calls, by opening parenthesis, whose value a for iterates over
	bodies []body                          // bodies of the defs, enclosing ones first

	crossed *routes // see [File.CrossedFunction]; computed on demand
}

// A spot is a position within the current file.
type spot struct{ line, col int32 }

func at(p syntax.Position) spot { return spot{p.Line, p.Col} }

func (s spot) before(t spot) bool { return s.compare(t) < 0 }

func (s spot) compare(t spot) int {
	return cmp.Or(cmp.Compare(s.line, t.line), cmp.Compare(s.col, t.col))
}

// Options returns the options of the dialect of scripts. A budget of steps bounds what While and Recursion allow.
func Options() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true}
}

// Parse parses a file whose positions carry the name file. The list holds the syntax error, if there is one, and the
// recognised habits of other languages; it may contain errors even if the file was parsed. The File is nil after a
// syntax error.
//
// The tree has no comments: to attach them takes the syntax package time that grows with the square of the longest
// chain of operators, and a service that checks scripts of others must not be delayed by one line.
//
// All passes except the interpreter's parser end early once stop, which may be nil, returns true; the result is then
// meaningless.
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

// notText reports the first byte that is not valid UTF-8, or is NUL. The scanner would read an invalid byte as a
// separate character, which could not leave the script, and NUL as the end of the file.
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
	d := &diag.Diagnostic{Code: diag.SyntaxError, Message: fmt.Sprintf("the file is not UTF-8 text: byte 0x%02x", src[at]), Help: []string{"save it as UTF-8"},
		Span: diag.Span{Pos: diag.Pos{File: file, Line: len(before), Col: utf8.RuneCountInString(before[len(before)-1]) + 1}, Len: 1}}
	if src[at] == 0 {
		d.Message, d.Help = "the file holds a NUL byte", []string{"remove it: what follows it would not be read; in a string write \"\\x00\""}
	}
	return d
}

// Syntax returns the tree. The caller may resolve it, but must not change it otherwise.
func (f *File) Syntax() *syntax.File { return f.tree }
