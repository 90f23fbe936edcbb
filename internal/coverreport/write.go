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
		if !s.none() {
			fmt.Fprintf(&out, "%-9s %5s%%  %d of %d\n", s.Name, percent(s.Percent), s.Covered, s.Total)
		}
	}
	for _, f := range r.files() {
		if missed := ranges(f.missed()); len(missed) > 0 {
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

// percent formats a share so that only a complete one is 100.
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

func partName(p *counted) string {
	switch p.Kind {
	case starlib.LambdaPlace:
		return "the body of the lambda"
	case starlib.ArmPlace:
		return "this arm of the condition"
	}
	return "the element of the comprehension"
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
