package chaos

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/text"
)

const (
	maxDetail = 120 // bytes of an error or result that a report shows
	mostRows  = 40  // of a table that shows everything
	mostLines = 20  // below a table
)

// row is a row of the table: the verdicts for one mutation of one agent's answers, with their counts.
type row struct {
	agent    string
	mutation Mutation
	counts   map[Verdict]int
	cases    []Case
	of       int // the number of mutations, in a row for several
}

// good reports whether all of its cases went well.
func (r *row) good() bool {
	return !slices.ContainsFunc(r.cases, func(c Case) bool { return !c.good() })
}

// short returns a table in which all mutations of an agent after which everything went well share one row.
func short(rows []*row) (shown []*row) {
	sums := map[string]*row{}
	for _, r := range rows {
		if !r.good() {
			shown = append(shown, r)
			continue
		}
		all := sums[r.agent]
		if all == nil {
			all = &row{agent: r.agent, counts: map[Verdict]int{}}
			sums[r.agent], shown = all, append(shown, all)
		}
		for v, n := range r.counts {
			all.counts[v] += n
		}
		if all.of++; all.of == 1 {
			all.mutation = r.mutation
		} else {
			all.mutation = Mutation(text.Count(all.of, "other"))
		}
	}
	sorting.By(shown, func(a, b *row) int { return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.of, b.of)) })
	return shown
}

// Write writes a table of the verdicts for each agent and mutation, and below it what went wrong, by agent and
// mutation. Long output is shortened: rows in which everything went well are merged per agent, and only the first
// lines are written; more says how to see the rest. If more is empty, everything is written, including what went
// well. Texts of models and scripts are escaped.
func Write(w io.Writer, cases []Case, more string) error {
	var b strings.Builder
	rows := rowsOf(cases)
	shown := rows
	if more != "" && len(rows) > mostRows {
		shown = short(rows)
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "agent\tmutation")
	for _, v := range Verdicts() {
		fmt.Fprintf(table, "\t%s", v)
	}
	for _, r := range shown {
		fmt.Fprintf(table, "\n%s\t%s", text.Terminal(r.agent), r.mutation)
		for _, v := range Verdicts() {
			fmt.Fprintf(table, "\t%d", r.counts[v])
		}
	}
	fmt.Fprintln(table)
	_ = table.Flush() // a Builder takes everything
	if len(shown) < len(rows) {
		fmt.Fprintf(&b, "others are those after which all went well: %s\n", more)
	}
	var lines []string
	for _, r := range rows {
		for _, c := range r.cases {
			if more == "" || !c.good() {
				lines = append(lines, c.line())
			}
		}
	}
	if n := len(lines) - mostLines; more != "" && n > 0 {
		lines = append(lines[:mostLines], fmt.Sprintf("and %d more: %s", n, more))
	}
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line describes how a case ended, and where.
func (c Case) line() string {
	of := c.Path
	if c.Test != "" {
		of = c.Test + " at " + of
	}
	if c.File != "" {
		of = c.File + " " + of
	}
	line := fmt.Sprintf("%s: %s in %s", c.Verdict, c.Mutation, text.Terminal(of))
	if c.Detail != "" {
		line += ": " + text.Terminal(text.Clip(strings.Join(strings.Fields(c.Detail), " "), maxDetail))
	}
	return line
}

// rowsOf groups cases by agent, then by mutation, with survivors first in each group. Agents with the same name are
// distinguished by where they are created.
func rowsOf(cases []Case) []*row {
	places := map[string]map[string]bool{}
	for _, c := range cases {
		if places[c.Agent] == nil {
			places[c.Agent] = map[string]bool{}
		}
		places[c.Agent][c.At] = true
	}
	sorted := slices.Clone(cases)
	sorting.By(sorted, func(a, b Case) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.At, b.At), turnOf(a.Mutation)-turnOf(b.Mutation),
			slices.Index(Verdicts(), a.Verdict)-slices.Index(Verdicts(), b.Verdict))
	})
	var rows []*row
	for _, c := range sorted {
		agent := c.Agent
		if len(places[agent]) > 1 {
			agent += " " + c.At
		}
		if n := len(rows); n == 0 || rows[n-1].agent != agent || rows[n-1].mutation != c.Mutation {
			rows = append(rows, &row{agent: agent, mutation: c.Mutation, counts: map[Verdict]int{}})
		}
		r := rows[len(rows)-1]
		r.counts[c.Verdict]++
		r.cases = append(r.cases, c)
	}
	return rows
}

// turnOf returns the position of a mutation in reports.
func turnOf(m Mutation) int {
	return slices.IndexFunc(mutations, func(of mutation) bool { return of.name == m })
}
