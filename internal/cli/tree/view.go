package tree

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

const (
	deep    = 2 // levels at which nodes without failures are shown
	fanOut  = 4 // children with one name that are shown side by side; further ones are folded into counts
	longest = 64
)

// limit bounds the children that a node shows: of those that run and of those that have failed, each, and of those
// without failures.
type limit struct{ live, good int }

// limits are tried one after the other, until the rows fit. They reduce the running nodes before the others, whose rows
// show the shape of the run.
var limits = sync.OnceValue(func() (all []limit) {
	for _, n := range []int{longest, 32, 16, 12, 8, 6, 4, 3, 2, 1} {
		all = append(all, limit{n, max(n, 8)}, limit{n, n})
	}
	return all
})

// row is a line of the tree: a node, or the number of nodes left out.
type row struct {
	n      *node
	depth  int
	folded bool // not all children have a row
	more   *[statuses]int
}

// rows returns at most most rows of the tree.
func (s *state) rows(most int) []row {
	if most <= 0 {
		return nil
	}
	for _, limit := range limits() {
		if rows := s.root.below(nil, limit, most); len(rows) <= most {
			return rows
		}
	}
	if most > 2 { // a long chain: its beginning and its end
		if rows := s.root.below(nil, limit{1, 1}, longest+most); len(rows) <= longest+most {
			return append(append(rows[:1:1], row{depth: 1}), rows[len(rows)-most+2:]...)
		}
	}
	return []row{{depth: 1, more: &s.root.count}}
}

// below appends the rows below a node, and stops after more than most.
func (n *node) below(rows []row, limit limit, most int) []row {
	left := n.count
	for _, k := range n.shown(limit) {
		left[k.status]--
		at := len(rows)
		if rows = append(rows, row{n: k, depth: k.depth}); len(rows) > most {
			return rows
		}
		before := len(rows)
		if rows = k.below(rows, limit, most); len(rows) > most {
			return rows
		}
		own := 0
		for _, r := range rows[before:] {
			if r.n != nil && r.n.up == k {
				own++
			}
		}
		rows[at].folded = own < max(sum(k.count), k.items)
	}
	if (n.up == nil || n.opened) && sum(left) > 0 && !n.closed {
		rows = append(rows, row{depth: n.depth + 1, more: &left})
	}
	return rows
}

// shown returns the children that have a row, in the order in which they began.
func (n *node) shown(limit limit) []*node {
	if n.closed {
		return nil
	}
	var kids []*node
	for k := n.live.head; k != nil && len(kids) < limit.live; k = k.next {
		kids = append(kids, k)
	}
	kids = append(kids, last(n.bad, limit.live)...)
	switch ended := n.count[done] + n.count[stopped]; {
	case n.opened:
		kids = append(kids, last(n.good, limit.live)...)
	case n.depth < deep && n.tools == 0 && ended <= limit.good && len(n.good) >= ended && (n.others || sum(n.count) <= fanOut):
		kids = append(kids, n.good...)
	}
	slices.SortFunc(kids, func(a, b *node) int { return a.order - b.order })
	return kids
}

// last returns the last nodes, at most most of them.
func last(nodes []*node, most int) []*node { return nodes[max(0, len(nodes)-most):] }

func sum(counts [statuses]int) (all int) {
	for _, c := range counts {
		all += c
	}
	return all
}

// The marks of the statuses, and their colours.
var (
	marks  = [statuses]string{running: "⟳", waiting: "◷", done: "✓", failed: "✗", stopped: "-"}
	colors = [statuses]string{running: "36", waiting: "33", done: "32", failed: "31", stopped: "2"}
)

// counts formats the number of nodes in each status: 35 that are done and one that runs are "✓35 ⟳1".
func counts(of [statuses]int) string {
	var parts []string
	for _, st := range []status{done, failed, running, waiting, stopped} {
		if of[st] > 0 {
			parts = append(parts, fmt.Sprintf("%s%d", marks[st], of[st]))
		}
	}
	return strings.Join(parts, " ")
}

// view determines how rows are rendered.
type view struct {
	width    int
	now      time.Time // time of the run
	color    bool
	selected *node // nil until one is selected
}

// cells holds the parts of a row: a name with what belongs to it, and columns.
type cells struct {
	begin, mark, name, tail string
	color                   string
	columns                 [4]string // the model, tokens, money, time
	selected                bool
}

