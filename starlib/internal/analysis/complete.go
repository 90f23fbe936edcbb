package analysis

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Completion is what can stand at a place.
type Completion struct {
	Range // of the text that a candidate replaces
	Items []Candidate
}

// Candidate is one thing that can stand at a place.
type Candidate struct {
	Name   string // as it is shown
	Insert string // the text to write
	Kind   string // argument, variable, function, builtin, type, node, module, field, method, value, file, model, agent or keyword
	Doc    string // one line; may be empty
}

// mostOffered bounds the candidates of one place.
const mostOffered = 500

// Complete returns what can stand at the place that was asked about.
func (v *View) Complete(p *Place) Completion {
	c := Completion{Range: p.Word}
	if p.none {
		return c
	}
	offer := func(items []Candidate) { c.Items = append(c.Items, items...) }
	path := v.Query.path
	if len(path) == 0 { // the statement there could not be read
		offer(v.names())
		return c.beginning(p.typed)
	}
	around := path[len(path)-2]
	switch at := path[len(path)-1].(type) {
	case *syntax.Literal:
		return v.inString(p, at)
	case *syntax.Ident:
		switch around := around.(type) {
		case *syntax.DotExpr:
			if around.Name == at {
				offer(v.members(around.X))
				return c.beginning(p.typed)
			}
		case *syntax.DefStmt:
			if around.Name == at || slices.Contains(around.Params, syntax.Expr(at)) {
				return c
			}
		case *syntax.LambdaExpr:
			if slices.Contains(around.Params, syntax.Expr(at)) {
				return c
			}
		case *syntax.LoadStmt:
			return c
		case *syntax.BinaryExpr: // the value of a keyword argument
			if call, name := v.argument(at); call != nil {
				if name == nil {
					break
				}
				for _, e := range v.expected(call, around) {
					offer([]Candidate{{Name: quoted(e), Insert: quoted(e), Kind: "value"}})
				}
			}
		case *syntax.DictEntry:
			if around.Key == syntax.Expr(at) {
				offer(v.unhandled())
			}
		}
		if call, ok := around.(*syntax.CallExpr); ok && call.Fn != syntax.Expr(at) {
			offer(v.keywords(call, at))
			for _, e := range v.expected(call, at) {
				offer([]Candidate{{Name: quoted(e), Insert: quoted(e), Kind: "value"}})
			}
		}
		offer(v.names())
	}
	return c.beginning(p.typed)
}

func quoted(s string) string { return syntax.Quote(s, false) }

// beginning keeps the candidates that begin with what is typed, whatever its case, each name once.
func (c Completion) beginning(typed string) Completion {
	seen := map[string]bool{}
	typed = strings.ToLower(typed)
	c.Items = slices.DeleteFunc(c.Items, func(i Candidate) bool {
		name := strings.TrimLeft(strings.ToLower(i.Name), `"`)
		drop := seen[i.Name] || !strings.HasPrefix(name, typed) || strings.Contains(i.Name, placeholder) || i.Name == wrapper
		seen[i.Name] = true
		return drop
	})
	c.Items = c.Items[:min(len(c.Items), mostOffered)]
	return c
}

// local is a name that a function around the place binds.
type local struct {
	name string
	doc  string
}

// locals lists the names that the functions and comprehensions around the place bind, the innermost first.
func (v *View) locals() (out []local) {
	params := func(list []syntax.Expr) {
		for _, p := range list {
			if id := startree.ParamName(p); id != nil {
				out = append(out, local{id.Name, "a parameter"})
			}
		}
	}
	bind := func(e syntax.Expr) {
		startree.Targets(e, func(e syntax.Expr) {
			if id, ok := e.(*syntax.Ident); ok {
				out = append(out, local{id.Name, ""})
			}
		})
	}
	for i := len(v.Query.path) - 1; i > 0; i-- {
		switch n := v.Query.path[i].(type) {
		case *syntax.LambdaExpr:
			params(n.Params)
		case *syntax.Comprehension:
			for _, clause := range n.Clauses {
				if f, ok := clause.(*syntax.ForClause); ok {
					bind(f.Vars)
				}
			}
		case *syntax.DefStmt:
			params(n.Params)
			var block func(stmts []syntax.Stmt)
			block = func(stmts []syntax.Stmt) {
				for _, stmt := range stmts {
					switch stmt := stmt.(type) {
					case *syntax.AssignStmt:
						bind(stmt.LHS)
					case *syntax.ForStmt:
						bind(stmt.Vars)
					case *syntax.DefStmt:
						bind(stmt.Name)
					}
					startree.Blocks(stmt, block)
				}
			}
			block(n.Body)
		}
	}
	return out
}

