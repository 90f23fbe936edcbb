package arch

import (
	"go/scanner"
	"go/token"
	"strings"
)

// CodeLines counts the lines of a Go file that contain code, and are neither blank nor only a comment.
func CodeLines(text []byte) int {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, text, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && lit == "\n" { // an inserted semicolon
			continue
		}
		first := file.Line(pos)
		end := first + strings.Count(lit, "\n") // a text literal may have several lines
		n += end - max(first-1, last)
		last = end
	}
}
