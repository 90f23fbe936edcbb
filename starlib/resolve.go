package starlib

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/habits"
)

// unresolved tells all that the resolver found: names that mean nothing, names that are
// assigned twice, and statements in the wrong place. What was said at a place before is enough.
func (c *composer) unresolved(u *unit, err error, said diag.List) diag.List {
	var list resolve.ErrorList
	if !errors.As(err, &list) {
		return diag.List{&diag.Diagnostic{Code: diag.SyntaxError, Message: err.Error(), Span: diag.Span{Pos: diag.Pos{File: u.shown}}, Cause: err}}
	}
	var found diag.List
	var bound []string
	told := map[diag.Pos]bool{} // a name of another language, say: the check of the tokens knows more
	for _, d := range append(c.session.Diagnostics(), said...) {
		told[d.Span.Pos] = true
	}
	dropped := u.droppedLines()
	for _, e := range list {
		d := &diag.Diagnostic{Code: diag.SyntaxError, Message: e.Msg, Span: diag.Span{Pos: position(e.Pos), Len: 1}}
		name, undefined := strings.CutPrefix(e.Msg, "undefined: ")
		if told[d.Span.Pos] || undefined && dropped[e.Pos.Line] {
			continue
		}
		found = append(found, d)
		switch {
		case undefined:
			name, _, _ = strings.Cut(name, " ")
			if bound == nil {
				bound = c.boundNames(u)
			}
			d.Code, d.Message = diag.UndefinedName, "undefined: "+name
			d.Span.Len = utf8.RuneCountInString(name)
			d.Help = []string{"assign it, or load it: load(\"file.star\", \"" + name + "\")"}
			if hint := c.nameHint(name, bound); hint != "" {
				d.Help = []string{hint}
			}
		case strings.HasPrefix(e.Msg, "cannot reassign"):
			c.reassigned(d)
		}
	}
	return found
}

// droppedLines are those of the bodies of `if __name__ == "__main__":`, all of which are told
// to be dropped.
func (u *unit) droppedLines() map[int32]bool {
	lines := map[int32]bool{}
	for _, stmt := range u.file.Syntax().Stmts {
		x, ok := stmt.(*syntax.IfStmt)
		if !ok {
			continue
		}
		cond, ok := x.Cond.(*syntax.BinaryExpr)
		if !ok {
			continue
		}
		if id, ok := cond.X.(*syntax.Ident); ok && id.Name == "__name__" {
			_, end := x.Span()
			for line := x.If.Line + 1; line <= end.Line; line++ {
				lines[line] = true
			}
		}
	}
	return lines
}

// nameHint says what an undefined name may have meant.
func (c *composer) nameHint(name string, bound []string) string {
	if hint, ok := habits.Hint(name); ok {
		return hint
	}
	return c.suggest(name, bound)
}

// mostCompared bounds how many names are compared while a script loads, to say what unknown
// ones may have meant: a script can have many of both.
const mostCompared = 1_000_000

// suggest is didYouMean as long as that is not too much work.
func (c *composer) suggest(name string, among []string) string {
	if c.compared += len(among); c.compared > mostCompared {
		return ""
	}
	return didYouMean(name, among)
}

// boundNames lists all that a name of the file could be: builtins, and what the file binds
// somewhere.
func (c *composer) boundNames(u *unit) []string {
	names := append(c.predeclared.Keys(), starlark.Universe.Keys()...)
	add := func(e syntax.Expr) {
		if id, ok := e.(*syntax.Ident); ok {
			names = append(names, id.Name)
		}
	}
	var targets func(e syntax.Expr)
	targets = func(e syntax.Expr) {
		switch e := e.(type) {
		case *syntax.TupleExpr:
			for _, x := range e.List {
				targets(x)
			}
		case *syntax.ListExpr:
			for _, x := range e.List {
				targets(x)
			}
		case *syntax.ParenExpr:
			targets(e.X)
		default:
			add(e)
		}
	}
	syntax.Walk(u.file.Syntax(), func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			targets(n.LHS)
		case *syntax.ForStmt:
			targets(n.Vars)
		case *syntax.ForClause:
			targets(n.Vars)
		case *syntax.DefStmt:
			add(n.Name)
			for _, p := range n.Params {
				if b, ok := p.(*syntax.BinaryExpr); ok {
					p = b.X
				}
				if s, ok := p.(*syntax.UnaryExpr); ok {
					p = s.X
				}
				if p != nil {
					add(p)
				}
			}
		case *syntax.LoadStmt:
			for _, id := range n.To {
				names = append(names, id.Name)
			}
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

var declaredAt = regexp.MustCompile(`^cannot reassign (top-level|global|local|\w+) ?(\w*)(?: declared at (.*):(\d+):(\d+))?$`)

// reassigned explains a second assignment at the top level.
func (c *composer) reassigned(d *diag.Diagnostic) {
	d.Code = diag.Reassigned
	m := declaredAt.FindStringSubmatch(d.Message)
	if m == nil {
		return
	}
	name := m[2]
	d.Message = name + " is assigned twice"
	d.Span.Len = utf8.RuneCountInString(name)
	if m[4] != "" {
		line, _ := strconv.Atoi(m[4])
		col, _ := strconv.Atoi(m[5])
		d.Notes = []diag.Note{{Message: "the first assignment is", Pos: diag.Pos{File: m[3], Line: line, Col: col}}}
	}
	d.Help = []string{"a name of the top level means one thing: use a second name, or compute the value in a function"}
}
