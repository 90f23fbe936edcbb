package starlib

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/bounds"
	"github.com/agentscript/agentscript/starlib/internal/pythonisms"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// compile resolves and compiles a file. It reports everything that is wrong with names and statements: undefined names,
// names that are assigned twice, and misplaced statements. It adds nothing at a position that has a diagnostic already.
//
// Unknown names are not left to the interpreter's resolver: for each one it sorts all known names and compares them,
// which takes minutes for a file with thousands of unknown names. The resolver is told that they are predeclared, and
// their positions are found in the tree. Such a program is not run.
func (c *loader) compile(u *script.Unit, said diag.List) (*starlark.Program, diag.List) {
	tree := u.File.Syntax()
	form := c.form
	if c.formed != u {
		form = nil
	}
	unshape := func() {}
	if form != nil {
		tree, unshape = form.Shape(tree)
	}
	restore := bounds.Rewrite(tree, c.builtin)
	unknown := map[string]bool{}
	prog, err := starlark.FileProgram(tree, func(name string) bool {
		c.Sleeps = c.Sleeps || name == "sleep"
		switch {
		case c.Predeclared.Has(name), bounds.Names(name), form != nil && form.Means(name):
			return true
		case starlark.Universe.Has(name):
			return false
		}
		unknown[name] = true
		return true
	})
	restore()
	unshape()
	if err == nil && len(unknown) == 0 && form == nil && c.counters != nil {
		prog, err = c.covered(u.File.Syntax(), prog)
	}
	var list resolve.ErrorList
	switch {
	case err == nil && len(unknown) == 0:
		return prog, nil
	case err == nil && c.query.Guesses():
		for name := range unknown {
			c.standIn(name)
		}
		return prog, nil
	case err != nil && !errors.As(err, &list):
		return nil, diag.List{&diag.Diagnostic{Code: diag.SyntaxError, Message: err.Error(), Span: diag.Span{Pos: diag.Pos{File: u.Shown}}, Cause: err}}
	}
	told := map[diag.Pos]bool{} // for example a name of another language: the check of the tokens knows more
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
		} else if strings.Contains(e.Msg, "argument may not follow") {
			argumentOrder(d, u)
		} else {
			for _, r := range misplaced {
				if strings.Contains(e.Msg, r[0]) {
					d.Help = []string{r[1]}
				}
			}
		}
		found.List = append(found.List, d)
	}
	if len(unknown) > 0 {
		dropped := droppedLines(u)
		for _, id := range u.File.Predeclared(unknown) {
			if at := script.Position(id.NamePos); !told[at] && !dropped[id.NamePos.Line] && undefined.Room() {
				undefined.List = append(undefined.List, c.undefined(u, id, namesAt(u, id.NamePos)))
			}
		}
	}
	return nil, append(found.Told(), undefined.Told()...)
}

// covered compiles a file again, with probes. It leaves the tree unchanged.
func (c *loader) covered(tree *syntax.File, plain *starlark.Program) (*starlark.Program, error) {
	file := c.counters.Add(tree)
	guards := bounds.Rewrite(tree, c.builtin)
	probes, undo := file.Insert(tree, func(name string) bool {
		return starlark.Universe.Has(name) && !c.Predeclared.Has(name)
	})
	maps.Copy(c.environment, probes)
	prog, err := starlark.FileProgram(tree, c.environment.Has)
	undo()
	guards()
	if err != nil {
		return nil, err
	}
	return file.Aligned(plain, prog)
}

// builtin reports whether a name that a file does not bind refers to the interpreter's builtin.
func (c *loader) builtin(name string) bool {
	v := c.Predeclared[name]
	if v == nil {
		return starlark.Universe.Has(name)
	}
	_, own := v.(*starlark.Builtin)
	return own && name == "range"
}

// undefined returns the diagnostic of an undefined name.
func (c *loader) undefined(u *script.Unit, id *syntax.Ident, bound []string) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: diag.UndefinedName, Message: "undefined: " + id.Name,
		Span: script.NameSpan(id)}
	if pythonisms.Hint(d, id.Name, func() string { return restOfLine(u, id) }) {
		return d
	}
	if !c.Meant(d, id.Name, bound, append(c.Predeclared.Keys(), starlark.Universe.Keys()...)) {
		d.Help = []string{"assign it, or load it: load(\"file.star\", \"" + id.Name + "\")"}
	}
	return d
}

