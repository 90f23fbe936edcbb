// Package reading explains to a person how an answer was read: what was chosen, dropped and repaired, and why.
package reading

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/text"
)

// shownBytes bounds the text that a line shows.
const shownBytes = 60

// Explain writes a line for the chosen value, for each thing that was changed or left out, in the order of the text,
// and for each error: its position, the text there, what became of it, why, and at which cost. The last line has the
// outcome.
func Explain(w io.Writer, src string, t *generable.Type, how generable.Options, r lenient.Result) {
	p := places{src: src, line: 1, col: 1}
	lines := []told{{at: r.Start, text: chosen(src, how, r)}}
	if r.End == 0 {
		lines = nil
	}
	for _, fix := range r.Repairs {
		lines = append(lines, told{fix.Offset, repaired(fix)})
	}
	sorting.By(lines, func(a, b told) int { return cmp.Compare(a.at, b.at) })
	for _, l := range lines {
		write(w, p.of(l.at)+": "+l.text)
	}
	for _, e := range r.Errors {
		write(w, "error: "+e.Error())
	}
	write(w, outcome(t, how, r))
}

// told is a line about a position in the text.
type told struct {
	at   int
	text string
}

func write(w io.Writer, line string) {
	_, _ = fmt.Fprintln(w, text.Terminal(line)) // if stderr fails, there is nowhere to report it
}

// chosen says which value was chosen.
func chosen(src string, how generable.Options, r lenient.Result) string {
	why := "it fits"
	others := slices.ContainsFunc(r.Repairs, func(fix generable.Repair) bool { return fix.Kind == "not-chosen" })
	switch {
	case !r.OK:
		return "nearest: " + shown(src[r.Start:r.End]) + "; it does not fit"
	case how.Pick == generable.PickFirst:
		why = "it is the first that fits"
	case how.Pick == generable.PickLast:
		why = "it is the last that fits"
	case others:
		why = "of what fits it needs the least repair, and of equals it is in a fence, or comes last"
	}
	return "chosen: " + shown(src[r.Start:r.End]) + "; " + why
}

// repaired says how something was repaired, and why.
func repaired(fix generable.Repair) string {
	line := strings.ReplaceAll(fix.Kind, "-", " ")
	if fix.Path != "" {
		line += " in " + strings.TrimPrefix(fix.Path, ".")
	}
	switch before, after := shown(fix.Before), shown(fix.After); {
	case before != "" && after != "":
		line += ": " + before + " -> " + after
	case before+after != "":
		line += ": " + before + after
	}
	if why := reasons[fix.Kind]; why != "" {
		line += "; " + why
	}
	return line + " (cost " + strconv.Itoa(fix.Cost) + ")"
}

// outcome says whether there is a value, and at which cost.
func outcome(t *generable.Type, how generable.Options, r lenient.Result) string {
	as := "a value"
	if t != nil {
		as = t.String()
	}
	level := generable.OptionWords("level")[how.Level]
	if !r.OK {
		return "not read as " + as + " at level " + level + ": " + text.Count(len(r.Errors), "error")
	}
	cost := "nothing was repaired"
	if r.Cost > 0 {
		cost = "its repairs cost " + strconv.Itoa(r.Cost)
	}
	return "read as " + as + " at level " + level + "; " + cost
}

// shown returns the beginning of a text, on one line.
func shown(s string) string {
	return text.ClipBytes(strings.Join(strings.Fields(text.Cut(s, 4*shownBytes)), " "), shownBytes)
}

// places converts increasing offsets to lines and columns.
type places struct {
	src           string
	at, line, col int
}

func (p *places) of(offset int) string {
	offset = min(max(offset, p.at), len(p.src))
	for {
		i := strings.IndexByte(p.src[p.at:offset], '\n')
		if i < 0 {
			break
		}
		p.at += i + 1
		p.line, p.col = p.line+1, 1
	}
	p.col += utf8.RuneCountInString(p.src[p.at:offset])
	p.at = offset
	return strconv.Itoa(p.line) + ":" + strconv.Itoa(p.col)
}
