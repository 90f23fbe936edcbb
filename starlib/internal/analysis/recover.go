package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// Range is a range of bytes of a text.
type Range struct{ From, To int }

// Moved returns the range shifted by a number of bytes.
func (r Range) Moved(by int) Range { return Range{r.From + by, r.To + by} }

// Recovered is what can be parsed of a file. Its text has the same lines and offsets as the file.
type Recovered struct {
	Text    string
	Blanked []Range  // what was replaced by spaces
	Lost    []string // names that the blanked statements bind

	source string // the original, with spaces in place of invalid bytes
}

// Whole reports whether nothing was blanked.
func (r *Recovered) Whole() bool { return len(r.Blanked) == 0 }

// Recover blanks the statements of a file that cannot be parsed, and keeps the others unchanged. The text that it
// returns always parses, unless it nests too deeply.
func Recover(text string) *Recovered {
	r := &recovering{src: legible(text)}
	if r.src == text && parses(text) {
		return &Recovered{Text: text, source: text}
	}
	r.budget = 8*len(text) + 1<<16
	r.out = []byte(r.src)
	r.starts = boundaries(r.src)
	for i := 0; i+1 < len(r.starts); {
		i = r.chunk(i)
	}
	out := &Recovered{Text: string(r.out), Blanked: r.blanked, source: r.src}
	if !parses(out.Text) { // chunks that parse separately, but not together
		out.Text, out.Blanked = blank(r.src, Range{0, len(r.src)}), []Range{{0, len(r.src)}}
	}
	for _, b := range out.Blanked {
		out.Lost = append(out.Lost, bound(r.src[b.From:b.To])...)
	}
	slices.Sort(out.Lost)
	out.Lost = slices.Compact(out.Lost)
	return out
}

// recovering is the state of one recovery.
type recovering struct {
	src     string
	starts  []int // where chunks of top-level lines begin, and the end of the file
	out     []byte
	blanked []Range
	budget  int // bytes left for finding the end of open brackets and strings
}

// chunk reads the statement at a boundary and returns the boundary after it.
func (r *recovering) chunk(i int) int {
	from, to := r.starts[i], r.starts[i+1]
	if parses(r.src[from:to]) {
		return i + 1
	}
	if j := r.closing(i); j > i+1 && parses(r.src[from:r.starts[j]]) {
		return j
	}
	if r.lines(from, to) {
		return i + 1
	}
	r.blank(Range{from, to})
	return i + 1
}

// closing finds the boundary at which everything that the chunk opens is closed. It returns 0 if there is none.
func (r *recovering) closing(i int) int {
	s := &scanner{src: r.src, pos: r.starts[i]}
	s.to(r.starts[i+1])
	for j := i + 1; j < len(r.starts) && r.budget > 0; j++ {
		before := s.pos
		s.to(r.starts[j])
		r.budget -= s.pos - before + 1
		if s.closed() {
			return j
		}
	}
	return 0
}

// maxRecovered bounds the lines of a block that are blanked before the whole block is.
const maxRecovered = 3

// lines tries to keep a block by blanking single lines of it, and reports whether it succeeded.
func (r *recovering) lines(from, to int) bool {
	chunk := r.src[from:to]
	if !blockHead().MatchString(chunk) {
		return false
	}
	var gone []Range
	for range maxRecovered {
		_, err := parse(chunk)
		if err == nil {
			break
		}
		bad, ok := err.(syntax.Error)
		if !ok || bad.Pos.Line < 2 {
			return false
		}
		line, ok := lineRange(chunk, int(bad.Pos.Line))
		if !ok {
			return false
		}
		body := strings.TrimLeft(chunk[line.From:line.To], " \t")
		at := line.To - len(body)
		if body == "" || strings.HasPrefix(body, "pass ") {
			return false
		}
		filler := "pass"
		if len(body) < len(filler) {
			filler = "0"
		}
		gone = append(gone, Range{from + at, from + line.To})
		chunk = chunk[:at] + filler + strings.Repeat(" ", len(body)-len(filler)) + chunk[line.To:]
	}
	if !parses(chunk) {
		return false
	}
	copy(r.out[from:to], chunk)
	r.blanked = append(r.blanked, gone...)
	return true
}

var blockHead = lazy.Regexp(`^(def|for|if|while)\b`)

