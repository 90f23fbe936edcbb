package repl

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/starlib"
)

// input is a source of entries.
type input interface {
	// next returns the next entry. The error is errInterrupted if the line was cleared, and errEnded at the end.
	next() (string, error)
	interactive() bool // a person types
	close()
}

var (
	errInterrupted = errors.New("interrupted")
	errEnded       = errors.New("the input ended")
)

// open opens the terminal, or the pipe.
func (s *session) open() (input, error) {
	if s.c.StdinTerminal && s.c.Env("TERM") != "dumb" {
		return newTerminal(s)
	}
	return &pipe{in: bufio.NewReader(s.c.Stdin)}, nil
}

// pipe reads entries that are not typed. An entry ends where the next line begins a new statement.
type pipe struct {
	in    *bufio.Reader
	ahead string // a line that belongs to the next entry
	ended bool
}

func (p *pipe) interactive() bool { return false }

func (p *pipe) close() {}

func (p *pipe) next() (string, error) {
	var entry strings.Builder
	for {
		line, err := p.line()
		if err != nil {
			return "", err
		}
		if line == "" { // the end
			if strings.TrimSpace(entry.String()) == "" {
				return "", errEnded
			}
			return entry.String(), nil
		}
		if p.begins(entry.String(), line) {
			p.ahead = line
			return entry.String(), nil
		}
		entry.WriteString(line)
		if text := entry.String(); strings.TrimSpace(text) == "" {
			entry.Reset()
		} else if isCommand(text) || !compound(text) && complete(text) {
			return text, nil
		}
	}
}

// begins reports whether a line begins a new statement after a complete one.
func (p *pipe) begins(before, line string) bool {
	if strings.TrimSpace(before) == "" || strings.TrimSpace(line) == "" || strings.ContainsAny(line[:1], " \t#)]}") {
		return false
	}
	for _, word := range []string{"else", "elif"} {
		if strings.HasPrefix(line, word) {
			return false
		}
	}
	if strings.HasPrefix(line, "def ") && strings.HasPrefix(strings.TrimSpace(before), "def ") {
		return false // functions that call each other are one entry
	}
	return parses(before)
}

// line reads a line with its end. It returns "" at the end of the input.
func (p *pipe) line() (string, error) {
	if line := p.ahead; line != "" {
		p.ahead = ""
		return line, nil
	}
	var b strings.Builder
	for !p.ended {
		part, err := p.in.ReadSlice('\n')
		b.Write(part)
		if b.Len() > starlib.DefaultMaxSource {
			return "", &term.Failure{Code: term.ExitFailed, Found: diag.List{{Message: "a line of the input is longer than an entry may be"}}}
		}
		if err == nil {
			break
		}
		if err == io.EOF {
			p.ended = true
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			return "", &term.Failure{Code: term.ExitFailed, Found: diag.List{{Message: "the input cannot be read: " + term.FileProblem(err)}}}
		}
	}
	return b.String(), nil
}

// isCommand reports whether an entry is a command, not a statement.
func isCommand(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, ":") || strings.HasPrefix(text, "?")
}

// complete reports whether a typed text is a complete entry. More can only follow a block, which an empty line ends.
func complete(text string) bool {
	if strings.TrimSpace(text) == "" || isCommand(text) {
		return true
	}
	if compound(text) {
		return strings.HasSuffix(strings.TrimRight(text, " \t"), "\n") || !parses(text) && !open(text)
	}
	return !open(text)
}

// parses reports whether a text has no syntax error.
func parses(text string) bool {
	_, err := options.Parse("entry", text, 0)
	return err == nil
}

// open reports whether a text is only incomplete: a bracket or a quote is open, or a block is missing.
func open(text string) bool {
	_, err := options.Parse("entry", strings.TrimRight(text, "\n")+"\n", 0)
	wrong, ok := errors.AsType[syntax.Error](err)
	if !ok {
		return false
	}
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	return strings.Contains(wrong.Msg, "unexpected EOF in string") || int(wrong.Pos.Line) > lines
}

// compound reports whether the last line of a text belongs to a block.
func compound(text string) bool {
	lines := strings.Split(strings.TrimRight(text, " \t\n"), "\n")
	last := strings.TrimRight(lines[len(lines)-1], " \t")
	if last == "" || open(text) && !strings.HasSuffix(last, ":") {
		return false
	}
	if strings.HasSuffix(last, ":") {
		return true
	}
	return len(lines) > 1 && strings.ContainsAny(last[:1], " \t") && parses(text) && endsInBlock(text)
}

// endsInBlock reports whether the last statement of a text has a block.
func endsInBlock(text string) bool {
	tree, err := options.Parse("entry", text, 0)
	if err != nil || len(tree.Stmts) == 0 {
		return false
	}
	switch tree.Stmts[len(tree.Stmts)-1].(type) {
	case *syntax.DefStmt, *syntax.IfStmt, *syntax.ForStmt, *syntax.WhileStmt:
		return true
	}
	return false
}

// options are the options of the dialect.
var options = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
