package tree

import (
	"fmt"
	"io"
	"strings"
)

// screen is the frame at the end of a terminal. The cursor is at its beginning, so that what is erased from the cursor
// on is the frame, whatever the terminal made of it when its size changed.
type screen struct {
	w     io.Writer
	shown bool
}

// draw writes lines that stay, and below them the frame. A terminal that is gone must not end the run.
func (s *screen) draw(stays string, frame []string) {
	var b strings.Builder
	b.WriteString("\r")
	if !s.shown {
		b.WriteString("\x1b[?25l") // no cursor
	}
	if stays != "" {
		b.WriteString("\x1b[J" + strings.ReplaceAll(stays, "\n", "\r\n"))
	}
	b.WriteString("\x1b[?7l") // a line that is wider than was reckoned does not go on below
	for i, l := range frame {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(l + "\x1b[K")
	}
	if len(frame) == 0 {
		b.WriteString("\x1b[J")
	} else {
		// What was below is erased from a line of its own: at the end of a full one terminals differ.
		b.WriteString("\x1b[0J\r")
	}
	if n := len(frame) - 1; n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", n)
	}
	b.WriteString("\x1b[?7h")
	_, _ = io.WriteString(s.w, b.String())
	s.shown = true
}

// erase removes the frame and shows the cursor.
func (s *screen) erase() {
	if s.shown {
		s.shown = false
		_, _ = io.WriteString(s.w, "\r\x1b[J\x1b[?25h")
	}
}
