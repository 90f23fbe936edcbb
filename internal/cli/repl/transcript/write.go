package transcript

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/startree"
)

// name chooses the names of versions: the last one keeps its name, earlier ones get a number.
func (b *builder) name() {
	taken := map[string]bool{}
	for _, name := range b.Reserved {
		taken[name] = true
	}
	for _, p := range b.pieces {
		for name := range p.words() {
			taken[name] = true
		}
	}
	for name, v := range b.now {
		if v.name == name && !slices.Contains(b.Reserved, name) {
			v.as = name
		}
	}
	for _, p := range b.sorted() {
		for _, name := range slices.Sorted(maps.Keys(p.bind)) {
			v := p.bind[name]
			if !p.kept || v.as != "" {
				continue
			}
			v.as = v.name
			for n := 1; taken[v.as] || b.Builtin(v.as); n++ {
				v.as = fmt.Sprintf("%s_%d", v.name, n)
			}
			taken[v.as] = true
		}
	}
}

// words returns all identifiers of a statement.
func (p *piece) words() map[string]bool {
	words := map[string]bool{}
	if p.tree != nil {
		syntax.Walk(p.tree, func(n syntax.Node) bool {
			if id, ok := n.(*syntax.Ident); ok {
				words[id.Name] = true
			}
			return true
		})
	}
	return words
}

// write puts the pieces into a script.
func (b *builder) write() *Script {
	s := &Script{}
	types := map[*generable.Type]string{}
	read := map[*version]bool{}
	var last *piece // the last piece with a value
	for _, p := range b.sorted() {
		if p.st.Value {
			last = p
		}
	}
	for _, p := range b.pieces {
		p.shown = b.shows(p, p == last)
		if !p.kept && !p.shown {
			continue
		}
		p.uses(func(v *version) { read[v] = true })
		for _, v := range p.hoisted {
			read[v] = true
		}
		for _, v := range p.bind {
			if v.held.Meta != nil && !p.main {
				types[v.held.Meta] = v.as
			}
		}
	}
	for _, p := range b.sorted() {
		switch result := p.bind[Result]; {
		case !p.main && p.kept:
			s.Top = append(s.Top, b.statement(p, types))
		case p.main || p.shown:
			line := Line{Value: p.st.Value, Ran: p.st.Ran}
			if !p.st.Value || result == nil {
				line.Text = b.statement(p, types)
			} else {
				if held := result.held; held.Kind == Data {
					line.Answer, _ = Literal(held.Data, types)
				}
				if read[result] {
					line.Name = result.as
				}
				line.Text = p.edited(false)
			}
			s.Main = append(s.Main, line)
		}
	}
	return s
}

// shows reports whether a piece shows a value of the function.
func (b *builder) shows(p *piece, last bool) (shows bool) {
	if !p.st.Value || p.kept || !b.Values && !last {
		return false
	}
	all := true
	p.uses(func(v *version) {
		shows = shows || v.by.main
		all = all && v.by.kept
	})
	return shows && all
}

// statement writes a piece.
func (b *builder) statement(p *piece, types map[*generable.Type]string) string {
	if p.literal {
		v := p.bind[Result]
		text, _ := Literal(v.held.Data, types)
		return v.as + " = " + text
	}
	if v := p.bind[Result]; v != nil && v.name != Result { // an expression
		return v.as + " = " + p.edited(false)
	}
	if p.self {
		return p.augmented()
	}
	if !p.block || len(p.bind) == 0 {
		return p.edited(false)
	}
	names := slices.Sorted(maps.Keys(p.bind))
	if p.main {
		var before strings.Builder
		for _, name := range names {
			if old := p.read[name]; old != nil {
				fmt.Fprintf(&before, "%s = %s\n", p.bind[name].as, old.as)
			}
		}
		return before.String() + p.edited(false)
	}
	var bound, params, args []string
	for _, name := range names {
		bound = append(bound, p.bind[name].as)
		if old := p.read[name]; old != nil {
			params, args = append(params, name), append(args, old.as)
		}
	}
	last := p.bind[names[len(names)-1]].as
	body := []string{p.edited(true), "return " + strings.Join(names, ", ")}
	return Def("make_"+last, strings.Join(params, ", "), body) + "\n\n" +
		strings.Join(bound, ", ") + " = make_" + last + "(" + strings.Join(args, ", ") + ")"
}

