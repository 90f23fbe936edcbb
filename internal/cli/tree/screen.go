package tree

import (
	"fmt"
	"io"
	"strings"
)

// screen is the frame at the end of a terminal. The cursor stays at its start, so that erasing from the cursor on
// removes the frame, whatever the terminal made of it when its size changed. The frame's lines are one long line that
// the terminal has wrapped: when it wraps lines again, it keeps the cursor at the start of its line, but some terminals
// count lines wrapped further below as if they were above.
type screen struct {
	w     io.Writer
	shown bool
}

// draw writes lines that stay, and below them the frame, for a terminal of a width. A failing terminal must not end the
// run.
func (s *screen) draw(stays string, frame []string, width int) {
	var b strings.Builder
	b.WriteString("\r")
	if !s.shown {
		b.WriteString(hideCursor)
	}
	if stays != "" {
		b.WriteString(eraseBelow + stays)
	}
	for i, l := range frame {
		if i > 0 { // the next character does not fit: the terminal wraps the line
			fmt.Fprintf(&b, "\x1b[%dG%s  \r", width, breakLines)
		}
		// A line that is wider than expected does not continue below.
		b.WriteString(keepLines + l + eraseLine)
	}
	if len(frame) == 0 {
		b.WriteString(eraseBelow)
	} else if b.WriteString(eraseBelow + "\r"); len(frame) > 1 {
		fmt.Fprintf(&b, "\x1b[%dA", len(frame)-1)
	}
	b.WriteString(breakLines)
	_, _ = io.WriteString(s.w, b.String())
	s.shown = true
}

// erase removes the frame and shows the cursor.
func (s *screen) erase() {
	if s.shown {
		s.shown = false
		_, _ = io.WriteString(s.w, "\r"+eraseBelow+showCursor)
	}
}

// The escape sequences.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	breakLines = "\x1b[?7h"
	keepLines  = "\x1b[?7l"
	eraseLine  = "\x1b[K"
	eraseBelow = "\x1b[J"
)
