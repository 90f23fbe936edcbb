package source

import (
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// indents finds blocks whose lines are indented by different characters. A tab reaches to the
// next multiple of eight columns, and looks otherwise in most editors: what a line belongs to
// would depend on who reads it.
func (l *linter) indents(block []syntax.Stmt, outer string) {
	first := ""
	for _, stmt := range block {
		lead, ok := l.lead(stmt)
		switch {
		case !ok: // behind another statement, or an elif
		case first == "" && !strings.HasPrefix(lead, outer), first != "" && lead != first:
			l.mixed(stmt, lead)
			return
		default:
			first = lead
		}
		inside := func(block []syntax.Stmt) { l.indents(block, first) }
		if def, ok := stmt.(*syntax.DefStmt); ok {
			inside(def.Body)
		}
		startree.Blocks(stmt, inside)
	}
}

// lead is what stands before a statement on its line; false when that is not blank alone.
func (l *linter) lead(stmt syntax.Stmt) (string, bool) {
	at, _ := stmt.Span()
	line := l.f.lines[at.Line-1]
	rest := strings.TrimLeft(line, " \t")
	lead := line[:len(line)-len(rest)]
	return lead, len(lead) == int(at.Col)-1 && !strings.HasPrefix(rest, "elif")
}

func (l *linter) mixed(stmt syntax.Stmt, lead string) {
	at, _ := stmt.Span()
	has := map[bool]string{true: "tabs", false: "spaces"}[strings.Contains(lead, "\t")]
	d := l.report(diag.SyntaxError, diag.Span{Pos: diag.Pos{File: l.f.pos(at).File, Line: int(at.Line), Col: 1}, Len: max(1, len(lead))},
		"tabs and spaces are mixed in the indentation", "this line has "+has+" where those around it have the other")
	d.Help = append(d.Help, "indent by spaces alone, four for each block; `agentscript fmt` does it")
}
