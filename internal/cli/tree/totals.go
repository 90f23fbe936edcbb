package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// frame returns the lines of a screen, at most height - 1: the rows of the tree, and the totals.
func (s *state) frame(v *view, height int, limits engine.Limits, hint string) []string {
	if height < 2 || v.width < 2 {
		return nil
	}
	rows := s.rows(height - 2)
	v.selected = visible(v.selected, rows)
	return append(v.lines(rows), v.totals(s, limits, hint))
}

// visible returns the innermost node around n that has a row, or nil.
func visible(n *node, rows []row) *node {
	for ; n != nil; n = n.up {
		if slices.ContainsFunc(rows, func(r row) bool { return r.n == n }) {
			return n
		}
	}
	return nil
}

// totals returns the last line: as much of it as fits, the most important parts first.
func (v *view) totals(s *state, limits engine.Limits, hint string) string {
	end := s.root.ended
	if end.IsZero() {
		end = v.now
	}
	mark := v.paint(marks[s.root.status], colors[s.root.status])
	var said strings.Builder
	said.WriteString(" run")
	room := v.width - term.Cells(marks[s.root.status]) - term.Cells(said.String())
	for _, part := range append(s.sums(limits, elapsed(end.Sub(s.root.began))), hint) {
		if wide := term.Cells(part) + 2; part != "" && wide <= room {
			said.WriteString("  " + part)
			room -= wide
		}
	}
	return mark + term.Clip(said.String(), v.width-1)
}

// sums returns the totals of a run, the most important ones first.
func (s *state) sums(limits engine.Limits, took string) []string {
	u := s.root.usage
	parts := []string{took, money(u), s.left(limits)}
	if s.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", s.failed))
	}
	if s.calls > 0 {
		parts = append(parts, text.Count(s.calls, "call"))
	}
	if t := tokens(u); t != "" {
		parts = append(parts, t+" tokens")
	}
	if s.tools > 0 {
		parts = append(parts, text.Count(s.tools, "tool call"))
	}
	if u.Unpriced > 0 && u.CostUSD > 0 {
		parts = append(parts, text.Count(u.Unpriced, "call")+" without a known price")
	}
	return parts
}

// left returns what remains of the budgets of the run, and the last report about a budget inside it.
func (s *state) left(limits engine.Limits) string {
	var parts []string
	if usd, ok := limits.USD.USD(); ok {
		parts = append(parts, "$"+term.Amount(max(0, usd-s.root.usage.CostUSD)))
	}
	for _, of := range []struct {
		bound engine.Cap
		used  int
		noun  string
	}{{limits.Tokens, s.root.usage.In + s.root.usage.Out, "token"}, {limits.ModelCalls, s.calls, "call"}, {limits.ToolCalls, s.tools, "tool call"}} {
		if n, ok := of.bound.Value(); ok {
			parts = append(parts, text.Count(max(0, n-int64(of.used)), of.noun))
		}
	}
	switch {
	case len(parts) > 0:
		return "left " + strings.Join(parts, ", ")
	case s.budget != nil:
		return line(s.budget.Budget, 40) + " " + s.budget.Of()
	}
	return ""
}

// summaryRows bounds the nodes in a summary. With the totals, the failures, the number of further nodes and the trace,
// it has at most 20 lines.
const summaryRows = 12

// summary returns the lines that stay on the terminal.
func (s *state) summary(v *view, limits engine.Limits, trace string) []string {
	lines := append(v.lines(s.rows(summaryRows)), v.totals(s, limits, ""))
	for _, f := range s.failures {
		lines = append(lines, v.paint("failed", "31")+" "+term.Clip(f.at+"  "+f.why, max(0, v.width-7)))
	}
	if more := s.failed - len(s.failures); more > 0 {
		lines = append(lines, term.Clip(fmt.Sprintf("and %d more failed", more), v.width))
	}
	if trace != "" {
		lines = append(lines, "trace  "+text.Terminal(trace)) // never clipped, so that it can be copied
	}
	return lines
}