// lineRange returns the range of a line, counted from 1, without its line end.
func lineRange(text string, line int) (Range, bool) {
	from := 0
	for range line - 1 {
		i := strings.IndexByte(text[from:], '\n')
		if i < 0 {
			return Range{}, false
		}
		from += i + 1
	}
	to := len(text)
	if i := strings.IndexAny(text[from:], "\r\n"); i >= 0 {
		to = from + i
	}
	return Range{from, to}, true
}

func (r *recovering) blank(b Range) {
	b.To = b.From + len(strings.TrimRight(r.src[b.From:b.To], " \t\r\n"))
	copy(r.out[b.From:b.To], blank(r.src[b.From:b.To], Range{0, b.To - b.From}))
	if b.To > b.From {
		r.blanked = append(r.blanked, b)
	}
}

// blank returns a text with a part of it blanked, except for line ends.
func blank(text string, part Range) string {
	out := []byte(text)
	for i := part.From; i < part.To; i++ {
		if out[i] != '\n' && out[i] != '\r' {
			out[i] = ' '
		}
	}
	return string(out)
}

// legible replaces invalid bytes by spaces.
func legible(text string) string {
	if utf8.ValidString(text) && !strings.ContainsAny(text, "\x00") {
		return text
	}
	out := []byte(text)
	for i := 0; i < len(out); {
		_, size := utf8.DecodeRune(out[i:])
		if out[i] == 0 || size == 1 && out[i] >= utf8.RuneSelf {
			out[i] = ' '
		}
		i += size
	}
	return string(out)
}

func parses(text string) bool {
	_, err := parse(text)
	return err == nil
}

func parse(text string) (*syntax.File, error) {
	if deep := startree.MeasureSource(text, nil).Excess; deep != nil {
		return nil, errDeep
	}
	return source.Options().Parse("", text, 0)
}

var errDeep = syntax.Error{Msg: "nested too deeply"}

// boundaries returns the offsets of the lines at which a top-level statement may begin, and the offsets of the start
// and the end of the text. Comments belong to the statement after them.
func boundaries(text string) []int {
	starts := []int{len(text)}
	behind := false // whether the next line of code is at the top level
	for to := len(text); to > 0; {
		from := strings.LastIndexByte(text[:to-1], '\n') + 1
		switch line := text[from:to]; {
		case strings.TrimSpace(line) == "":
		case line[0] == '#':
			if behind {
				starts = append(starts, from)
			}
		default:
			if behind = begins(line); behind {
				starts = append(starts, from)
			}
		}
		to = from
	}
	if starts[len(starts)-1] != 0 {
		starts = append(starts, 0)
	}
	slices.Reverse(starts)
	return starts
}

// begins reports whether a line of code may begin a top-level statement.
func begins(line string) bool {
	switch line[0] {
	case ' ', '\t', ')', ']', '}':
		return false
	}
	return !continues().MatchString(line)
}

var continues = lazy.Regexp(`^(else|elif)\b`)

// The patterns for what blanked statements bind, by the starts of their lines.
var (
	boundTo   = lazy.Regexp(`(?m)^([\pL_][\pL\pN_]*(?:[ \t]*,[ \t]*[\pL_][\pL\pN_]*)*)[ \t]*(?:[-+*/%&|^]|//|>>|<<)?=(?:[^=]|$)`)
	boundDef  = lazy.Regexp(`(?m)^def[ \t]+([\pL_][\pL\pN_]*)`)
	boundLoad = lazy.Regexp(`^load[ \t]*\(`)
	loaded    = lazy.Regexp(`([\pL_][\pL\pN_]*)[ \t]*=[ \t]*["']|,\s*["']([\pL_][\pL\pN_]*)["']`)
)

// bound lists the names that a blanked part binds at the top level.
func bound(part string) []string {
	var names []string
	for _, m := range boundTo().FindAllStringSubmatch(part, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	for _, m := range boundDef().FindAllStringSubmatch(part, -1) {
		names = append(names, m[1])
	}
	if boundLoad().MatchString(part) {
		for _, m := range loaded().FindAllStringSubmatch(part, -1) {
			names = append(names, m[1]+m[2])
		}
	}
	return names
}

// Only returns the original file with everything blanked except one part.
func (r *Recovered) Only(part Range) string {
	all := blank(r.source, Range{0, len(r.source)})
	return all[:part.From] + r.source[part.From:part.To] + all[part.To:]
}