// names lists the names in scope, the nearest first, and the words of the language.
func (v *View) names() (out []Candidate) {
	for _, n := range v.locals() {
		out = append(out, Candidate{n.name, n.name, "variable", n.doc})
	}
	for _, name := range sorted(v.Names) {
		t := exactly(v.Names[name])
		if _, failed := t.value.(*value.Failed); failed {
			out = append(out, Candidate{name, name, "variable", ""})
			continue
		}
		out = append(out, Candidate{name, name, t.category(), t.line(v)})
	}
	for _, name := range v.Query.Names {
		out = append(out, Candidate{name, name, "variable", ""})
	}
	for _, name := range sorted(v.State.Predeclared) {
		if row, ok := v.Table.Lookup(name); ok {
			kind := "builtin"
			if row.Returns == "module" {
				kind = "module"
			}
			out = append(out, Candidate{name, name, kind, row.Summary()})
		} else if _, failed := v.State.Predeclared[name].(*value.Failed); !failed {
			t := exactly(v.State.Predeclared[name])
			out = append(out, Candidate{name, name, t.category(), t.line(v)})
		}
	}
	for _, name := range sorted(starlark.Universe) {
		out = append(out, Candidate{name, name, "builtin", ""})
	}
	for _, word := range words {
		out = append(out, Candidate{word, word, "keyword", ""})
	}
	return out
}

// words are those of the syntax.
var words = []string{"and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda", "load", "not", "or", "pass", "return", "while"}

func sorted(names starlark.StringDict) []string {
	keys := names.Keys()
	slices.Sort(keys)
	return keys
}

// members lists what x.name may be. Where nothing is known of x, it may be an instance of any schema of the script, or a
// text.
func (v *View) members(x syntax.Expr) (out []Candidate) {
	things := v.of(x, 0)
	if len(things) == 0 {
		for _, t := range v.State.Types.All {
			things = append(things, thing{typ: t})
		}
		things = append(things, thing{word: "str"})
	}
	for _, on := range things {
		for _, t := range on.parts() {
			out = append(out, v.membersOf(t)...)
		}
	}
	return out
}

func (v *View) membersOf(t thing) (out []Candidate) {
	if typ, ok := t.value.(*value.Type); ok && typ.T.Deref().Kind == generable.EnumType {
		d := typ.T.Deref()
		for i, name := range d.Values {
			if isName(name) {
				out = append(out, Candidate{name, name, "value", d.Note(i).Doc})
			}
		}
	}
	rows := v.Table.Of[t.kind()]
	for _, name := range table.Names(rows) {
		out = append(out, Candidate{name, name, "method", rows[name].Summary()})
	}
	if t.typ != nil && t.typ.Deref().Kind == generable.RecordType {
		d := t.typ.Deref()
		for i := range d.Fields {
			f := &d.Fields[i]
			if isName(f.Name) {
				out = append(out, Candidate{f.Name, f.Name, "field", fieldLine(f)})
			}
		}
		return out
	}
	if own := methods[t.word]; own != nil {
		for _, name := range own {
			out = append(out, Candidate{name, name, "method", "-> " + resultOf(t.word, name)})
		}
		return out
	}
	if has, ok := t.value.(starlark.HasAttrs); ok {
		for _, name := range has.AttrNames() {
			if rows[name] != nil {
				continue
			}
			out = append(out, Candidate{name, name, "field", ""})
		}
	}
	return out
}

func fieldLine(f *generable.Field) string {
	line, _, _ := strings.Cut(f.Guide, "\n")
	if line == "" {
		return f.Type.String()
	}
	return f.Type.String() + ": " + line
}

func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	from, to := wordAround(s, 0)
	return from == 0 && to == len(s) && !slices.Contains(words, s)
}
