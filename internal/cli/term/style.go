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

// safeWriter writes what [text.Terminal] makes of a text. A character that is cut in two waits for its rest.
type safeWriter struct {
	w    io.Writer
	rest []byte
}

func (s *safeWriter) Write(p []byte) (int, error) {
	all := append(s.rest, p...)
	whole := len(all)
	for at := max(whole-utf8.UTFMax+1, 0); at < whole; at++ {
		if utf8.RuneStart(all[at]) && !utf8.FullRune(all[at:]) || at == whole-1 && all[at] == '\r' {
			whole = at
		}
	}
	if _, err := io.WriteString(s.w, text.Terminal(string(all[:whole]))); err != nil {
		return 0, err
	}
	s.rest = append(s.rest[:0], all[whole:]...)
	return len(p), nil
}

// lineWidth is how many cells a line of what is decided on has at most.
const lineWidth = 76

// folded breaks a text into lines that no terminal of 80 cells breaks itself: what is behind a break is
// indented, so that nothing in the text looks like a line of the question. Characters that may be two
// cells wide count as two.
func folded(s string) string {
	var b strings.Builder
	cells := 0
	for _, r := range s {
		wide := 1
		if r > 0x7e {
			wide = 2
		}
		if cells+wide > lineWidth {
			b.WriteString("\n    | ")
			cells = len("    | ")
		}
		b.WriteRune(r)
		cells += wide
	}
	return b.String()
}
