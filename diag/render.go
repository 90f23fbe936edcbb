package diag

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Options configure Render. The zero value writes plain text.
type Options struct {
	Color     bool // ANSI colours; the caller knows whether w is a terminal
	Width     int  // width of the terminal in cells; 0 means 160. Longer source lines are cut around their carets
	NoSummary bool // leave out the last line that counts
}

const (
	defaultWidth = 160
	leastWidth   = 40 // shown of a source line even on narrower terminals
	mostFrames   = 16 // frames of a trace; the middle of longer traces is left out
)

// Render writes the human form of every diagnostic of l, in its order, with a blank line between them, and a last line
// such as "2 errors, 1 warning". src may be nil; positions are then shown without the text at them.
func Render(w io.Writer, l List, src Sources, o Options) error {
	if len(l) == 0 {
		return nil
	}
	r := &renderer{lines: sourceLines{src, map[string][]string{}}, width: o.Width, color: o.Color}
	if r.width <= 0 {
		r.width = defaultWidth
	}
	for _, d := range l {
		if r.out.Len() > 0 {
			r.out.WriteByte('\n')
		}
		r.diagnostic(d)
	}
	if !o.NoSummary {
		r.out.WriteByte('\n')
		r.out.WriteString(l.summary())
		r.out.WriteByte('\n')
	}
	_, err := io.WriteString(w, r.out.String())
	return err
}

// ink is the colour code of a kind of output.
type ink string

const (
	inkError   ink = "1;31"
	inkWarning ink = "1;33"
	inkNote    ink = "1;36"
	inkGutter  ink = "34"
	inkTitle   ink = "1"
	inkHelp    ink = "1;32"
)

type renderer struct {
	out    strings.Builder
	lines  sourceLines
	width  int
	color  bool
	margin string // as wide as the line numbers of the current diagnostic
}

func (r *renderer) ink(i ink, s string) string {
	if !r.color || s == "" {
		return s
	}
	return "\x1b[" + string(i) + "m" + s + "\x1b[0m"
}

func severityInk(s Severity) ink {
	switch s {
	case Error:
		return inkError
	case Warning:
		return inkWarning
	}
	return inkNote
}

func (r *renderer) diagnostic(d *Diagnostic) {
	word := d.Severity.String()
	if d.Code != "" {
		word += "[" + plain(string(d.Code)) + "]"
	}
	fmt.Fprintf(&r.out, "%s%s\n", r.ink(severityInk(d.Severity), word),
		r.ink(inkTitle, ": "+indentRest(plain(d.Message), "  ")))

	r.margin = " "
	if d.Span.IsValid() {
		r.margin = strings.Repeat(" ", len(strconv.Itoa(d.Span.Line)))
	}
	if at := d.Span.Pos.String(); at != "" {
		fmt.Fprintf(&r.out, "%s%s %s\n", r.margin, r.ink(inkGutter, "-->"), plain(strings.ReplaceAll(at, "\n", "␊")))
	}
	quoted := r.quote(d)
	if quoted && len(d.Notes)+len(d.Help)+len(d.Fixes)+len(d.Trace) > 0 {
		r.bar("")
	}
	for _, n := range d.Notes {
		r.remark(inkNote, "note", n.String())
	}
	for _, h := range d.Help {
		r.remark(inkHelp, "help", h)
	}
	for _, f := range d.Fixes {
		// Help says the same for people; a fix without help is shown itself.
		if len(d.Help) == 0 && f.Message != "" {
			r.remark(inkHelp, "help", f.Message)
		}
	}
	r.trace(d.Trace)
}

// remark writes "= note: text"; further lines of text are aligned with the first.
func (r *renderer) remark(i ink, word, text string) {
	indent := r.margin + strings.Repeat(" ", len(" = : ")+len(word))
	fmt.Fprintf(&r.out, "%s %s %s: %s\n", r.margin, r.ink(inkGutter, "="), r.ink(i, word), indentRest(plain(text), indent))
}

// bar writes a gutter line without a number.
func (r *renderer) bar(text string) {
	fmt.Fprintf(&r.out, "%s %s%s\n", r.margin, r.ink(inkGutter, "|"), text)
}

// quote writes the source line with carets and label; without a source, only the label. It reports whether it wrote a
// line with a gutter.
func (r *renderer) quote(d *Diagnostic) bool {
	label := plain(d.Label)
	text, ok := r.lines.line(d.Span.Pos)
	if !ok && label != "" {
		r.remark(inkNote, "note", d.Label)
	}
	if !ok {
		return false
	}
	e := excerptOf(text, d.Span, max(leastWidth, r.width-len(r.margin)-3))
	r.bar("")
	fmt.Fprintf(&r.out, "%s\n", strings.TrimRight(
		r.ink(inkGutter, strconv.Itoa(d.Span.Line)+" |")+" "+e.text, " "))
	carets := strings.Repeat("^", e.carets)
	indent := strings.Repeat(" ", e.before)
	if label != "" {
		carets += " " + indentRest(label, r.margin+"   "+indent+strings.Repeat(" ", e.carets+1))
	}
	r.bar(" " + indent + r.ink(severityInk(d.Severity), carets))
	return true
}

// trace writes the calls that led here, each with the line of the call.
func (r *renderer) trace(frames []Frame) {
	if len(frames) == 0 {
		return
	}
	fmt.Fprintf(&r.out, "%s %s %s:\n", r.margin, r.ink(inkGutter, "="), r.ink(inkNote, "trace, innermost last"))
	for i, f := range frames {
		if len(frames) > mostFrames && i >= mostFrames/2 && i < len(frames)-mostFrames/2 {
			if i == mostFrames/2 {
				fmt.Fprintf(&r.out, "%s     (%d calls left out)\n", r.margin, len(frames)-mostFrames)
			}
			continue
		}
		fmt.Fprintf(&r.out, "%s     %s\n", r.margin, plain(f.String()))
		if text, ok := r.lines.line(f.Pos); ok {
			text = strings.TrimSpace(text)
			e := excerptOf(text, Span{}, max(leastWidth, r.width-len(r.margin)-9))
			fmt.Fprintf(&r.out, "%s         %s\n", r.margin, e.text)
		}
	}
}

// indentRest inserts indent before every line but the first.
func indentRest(s, indent string) string {
	s = strings.TrimRight(s, "\n")
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i := 1; i < len(lines); i++ {
		if lines[i] != "" {
			lines[i] = indent + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}
