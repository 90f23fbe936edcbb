package mcp

import (
	"strings"
	"sync"
)

// maxTail bounds what is kept of a server's own words.
const maxTail = 2 << 10

// tail keeps the last lines that a server wrote where nobody reads: for the text of errors.
type tail struct {
	mu   sync.Mutex
	text []byte
	cut  bool // the beginning of what was written is lost
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) > maxTail {
		p, t.cut = p[len(p)-maxTail:], true
	}
	t.text = append(t.text, p...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text, t.cut = append(t.text[:0], t.text[over:]...), true
	}
	return n, nil
}

// last are the last lines, at most a few, on one line, without secrets.
func (t *tail) last(hidden *veil) string {
	t.mu.Lock()
	text, cut := string(t.text), t.cut
	t.mu.Unlock()
	if cut {
		text = hidden.behind(text)
	}
	text = strings.ToValidUTF8(hidden.text(text), "")
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(plain(l)); l != "" {
			lines = append(lines, l)
		}
	}
	lines = lines[max(0, len(lines)-5):]
	out := strings.Join(lines, " | ")
	if r := []rune(out); len(r) > 600 {
		out = "…" + string(r[len(r)-600:])
	}
	return out
}
