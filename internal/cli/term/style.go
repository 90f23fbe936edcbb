package term

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/internal/text"
)

// Output is a stream of this process as texts are written to it: at a terminal what would steer it is
// shown instead; in a pipe or a file bytes stay what they are.
func Output(f *os.File) io.Writer {
	if Terminal(f) {
		return &safeWriter{w: f}
	}
	return f
}

// safeWriter writes texts through [text.Terminal]. A character that is split between writes waits for its rest.
type safeWriter struct {
	w      io.Writer
	rest   []byte
	before rune // the last character written
}

func (s *safeWriter) Write(p []byte) (int, error) {
	all := append(s.rest, p...)
	whole := len(all)
	for at := max(whole-utf8.UTFMax+1, 0); at < whole; at++ {
		if utf8.RuneStart(all[at]) && !utf8.FullRune(all[at:]) || at == whole-1 && all[at] == '\r' {
			whole = at
		}
	}
	if _, err := io.WriteString(s.w, text.TerminalBehind(s.before, string(all[:whole]))); err != nil {
		return 0, err
	}
	if whole > 0 {
		s.before, _ = utf8.DecodeLastRune(all[:whole])
	}
	s.rest = append(s.rest[:0], all[whole:]...)
	return len(p), nil
}

// lineWidth bounds the cells of a line in a question.
const lineWidth = 76

// folded breaks a line into lines that no terminal of 80 cells wraps. What follows a break is indented, so that nothing
// in the text looks like a line of the question. It breaks after a blank if possible. Characters that may be two cells
// wide count as two.
func folded(s string) string {
	const behind = "\n    | "
	var b strings.Builder
	cells := 0
	for s != "" {
		word, wide := firstWord(s, lineWidth-len(behind)+1)
		if s = s[len(word):]; cells > 0 && cells+wide > lineWidth {
			b.WriteString(behind)
			cells = len(behind) - 1
		}
		b.WriteString(word)
		cells += wide
	}
	return b.String()
}

// firstWord returns the first word of a text with the blanks after it, up to most cells, and its number of cells.
func firstWord(s string, most int) (word string, cells int) {
	blank := false
	for i, r := range s {
		wide := 1
		if r > 0x7e {
			wide = 2
		}
		if cells+wide > most || blank && r != ' ' {
			return s[:i], cells
		}
		cells += wide
		blank = r == ' '
	}
	return s, cells
}

// shown returns the whole of a text for a decision: its first line after begin, and each further line after a mark with
// which no line of the question begins.
func shown(begin, s string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		if i > 0 {
			inner := strings.TrimLeft(line, "\t") // indented lines keep their indentation
			begin, line = "    > "+strings.Repeat("    ", len(line)-len(inner)), inner
		}
		b.WriteString(strings.TrimRight(folded(begin+text.Visible(line)), " ") + "\n")
	}
	return b.String()
}
