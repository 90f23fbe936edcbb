package starlib

import (
	"errors"
	"fmt"
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
	"github.com/agentscript/agentscript/starlib/internal/habits"
)

// compile resolves and compiles a file. It tells all that is wrong with names and statements:
// names that mean nothing, names that are assigned twice, and statements in the wrong place.
// What was said at a place before is enough.
//
// The interpreter's resolver is not left to find unknown names: for each it sorts all names that
// are known and compares them, so that a file of some thousands takes minutes. It is told that
// they are predeclared, and the tree is asked where they stand. Such a program is not run.
func (c *loader) compile(u *unit, said diag.List) (*starlark.Program, diag.List) {
	u.file.Guard(printedOperand, formattedOperand)
	unknown := map[string]bool{}
	prog, err := starlark.FileProgram(u.file.Syntax(), func(name string) bool {
		switch {
		case c.predeclared.Has(name), name == printedOperand, name == formattedOperand:
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
		return nil, diag.List{&diag.Diagnostic{Code: diag.SyntaxError, Message: err.Error(), Span: diag.Span{Pos: diag.Pos{File: u.shown}}, Cause: err}}
	}
	told := map[diag.Pos]bool{} // a name of another language, say: the check of the tokens knows more
	for _, d := range append(c.session.Diagnostics(), said...) {
		told[d.Span.Pos] = true
	}
	var found, undefined findings
	for _, e := range list {
		at := diag.Span{Pos: position(e.Pos), Len: 1}
		if told[at.Pos] || !found.room() {
			continue
		}
		d := &diag.Diagnostic{Code: diag.SyntaxError, Message: e.Msg, Span: at}
		if strings.HasPrefix(e.Msg, "cannot reassign") {
			c.reassigned(d)
		}
		found.list = append(found.list, d)
	}
	if len(unknown) > 0 {
		dropped, bound := u.droppedLines(), c.boundNames(u)
		for _, id := range u.file.Predeclared(unknown) {
			if at := position(id.NamePos); !told[at] && !dropped[id.NamePos.Line] && undefined.room() {
				undefined.list = append(undefined.list, c.undefined(id, bound))
			}
		}
	}
	return nil, append(found.told(), undefined.told()...)
}

// findings are those of one kind in a file, up to as many as anybody mends before checking again.
type findings struct {
	list diag.List
	more int
}

const mostFindings = 100

// room reports whether one more finds room. Else it is counted.
func (f *findings) room() bool {
	if len(f.list) < mostFindings {
		return true
	}
	f.more++
	return false
}

// told gives the findings. The last one says how many came behind it.
func (f *findings) told() diag.List {
	if f.more > 0 {
		last := f.list[len(f.list)-1]
		last.Notes = append(last.Notes, diag.Note{Message: fmt.Sprintf("and %d more like this one", f.more)})
	}
	return f.list
}

// undefined tells of a name that means nothing.
func (c *loader) undefined(id *syntax.Ident, bound []string) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: diag.UndefinedName, Message: "undefined: " + id.Name,
		Span: diag.Span{Pos: position(id.NamePos), Len: utf8.RuneCountInString(id.Name)}}
	if hint, ok := habits.Hint(id.Name); ok {
		d.Help = []string{hint}
	} else if !c.meant(d, id.Name, bound) {
		d.Help = []string{"assign it, or load it: load(\"file.star\", \"" + id.Name + "\")"}
	}
	return d
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

// mostCompared bounds how many names of a usual length are compared while a script loads, to say
// what unknown ones may have meant: a script can have many of both.
const mostCompared = 1_000_000

// suggest is didYouMean as long as that is not too much work, which grows with the square of the
// name's length.
func (c *state) suggest(name string, among []string) string {
	if !c.compares(name, among) {
		return ""
	}
	return didYouMean(name, among)
}

// meant is the same for the name that a diagnostic is about.
func (c *state) meant(d *diag.Diagnostic, name string, among []string) bool {
	return c.compares(name, among) && d.Meant(name, among)
}

func (c *state) compares(name string, among []string) bool {
	c.compared += len(among) * (1 + len(name)*len(name)/128)
	return c.compared <= mostCompared && c.ctx.Err() == nil
}

// boundNames lists all that a name of the file could be: builtins, and what the file binds
// somewhere.
func (c *loader) boundNames(u *unit) []string {
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
