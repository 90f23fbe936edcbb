// Package starfmt formats scripts.
//
// The underlying formatter handles Bazel's Starlark, which lacks `while`. A script is therefore parsed as the engine
// parses it, its while statements are replaced by for statements during formatting, and the result is parsed again: a
// text with a different meaning is rejected.
package starfmt

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/bazelbuild/buildtools/build"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// Error says why a script cannot be formatted. Line and Col are 0 if they are not known; Col counts runes from 1.
type Error struct {
	Line, Col int
	Msg       string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Msg)
}

// Format returns the formatted text of a script, with \n as line end and without a byte order mark. Formatting it again
// changes nothing. The underlying formatter looks at the whole of a chain of operators or calls for each of its links:
// a chain of the length that [startree.Deepest] allows takes about a second. The error is an [*Error].
func Format(src []byte) ([]byte, error) {
	if !utf8.Valid(src) {
		return nil, &Error{Msg: "the script is not UTF-8 text"}
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if deep := startree.MeasureSource(string(src), nil).Excess; deep != nil {
		return nil, &Error{Line: deep.Line, Col: deep.Col, Msg: "this is nested too deeply"}
	}
	tree, err := parse(src)
	if err != nil {
		return nil, err
	}
	if deep := startree.Walk(tree, nil); deep != nil {
		at, _ := deep.Span()
		return nil, &Error{Line: int(at.Line), Col: int(at.Col), Msg: "this is nested too deeply"}
	}
	marker := freshName(src, "while_")
	out, tree, err := once(src, tree, marker)
	if err != nil {
		return nil, err
	}
	// A second pass settles what the first one moved next to each other.
	out, _, err = once(out, tree, marker)
	return out, err
}

// once formats a script in one pass and returns the text and its tree.
func once(src []byte, tree *syntax.File, marker string) ([]byte, *syntax.File, error) {
	file, err := build.ParseDefault("", hideWhile(src, tree, marker))
	if err != nil {
		var at build.ParseError
		if errors.As(err, &at) {
			return nil, nil, &Error{Line: at.Pos.Line, Col: at.Pos.LineRune, Msg: at.Message}
		}
		return nil, nil, &Error{Msg: err.Error()}
	}
	keepStrings(file)
	out := build.FormatWithoutRewriting(file)
	after, err := parse(out)
	if err == nil {
		if shown := showWhile(out, after, marker); !bytes.Equal(shown, out) {
			out = shown
			after, err = parse(out)
		}
	}
	if err != nil || !equal(reflect.ValueOf(tree.Stmts), reflect.ValueOf(after.Stmts)) {
		return nil, nil, &Error{Msg: "formatting would change what the script means and was not done"}
	}
	return out, after, nil
}

// parse reads a script in the dialect that the engine runs, without its comments: attaching them
// takes time that grows with the square of the longest chain of operators.
func parse(src []byte) (*syntax.File, error) {
	o := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true}
	tree, err := o.Parse("", src, 0)
	if err == nil {
		return tree, nil
	}
	var at syntax.Error
	if errors.As(err, &at) {
		return nil, &Error{Line: int(at.Pos.Line), Col: int(at.Pos.Col), Msg: at.Msg}
	}
	return nil, &Error{Msg: err.Error()}
}