// augmented writes x += e.
func (p *piece) augmented() string {
	stmt := p.tree.Stmts[0].(*syntax.AssignStmt)
	name := stmt.LHS.(*syntax.Ident).Name
	from, _ := stmt.RHS.Span()
	rhs := p.part(from, p.end(), false)
	switch stmt.RHS.(type) {
	case *syntax.BinaryExpr, *syntax.CondExpr, *syntax.LambdaExpr:
		rhs = "(" + rhs + "\n)"
		if !strings.Contains(rhs, "#") {
			rhs = strings.TrimSuffix(rhs, "\n)") + ")"
		}
	}
	old := p.read[name]
	if old == nil {
		return p.edited(false)
	}
	if v := p.bind[name]; v != nil {
		return v.as + " = " + old.as + " " + strings.TrimSuffix(stmt.Op.String(), "=") + " " + rhs
	}
	if old.held.Type == "list" {
		return old.as + ".extend(" + rhs + ")"
	}
	return old.as + ".update(" + rhs + ")"
}

// inPlace reports whether x += e changes the value that x holds.
func (p *piece) inPlace(v *version) bool {
	op := p.tree.Stmts[0].(*syntax.AssignStmt).Op
	return v.held.Type == "list" && op == syntax.PLUS_EQ || v.held.Type == "dict" && op == syntax.PIPE_EQ
}

// edit is a change to a text, with positions in its lines.
type edit struct {
	from, to syntax.Position
	text     string
}

// edited returns the text of a piece with the names of versions. Names that a block binds are kept if the piece is in a
// function.
func (p *piece) edited(local bool) string {
	if p.tree == nil {
		return p.text
	}
	return p.part(syntax.MakePosition(nil, 1, 1), p.end(), local)
}

// end returns the position after the text.
func (s *source) end() syntax.Position {
	lines := strings.Split(s.text, "\n")
	return syntax.MakePosition(nil, int32(len(lines)), int32(len([]rune(lines[len(lines)-1]))+1))
}

// part returns a part of the text, edited.
func (p *piece) part(from, to syntax.Position, local bool) string {
	var edits []edit
	for _, o := range p.names {
		name := o.id.Name
		v := p.read[name]
		if o.late {
			v = p.late[name]
		}
		if own := p.bind[name]; own != nil && (o.bound || o.behind || p.block) {
			if v = own; local {
				continue
			}
		}
		if v == nil || v.as == name {
			continue
		}
		text := v.as
		if o.tool && v.held.Kind == Function {
			text = fmt.Sprintf("tool(%s, name = %q)", text, name)
		}
		edits = append(edits, edit{o.id.NamePos, after(o.id.NamePos, len([]rune(name))), text})
	}
	for _, call := range p.inner {
		if v := p.hoisted[p.composition(call)]; v != nil {
			start, end := call.Fn.Span()
			edits = slices.DeleteFunc(edits, func(e edit) bool { return !before(e.from, start) && before(e.from, end) })
			edits = append(edits, edit{start, end, v.as}) // a name needs no parentheses
		}
	}
	edits = append(edits, p.ownName()...)
	edits = append(edits, p.loaded()...)
	return apply(p.text, from, to, edits)
}

// composition returns what a call composes, as it was entered.
func (p *piece) composition(call *syntax.CallExpr) string {
	parens := call.Fn.(*syntax.ParenExpr)
	return strings.TrimSpace(apply(p.text, after(parens.Lparen, 1), parens.Rparen, nil))
}

