package chaos

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/agentscript/agentscript/internal/text"
)

// maxDetail is how much of an error or result a report shows.
const maxDetail = 120

// Write writes a table of how often which mutation of which agent's answers ended how, and below it what went wrong.
// Texts of models and scripts are escaped.
func Write(w io.Writer, cases []Case) error {
	type row struct {
		agent    string
		mutation Mutation
	}
	verdicts := [...]Verdict{Survived, TypedError, WrongSuccess, OtherError, Unanswered}
	counts := map[row]map[Verdict]int{}
	var rows []row // in the order of the first case
	for _, c := range cases {
		r := row{c.Agent, c.Mutation}
		if counts[r] == nil {
			rows = append(rows, r)
			counts[r] = map[Verdict]int{}
		}
		counts[r][c.Verdict]++
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "agent\tmutation")
	for _, v := range verdicts {
		fmt.Fprintf(table, "\t%s", v)
	}
	for _, r := range rows {
		fmt.Fprintf(table, "\n%s\t%s", text.Terminal(r.agent), r.mutation)
		for _, v := range verdicts {
			fmt.Fprintf(table, "\t%d", counts[r][v])
		}
	}
	fmt.Fprintln(table)
	if err := table.Flush(); err != nil { // which holds what failed before
		return err
	}
	for _, c := range cases {
		if c.good() {
			continue
		}
		of := c.Path
		if c.Test != "" {
			of = c.Test + " at " + of
		}
		if _, err := fmt.Fprintf(w, "%s: %s in %s: %s\n", c.Verdict, c.Mutation, text.Terminal(of), text.Terminal(text.Clip(strings.Join(strings.Fields(c.Detail), " "), maxDetail))); err != nil {
			return err
		}
	}
	return nil
}