// restOfLine returns the rest of a line, from a name on.
func restOfLine(u *script.Unit, id *syntax.Ident) string {
	rest := string(u.Text)
	for range id.NamePos.Line - 1 {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	for range id.NamePos.Col - 1 {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// droppedLines returns the lines in the bodies of `if __name__ == "__main__":`. All of them are reported as dropped.
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

// namesAt lists the names that the file binds in the scopes around a place. It leaves out the names that another
// function binds, and those that the statement at the place binds.
func namesAt(u *script.Unit, at syntax.Position) []string {
	var names []string
	once := func() {
		slices.Sort(names)
		names = slices.Compact(names)
	}
	room := 1024
	add := func(e syntax.Expr) {
		if id, ok := e.(*syntax.Ident); ok && id != nil {
			if names = append(names, id.Name); len(names) == room { // a file may assign to a name often
				once()
				room = max(room, 2*len(names))
			}
		}
	}
	holds := func(n syntax.Node) bool {
		start, end := n.Span()
		return !before(at, start) && before(at, end)
	}
	opens := func(n syntax.Node, params []syntax.Expr) bool {
		if !holds(n) {
			return false
		}
		for _, p := range params {
			add(startree.ParamName(p))
		}
		return true
	}
	syntax.Walk(u.File.Syntax(), func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			if !holds(n) {
				startree.Targets(n.LHS, add)
			}
		case *syntax.ForStmt:
			startree.Targets(n.Vars, add)
		case *syntax.ForClause:
			startree.Targets(n.Vars, add)
		case *syntax.DefStmt:
			add(n.Name)
			return opens(n, n.Params)
		case *syntax.LambdaExpr:
			return opens(n, n.Params)
		case *syntax.Comprehension:
			return opens(n, nil)
		case *syntax.LoadStmt:
			for _, id := range n.To {
				add(id)
			}
		}
		return true
	})
	once()
	return names
}

func before(a, b syntax.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
}

// misplaced maps messages of the resolver about statements and parameters to what to do.
var misplaced = [...][2]string{
	{"return statement not within", "return belongs in a function; a file assigns its results: main = ..."},
	{"leading underscores", "a name that begins with an underscore is private to its file: rename it there"},
	{"break not in a loop", "leave it out, or put it into the for or while that it ends"},
	{"continue not in a loop", "leave it out, or put it into the for or while that it continues"},
	{"duplicate parameter", "give each parameter its own name"},
	{"limit is 255", "pass many values as one list: f(*[a, b, ...])"},
	{"keyword argument", "pass each argument once"},
	{"load statement within", "load at the top level: all functions can use what is loaded"},
	{"load stmt within", "load at the top level: all functions can use what is loaded"},
	{"multiple *args", "join the lists: f(*(a + b))"},
	{"multiple **kwargs", "join the dicts: f(**(a | b))"},
	{"required parameter may not follow", "put the parameters without a default first"},
}

// mostReordered bounds the arguments of a call that the help writes out in the right order.
const mostReordered = 30

// argumentOrder adds to a diagnostic about a misplaced argument the order that the arguments of the call must have.
func argumentOrder(d *diag.Diagnostic, u *script.Unit) {
	var call *syntax.CallExpr
	syntax.Walk(u.File.Syntax(), func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && slices.ContainsFunc(c.Args, func(arg syntax.Expr) bool { return u.File.SpanOf(arg).Pos == d.Span.Pos }) {
			call = c
		}
		return true
	})
	if call == nil {
		return
	}
	d.Help = []string{"the order is: values, name = value, *args, **kwargs"}
	if len(call.Args) > mostReordered {
		return
	}
	var parts [4][]string // in this order
	var late []string     // values after *args, which follow what it spreads
	for _, arg := range call.Args {
		a, shown := startree.ArgOf(arg), u.File.Shown(arg)
		switch {
		case shown == "":
			return
		case a.Name != nil:
			parts[1] = append(parts[1], shown)
		case a.Spread == syntax.STAR:
			parts[2] = append(parts[2], strings.TrimLeft(shown, "* "))
		case a.Spread == syntax.STARSTAR:
			parts[3] = append(parts[3], shown)
		case parts[2] != nil:
			late = append(late, shown)
		default:
			parts[0] = append(parts[0], shown)
		}
	}
	switch {
	case late != nil:
		parts[2] = []string{"*(list(" + parts[2][0] + ") + [" + strings.Join(late, ", ") + "])"}
	case parts[2] != nil:
		parts[2] = []string{"*" + parts[2][0]}
	}
	args := strings.Join(slices.Concat(parts[:]...), ", ")
	if fn := u.File.Shown(call.Fn); fn != "" {
		d.Help = append([]string{"write " + fn + "(" + args + ")"}, d.Help...)
	}
	if call.Lparen.Line == call.Rparen.Line {
		at := diag.Span{Pos: script.Position(call.Lparen), Len: int(call.Rparen.Col - call.Lparen.Col - 1)}
		at.Col++
		d.Fixes = []diag.Fix{{Message: "write " + args, Span: at, Replacement: args}}
	}
}

var declaredAt = lazy.Regexp(`^cannot reassign (top-level|global|local|\w+) ?(\w*)(?: declared at (.*):(\d+):(\d+))?$`)

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