// ownName keeps the name of a value that takes its name from a variable when the variable gets another name.
func (p *piece) ownName() []edit {
	stmt, ok := p.tree.Stmts[0].(*syntax.AssignStmt)
	if !ok {
		return nil
	}
	id, ok := stmt.LHS.(*syntax.Ident)
	call, called := stmt.RHS.(*syntax.CallExpr)
	if !ok || !called || p.bind[id.Name] == nil || p.bind[id.Name].as == id.Name {
		return nil
	}
	fn, _ := call.Fn.(*syntax.Ident)
	param := map[string]string{"agent": "name", "schema": "_name", "enum": "_name"}
	if fn == nil || param[fn.Name] == "" || p.read[fn.Name] != nil {
		return nil
	}
	for i, arg := range call.Args {
		if named := startree.ArgOf(arg).Name; named != nil && named.Name == param[fn.Name] || named == nil && i == 0 && fn.Name == "agent" {
			return nil
		}
	}
	text := fmt.Sprintf("%s = %q", param[fn.Name], id.Name)
	at := after(call.Lparen, 1)
	if fn.Name == "agent" && len(call.Args) > 0 {
		return []edit{{at, at, text + ", "}}
	}
	if len(call.Args) > 0 {
		_, at = call.Args[len(call.Args)-1].Span()
		text = ", " + text
	}
	return []edit{{at, at, text}}
}

// loaded handles names that a load binds under another name.
func (p *piece) loaded() (edits []edit) {
	load, ok := p.tree.Stmts[0].(*syntax.LoadStmt)
	if !ok {
		return nil
	}
	for i, id := range load.To {
		if v := p.bind[id.Name]; v != nil && v.as != id.Name && id.NamePos == load.From[i].NamePos {
			edits = append(edits, edit{id.NamePos, id.NamePos, v.as + " = "})
		}
	}
	return edits
}

func after(at syntax.Position, n int) syntax.Position {
	at.Col += int32(n)
	return at
}

func before(a, b syntax.Position) bool { return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col }

// expression returns the expression of a statement, without the name that it binds.
func expression(s *source) string {
	if s.tree == nil || len(s.tree.Stmts) != 1 {
		return s.text
	}
	var e syntax.Expr
	switch stmt := s.tree.Stmts[0].(type) {
	case *syntax.ExprStmt:
		e = stmt.X
	case *syntax.AssignStmt:
		e = stmt.RHS
	default:
		return s.text
	}
	from, _ := e.Span()
	return strings.TrimSpace(apply(s.text, from, s.end(), nil))
}

// apply returns a part of a text with edits applied.
func apply(text string, from, to syntax.Position, edits []edit) string {
	lines := strings.SplitAfter(text, "\n")
	offsets := make([]int, len(lines))
	for i := 1; i < len(lines); i++ {
		offsets[i] = offsets[i-1] + len(lines[i-1])
	}
	offset := func(at syntax.Position) int {
		line, col := lines[at.Line-1], int(at.Col)-1
		for i := range line {
			if col == 0 {
				return offsets[at.Line-1] + i
			}
			col--
		}
		return offsets[at.Line-1] + len(line)
	}
	sorting.By(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from.Line, b.from.Line), cmp.Compare(a.from.Col, b.from.Col))
	})
	var b strings.Builder
	at, end := offset(from), offset(to)
	for _, e := range edits {
		if start := offset(e.from); start >= at && start <= end {
			b.WriteString(text[at:start] + e.text)
			at = offset(e.to)
		}
	}
	b.WriteString(text[at:end])
	return b.String()
}

// Def writes statements as the body of a function. Texts of several lines are kept unchanged.
func Def(name, params string, body []string) string {
	text := strings.Join(body, "\n")
	within := map[int]bool{} // lines that begin inside a text
	if tree, err := options.Parse("body", text, 0); err == nil {
		syntax.Walk(tree, func(n syntax.Node) bool {
			if s, ok := n.(*syntax.Literal); ok && s.Token == syntax.STRING {
				for i := range strings.Count(s.Raw, "\n") {
					within[int(s.TokenPos.Line)+i] = true
				}
			}
			return true
		})
	}
	var b strings.Builder
	b.WriteString("def " + name + "(" + params + "):")
	for i, line := range strings.Split(text, "\n") {
		b.WriteString("\n")
		if !within[i] && line != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
