package tree

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// terminal is a small model of a terminal: what a person sees, and what has scrolled out of sight.
type terminal struct {
	t             *testing.T
	width, height int
	reflow        reflow
	rows          []screenRow
	top, x, y     int // y counts from the top of the screen
	wraps, cursor bool
	writes        int
	highest       int // the most rows that one write drew, from the cursor's position before it
}

// screenRow is a row of a terminal; it is wrapped if its line continues in the next row.
type screenRow struct {
	cells  []string
	broken bool
}

// reflow is what a terminal does with lines when its width changes.
type reflow int

const (
	cuts   reflow = iota // what does not fit is lost
	breaks               // lines are wrapped again, and the cursor keeps its position in its line
	drifts               // the cursor's line is cut, others are wrapped again, and those below move the cursor too
	reflows
)

func newTerminal(t *testing.T, width, height int) *terminal {
	return &terminal{t: t, width: width, height: height, wraps: true, cursor: true}
}

func (m *terminal) row() *[]string {
	for len(m.rows) <= m.top+m.y {
		m.rows = append(m.rows, screenRow{})
	}
	return &m.rows[m.top+m.y].cells
}

func (m *terminal) put(cluster string, wide int) {
	if m.x+wide > m.width {
		if !m.wraps {
			return
		}
		m.x = 0
		m.rows[m.top+m.y].broken = true
		m.down()
	}
	r := m.row()
	for len(*r) < m.x+wide {
		*r = append(*r, " ")
	}
	(*r)[m.x] = cluster
	for i := 1; i < wide; i++ {
		(*r)[m.x+i] = ""
	}
	m.x += wide
}

func (m *terminal) down() {
	if m.y++; m.y == m.height {
		m.y--
		m.top++
	}
	m.row()
}

// Write displays what a program writes; a line end moves to the beginning of the next line, as in a cooked terminal.
func (m *terminal) Write(p []byte) (int, error) {
	m.writes++
	state, from := -1, m.top+m.y
	for s := string(p); s != ""; {
		if strings.HasPrefix(s, "\x1b[") {
			i := strings.IndexAny(s[2:], "ABCDGHJKSTfhlmnrsu") + 2
			m.control(s[2:i], s[i])
			s, state = s[i+1:], -1
			continue
		}
		var cluster string
		var wide int
		cluster, s, wide, state = uniseg.FirstGraphemeClusterInString(s, state)
		switch cluster {
		case "\r\n", "\n":
			m.x = 0
			m.down()
		case "\r":
			m.x = 0
		default:
			if cluster[0] < ' ' || cluster[0] == 0x7f {
				m.t.Errorf("%q reaches the terminal", cluster)
			}
			m.put(cluster, wide)
		}
		m.highest = max(m.highest, m.top+m.y-from+1)
	}
	return len(p), nil
}

func (m *terminal) control(args string, what byte) {
	n, err := strconv.Atoi(args)
	switch what {
	case 'A':
		if m.y -= max(n, 1); m.y < 0 {
			m.t.Errorf("the cursor moves out of the screen")
			m.y = 0
		}
	case 'J':
		m.rows = m.rows[:min(len(m.rows), m.top+m.y+1)]
		fallthrough
	case 'K':
		if r := m.row(); len(*r) > m.x {
			*r = (*r)[:m.x]
		}
		m.rows[m.top+m.y].broken = false
	case 'G':
		m.x = n - 1
	case 'm':
	case 'h', 'l':
		switch args {
		case "?7":
			m.wraps = what == 'h'
		case "?25":
			m.cursor = what == 'h'
		default:
			m.t.Errorf("an unknown mode: %s", args)
		}
	default:
		m.t.Errorf("an unknown sequence: %s%c %v", args, what, err)
	}
}

// resize simulates dragging the window: the row of the cursor stays in sight, and rows below it disappear first.
func (m *terminal) resize(width, height int) {
	at := m.top + m.y
	var rows []screenRow
	now := at
	for i := 0; i < len(m.rows); {
		from, before := i, len(rows)
		var cells []string
		for i++; i < len(m.rows) && m.rows[i-1].broken; i++ {
		}
		here := from <= at && at < i
		if m.reflow == cuts || here && m.reflow == drifts {
			for j, r := range m.rows[from:i] {
				if from+j == at {
					now = len(rows)
				}
				rows = append(rows, screenRow{r.cells[:min(len(r.cells), width)], r.broken})
			}
			continue
		}
		for j, r := range m.rows[from:i] {
			if from+j == at {
				now = len(rows) + len(cells)/width
			}
			for r.broken && len(r.cells) < m.width {
				r.cells = append(r.cells, " ")
			}
			cells = append(cells, r.cells...)
		}
		for len(cells) > width {
			rows = append(rows, screenRow{cells[:width:width], true})
			cells = cells[width:]
		}
		rows = append(rows, screenRow{cells, false})
		if m.reflow == drifts && from > at {
			now += len(rows) - before - (i - from)
		}
	}
	m.rows, at = rows, max(0, min(now, len(rows)-1))
	m.width, m.height = width, height
	m.rows = m.rows[:min(len(m.rows), max(at+1, m.top+height))]
	m.top = max(0, at-height+1, min(m.top, at))
	m.rows = m.rows[:min(len(m.rows), m.top+height)]
	m.y, m.x = at-m.top, min(m.x, width-1)
}

// text returns everything that was written and still exists, including what has scrolled out of sight.
func (m *terminal) text() string {
	var b strings.Builder
	for _, r := range m.rows {
		if line := strings.Join(r.cells, ""); !r.broken || strings.TrimRight(line, " ") != line {
			fmt.Fprintln(&b, strings.TrimRight(line, " "))
		} else {
			b.WriteString(line)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
