package starlib

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/pythonisms"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// compile resolves and compiles a file. It tells all that is wrong with names and statements:
// names that mean nothing, names that are assigned twice, and statements in the wrong place.
// What was said at a place before is enough.
//
// The interpreter's resolver is not left to find unknown names: for each it sorts all names that
// are known and compares them, so that a file of some thousands takes minutes. It is told that
// they are predeclared, and the tree is asked where they stand. Such a program is not run.
func (c *loader) compile(u *script.Unit, said diag.List) (*starlark.Program, diag.List) {
	u.File.Guard(value.PrintedOperand, value.FormattedOperand)
	unknown := map[string]bool{}
	prog, err := starlark.FileProgram(u.File.Syntax(), func(name string) bool {
		switch {
		case c.Predeclared.Has(name), name == value.PrintedOperand, name == value.FormattedOperand:
			return true
		case starlark.Universe.Has(name):
			return false
		}
		unknown[name] = true
		return true
	})
	var list resolve.ErrorList
	switch {
	case err == nil && len(unknown) == 0:
		return prog, nil
	case err != nil && !errors.As(err, &list):
		return nil, diag.List{&diag.Diagnostic{Code: diag.SyntaxError, Message: err.Error(), Span: diag.Span{Pos: diag.Pos{File: u.Shown}}, Cause: err}}
	}
	told := map[diag.Pos]bool{} // a name of another language, say: the check of the tokens knows more
	for _, d := range append(c.Session.Diagnostics(), said...) {
		told[d.Span.Pos] = true
	}
	var found, undefined script.Findings
	for _, e := range list {
		at := diag.Span{Pos: script.Position(e.Pos), Len: 1}
		if told[at.Pos] || !found.Room() {
			continue
		}
		d := &diag.Diagnostic{Code: diag.SyntaxError, Message: e.Msg, Span: at}
		if strings.HasPrefix(e.Msg, "cannot reassign") {
			c.reassigned(d)
		}
		found.List = append(found.List, d)
	}
	if len(unknown) > 0 {
		dropped, bound := droppedLines(u), c.boundNames(u)
		for _, id := range u.File.Predeclared(unknown) {
			if at := script.Position(id.NamePos); !told[at] && !dropped[id.NamePos.Line] && undefined.Room() {
				undefined.List = append(undefined.List, c.undefined(id, bound))
			}
		}
	}
	return nil, append(found.Told(), undefined.Told()...)
}

// undefined tells of a name that means nothing.
func (c *loader) undefined(id *syntax.Ident, bound []string) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: diag.UndefinedName, Message: "undefined: " + id.Name,
		Span: script.NameSpan(id)}
	if hint, ok := pythonisms.Hint(id.Name); ok {
		d.Help = []string{hint}
	} else if !c.Meant(d, id.Name, bound) {
		d.Help = []string{"assign it, or load it: load(\"file.star\", \"" + id.Name + "\")"}
	}
	return d
}

// droppedLines are those of the bodies of `if __name__ == "__main__":`, all of which are told
// to be dropped.
func droppedLines(u *script.Unit) map[int32]bool {
	lines := map[int32]bool{}
	for _, stmt := range u.File.Syntax().Stmts {
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

// boundNames lists all that a name of the file could be: builtins, and what the file binds
// somewhere.
func (c *loader) boundNames(u *script.Unit) []string {
	names := append(c.Predeclared.Keys(), starlark.Universe.Keys()...)
	add := func(e syntax.Expr) {
		if id, ok := e.(*syntax.Ident); ok && id != nil {
			names = append(names, id.Name)
		}
	}
	syntax.Walk(u.File.Syntax(), func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			startree.Targets(n.LHS, add)
		case *syntax.ForStmt:
			startree.Targets(n.Vars, add)
		case *syntax.ForClause:
			startree.Targets(n.Vars, add)
		case *syntax.DefStmt:
			add(n.Name)
			for _, p := range n.Params {
				add(startree.ParamName(p))
			}
		case *syntax.LoadStmt:
			for _, id := range n.To {
				add(id)
			}
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

var declaredAt = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^cannot reassign (top-level|global|local|\w+) ?(\w*)(?: declared at (.*):(\d+):(\d+))?$`)
})

// reassigned explains a second assignment at the top level.
func (c *loader) reassigned(d *diag.Diagnostic) {
	d.Code = diag.Reassigned
	m := declaredAt().FindStringSubmatch(d.Message)
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