func (v *view) cells(r row) cells {
	c := cells{begin: strings.Repeat("  ", min(r.depth-1, 8))}
	n := r.n
	switch {
	case n == nil && r.more == nil:
		c.mark = "…"
		return c
	case n == nil:
		c.mark, c.name = "…", fmt.Sprintf("%d more", sum(*r.more))
		c.tail = "  " + counts(*r.more)
		return c
	}
	c.mark, c.color, c.name, c.selected = marks[n.status], colors[n.status], n.name, n == v.selected
	if n.up.alike {
		c.name += n.index
	}
	if r.folded {
		c.tail = n.folds()
	}
	if n.attempt > 1 {
		c.tail += fmt.Sprintf("  attempt %d", n.attempt)
	}
	if n.note != "" {
		c.tail += "  " + line(n.note, 60)
	}
	if n.err != nil && n.err.Code != "" && n.status == failed {
		c.tail += "  " + string(n.err.Code)
	}
	end := n.ended
	if end.IsZero() {
		end = v.now
	}
	c.columns = [4]string{n.model, tokens(n.usage), money(n.usage), elapsed(end.Sub(n.began))}
	return c
}

// folds summarizes what is below a node and has no row.
func (n *node) folds() string {
	all := sum(n.count)
	ended := all - n.count[running] - n.count[waiting]
	all = max(all, n.items)
	switch {
	case n.tools == all && n.count[failed] == 0:
		return "  " + text.Count(all, "tool call")
	case n.tools == all:
		return fmt.Sprintf("  %d of %s failed", n.count[failed], text.Count(all, "tool call"))
	case n.count[done] == all:
		return fmt.Sprintf("  %d/%d", ended, all)
	}
	return fmt.Sprintf("  %d/%d %s", ended, all, counts(n.count))
}

// tokens formats input and output tokens.
func tokens(u model.Usage) string {
	if u.In == 0 && u.Out == 0 {
		return ""
	}
	return short(u.In) + "+" + short(u.Out)
}

// short formats a number in about four characters.
func short(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// elapsed formats a time in tenths of a second, so that its width changes rarely.
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", max(0, d.Seconds()))
	}
	return term.Duration(d)
}

func money(u model.Usage) string {
	if u.CostUSD == 0 {
		return ""
	}
	return "$" + term.Amount(u.CostUSD)
}

// lines renders rows, each no wider than the width.
func (v *view) lines(rows []row) []string {
	all := make([]cells, len(rows))
	var wide [4]int
	names := 0
	for i, r := range rows {
		all[i] = v.cells(r)
		names = max(names, all[i].wide())
		for j, s := range all[i].columns {
			wide[j] = max(wide[j], term.Cells(s))
		}
	}
	room := v.width
	if v.selected != nil {
		room -= 2
	}
	for _, drop := range []int{0, 1, 2, 3, -1} {
		left := room
		for _, w := range wide {
			if w > 0 {
				left -= w + 2
			}
		}
		if left >= min(names, max(room/2, 12)) || drop < 0 {
			names = max(0, min(names, left))
			break
		}
		wide[drop] = 0
	}
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = v.write(c, names, wide)
	}
	return out
}

// wide returns the number of cells of the name with everything around it.
func (c *cells) wide() int {
	return term.Cells(c.begin) + term.Cells(c.mark) + 1 + term.Cells(c.name) + term.Cells(c.tail)
}

// write writes a line.
func (v *view) write(c cells, names int, wide [4]int) string {
	var b strings.Builder
	if over := c.wide() - names; over > 0 { // a long name is shortened in favour of the counts after it
		c.name = term.Clip(c.name, max(names/2-term.Cells(c.begin), term.Cells(c.name)-over, 1))
	}
	said := term.Clip(" "+c.name+c.tail, max(0, names-term.Cells(c.begin+c.mark)))
	begin := term.Clip(c.begin, max(0, names-1))
	used := term.Cells(begin + c.mark + said)
	var columns strings.Builder
	gap := names - used
	for j, w := range wide {
		if w == 0 {
			continue
		}
		pad := strings.Repeat(" ", w-term.Cells(c.columns[j]))
		if columns.WriteString("  "); j == 0 {
			columns.WriteString(c.columns[j] + pad)
		} else {
			columns.WriteString(pad + c.columns[j])
		}
	}
	if v.selected != nil {
		begin = map[bool]string{true: "> ", false: "  "}[c.selected] + begin
	}
	b.WriteString(begin + v.paint(c.mark, c.color) + said)
	if rest := strings.TrimRight(strings.Repeat(" ", max(0, gap))+columns.String(), " "); rest != "" {
		b.WriteString(v.paint(rest, "2"))
	}
	return b.String()
}

// paint colours a text.
func (v *view) paint(s, color string) string {
	if !v.color || color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
