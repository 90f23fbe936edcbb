// Package starfmt formats scripts.
//
// The formatter underneath knows Starlark as Bazel has it, which lacks `while`. A script is
// therefore parsed as the engine parses it, its while statements are put as for statements
// while they are formatted, and the result is parsed again: a text that would not mean the
// same is refused.
package starfmt

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/bazelbuild/buildtools/build"
	"go.starlark.net/syntax"
)

// Error is a script that cannot be formatted. Line and Col are 0 when they are not known; Col
// counts runes from 1.
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

// Format gives the formatted text of a script, with \n as line end and without a byte order mark.
// Formatting it again changes nothing. The error is an [*Error].
func Format(src []byte) ([]byte, error) {
	if !utf8.Valid(src) {
		return nil, &Error{Msg: "the script is not UTF-8 text"}
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	tree, err := parse(src)
	if err != nil {
		return nil, err
	}
	marker := freshName(src)
	out, err := once(src, tree, marker)
	if err != nil {
		return nil, err
	}
	// A second pass settles what the first moved next to each other.
	if tree, err = parse(out); err != nil {
		return nil, changed(err.Error())
	}
	again, err := once(out, tree, marker)
	if err != nil {
		return nil, err
	}
	return again, nil
}

func once(src []byte, tree *syntax.File, marker string) ([]byte, error) {
	file, err := build.ParseDefault("", hideWhile(src, tree, marker))
	if err != nil {
		var at build.ParseError
		if errors.As(err, &at) {
			return nil, &Error{Line: at.Pos.Line, Col: at.Pos.LineRune, Msg: at.Message}
		}
		return nil, &Error{Msg: err.Error()}
	}
	keepStrings(file)
	out := build.FormatWithoutRewriting(file)
	after, err := parse(out)
	if err != nil {
		return nil, changed(err.Error())
	}
	out = showWhile(out, after, marker)
	after, err = parse(out)
	if err != nil {
		return nil, changed(err.Error())
	}
	if where, same := equal(tree, after); !same {
		return nil, changed(where)
	}
	return out, nil
}

func changed(what string) *Error {
	return &Error{Msg: "formatting would change what the script means and was not done: " + what}
}

// parse reads a script in the dialect that the engine runs.
func parse(src []byte) (*syntax.File, error) {
	o := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true}
	tree, err := o.Parse("", src, syntax.RetainComments)
	if err == nil {
		return tree, nil
	}
	var at syntax.Error
	if errors.As(err, &at) {
		return nil, &Error{Line: int(at.Pos.Line), Col: int(at.Pos.Col), Msg: at.Msg}
	}
	return nil, &Error{Msg: err.Error()}
}
