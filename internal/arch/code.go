package arch

import (
	"go/scanner"
	"go/token"
	"strings"
)

// CodeLines counts the lines of a Go file that hold code: neither blank nor a comment alone.
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
		if tok == token.SEMICOLON && lit == "\n" { // one that nobody wrote
			continue
		}
		first := file.Line(pos)
		end := first + strings.Count(lit, "\n") // a text may have several lines
		n += end - max(first-1, last)
		last = end
	}
}
