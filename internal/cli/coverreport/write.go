package coverreport

import (
	"fmt"
	"math"
	"strings"

	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// Text returns the report for people: the shares, then what did not run.
func (r *Report) Text() string {
	var out strings.Builder
	for _, s := range r.Shares() {
		if s.Total > 0 || s.Name == Lines {
			fmt.Fprintf(&out, "%-9s %5s%%  %d of %d\n", s.Name, percent(s.Percent), s.Covered, s.Total)
		}
	}
	for _, f := range r.files() {
		var missed []string
		for _, m := range f.missed() {
			if m[0] == m[1] {
				missed = append(missed, fmt.Sprint(m[0]))
			} else {
				missed = append(missed, fmt.Sprintf("%d-%d", m[0], m[1]))
			}
		}
		if missed != nil {
			noun := "line"
			if len(missed) > 1 || strings.Contains(missed[0], "-") {
				noun = "lines"
			}
			fmt.Fprintf(&out, "%s: not run: %s %s\n", text.Terminal(f.name), noun, strings.Join(missed, ", "))
		}
		for _, p := range f.parts {
			if p.Count == 0 && f.ran(p.Line) {
				fmt.Fprintf(&out, "%s:%d:%d: not run: %s\n", text.Terminal(f.name), p.Line, p.Col, partName(p))
			}
		}
	}
	for _, g := range r.groups {
		for _, it := range g.Items {
			if it.Count == 0 {
				fmt.Fprintf(&out, "%s: not run: %s\n", text.Terminal(it.Pos.String()), text.Terminal(it.Name))
			}
		}
	}
	return out.String()
}

// percent writes a share so that only all of it is 100.
func percent(p float64) string { return fmt.Sprintf("%.1f", math.Floor(p*10)/10) }

// ran reports whether the statement that a line belongs to ran.
func (f *file) ran(number int) bool {
	for i := len(f.lines) - 1; i >= 0; i-- {
		if f.lines[i].number <= number {
			return f.lines[i].count > 0
		}
	}
	return true
}

func partName(p *starlib.Place) string {
	switch p.Kind {
	case starlib.LambdaPlace:
		return "the body of the lambda"
	case starlib.ArmPlace:
		return "this arm of the condition"
	}
	return "the element of the comprehension"
}

// Document is the report as JSON.
type Document struct {
	Shares []Share         `json:"shares"`
	Files  []DocumentFile  `json:"files"`
	Groups []DocumentGroup `json:"groups"`
}

// DocumentFile is a file of the report.
type DocumentFile struct {
	File   string         `json:"file"`
	Lines  []DocumentLine `json:"lines"`
	Missed [][2]int       `json:"missed"` // ranges of lines that did not run
	Parts  []DocumentItem `json:"parts"`
}

// DocumentLine is a line on which statements begin.
type DocumentLine struct {
	Line  int   `json:"line"`
	Count int64 `json:"count"`
}

// DocumentGroup is a group of the report.
type DocumentGroup struct {
	Name  string         `json:"name"`
	Items []DocumentItem `json:"items"`
}

// DocumentItem is a part of a file, or an item of a group.
type DocumentItem struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line"`
	Col   int    `json:"col"`
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Document returns the report as JSON writes it.
func (r *Report) Document() Document {
	d := Document{Shares: r.Shares(), Files: []DocumentFile{}, Groups: []DocumentGroup{}}
	for _, f := range r.files() {
		out := DocumentFile{File: f.name, Lines: []DocumentLine{}, Missed: f.missed(), Parts: []DocumentItem{}}
		if out.Missed == nil {
			out.Missed = [][2]int{}
		}
		for _, l := range f.lines {
			out.Lines = append(out.Lines, DocumentLine{l.number, l.count})
		}
		for _, p := range f.parts {
			out.Parts = append(out.Parts, DocumentItem{Line: p.Line, Col: p.Col, Name: string(p.Kind), Count: p.Count})
		}
		d.Files = append(d.Files, out)
	}
	for _, g := range r.groups {
		out := DocumentGroup{Name: g.Name, Items: []DocumentItem{}}
		for _, it := range g.Items {
			out.Items = append(out.Items, DocumentItem{it.Pos.File, it.Pos.Line, it.Pos.Col, it.Name, it.Count})
		}
		d.Groups = append(d.Groups, out)
	}
	return d
}

// LCOV returns the report in the format of lcov: lines, functions, and arms of conditions as branches.
func (r *Report) LCOV() string {
	var out strings.Builder
	for _, f := range r.files() {
		fmt.Fprintf(&out, "TN:\nSF:%s\n", oneLine(f.name))
		called, names := 0, map[string]bool{}
		for i, fn := range f.functions {
			if names[fn.name] {
				f.functions[i].name = fmt.Sprintf("%s:%d", fn.name, fn.line)
			}
			names[fn.name] = true
			fmt.Fprintf(&out, "FN:%d,%s\n", fn.line, f.functions[i].name)
		}
		for _, fn := range f.functions {
			if fn.calls > 0 {
				called++
			}
			fmt.Fprintf(&out, "FNDA:%d,%s\n", fn.calls, fn.name)
		}
		fmt.Fprintf(&out, "FNF:%d\nFNH:%d\n", len(f.functions), called)
		arms, taken := 0, 0
		for i, p := range f.parts {
			if p.Kind != starlib.ArmPlace {
				continue
			}
			count := fmt.Sprint(p.Count)
			if arms++; p.Count > 0 {
				taken++
			} else if !f.ran(p.Line) {
				count = "-"
			}
			fmt.Fprintf(&out, "BRDA:%d,0,%d,%s\n", p.Line, i, count)
		}
		fmt.Fprintf(&out, "BRF:%d\nBRH:%d\n", arms, taken)
		for _, l := range f.lines {
			fmt.Fprintf(&out, "DA:%d,%d\n", l.number, l.count)
		}
		fmt.Fprintf(&out, "LF:%d\nLH:%d\nend_of_record\n", len(f.lines), f.covered())
	}
	return out.String()
}

// oneLine keeps a name from ending its record.
func oneLine(name string) string { return strings.NewReplacer("\n", "?", "\r", "?").Replace(name) }
