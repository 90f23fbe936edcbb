package main

import (
	"fmt"
	"slices"
	"strings"
)

const heading = `# Conformance

<!-- Generated from the tests by internal/tools/conformance; run "make conformance". -->

What agentscript promises, sentence by sentence, and the test that holds each promise. A promise is
kept when its test passes: *holds*. *not built* names what is missing, *skipped* what the machine
lacked on which this page was made.

`

// page renders the promises as Markdown.
func page(promises []*promise) string {
	var b strings.Builder
	b.WriteString(heading)
	b.WriteString(summary(promises) + ".\n")
	area := 0
	for _, p := range promises {
		if p.area != area {
			area = p.area
			fmt.Fprintf(&b, "\n## %d. %s\n\n| | promise | test | state |\n|---|---|---|---|\n", area, areas[area-1].title)
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` in `%s` | %s |\n",
			p.number(), cell(p.text), p.test, p.pkg, cell(p.standing()))
	}
	return b.String()
}

// summary counts the states.
func summary(promises []*promise) string {
	count := map[string]int{}
	for _, p := range promises {
		count[p.state]++
	}
	s := fmt.Sprintf("%d promises: %d hold, %d not built", len(promises), count[holds], count[notBuilt])
	if n := count[skipped]; n > 0 {
		s += fmt.Sprintf(", %d skipped", n)
	}
	if n := count[notHere]; n > 0 {
		s += fmt.Sprintf(", %d not here", n)
	}
	if n := count[failed]; n > 0 {
		s += fmt.Sprintf(", %d FAIL", n)
	}
	return s
}

// cell escapes a text for a cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// rows returns the table rows of a page.
func rows(page string) []string {
	return slices.DeleteFunc(strings.Split(page, "\n"), func(line string) bool {
		return !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| |")
	})
}

// differences lists the rows that only one of two pages has, "-" for those of the file and "+" for those of the tests.
func differences(file, tests string) []string {
	have, want := rows(file), rows(tests)
	out := append(without(have, want, "- "), without(want, have, "+ ")...)
	if out == nil && !slices.Equal(have, want) {
		out = []string{"the rows stand in another order, or one twice"}
	}
	return out
}

// without returns the rows that are missing from others, each after a sign.
func without(rows, others []string, sign string) (out []string) {
	for _, r := range rows {
		if !slices.Contains(others, r) {
			out = append(out, sign+r)
		}
	}
	return out
}
