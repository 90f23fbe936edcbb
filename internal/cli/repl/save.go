package repl

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// save writes the session as a script: what composes as it was entered, each name once, and what ran in a function.
func (s *session) save(file string) error {
	if file == "" {
		return s.wrong(":save FILE", ":save takes the name of a file")
	}
	if err := s.free(":save", file); err != nil {
		return err
	}
	composed, ran := s.parts()
	name := "main"
	if slices.ContainsFunc(composed, func(st statement) bool { return slices.Contains(st.names, "main") }) {
		name = "session"
	}
	script, body := texts(composed), texts(ran)
	if last := len(ran) - 1; last >= 0 {
		if ran[last].value {
			body[last] = "return " + body[last]
		}
		script = append(script, function(name, "", body))
	}
	if err := s.write(file, strings.Join(script, "\n\n")+"\n"); err != nil {
		return err
	}
	return s.check(file)
}

// saveTest writes the session as a test beside a record of all that its runs were answered.
func (s *session) saveTest(file string) error {
	if !strings.HasSuffix(file, starlib.TestSuffix) {
		return s.wrong(":save-test flow"+starlib.TestSuffix, ":save-test takes the name of a file that ends in %s", starlib.TestSuffix)
	}
	composed, ran := s.parts()
	if len(ran) == 0 {
		return s.wrong("call a node first; :save FILE writes what was defined", "nothing ran that a test could repeat")
	}
	record := strings.TrimSuffix(file, ".star") + ".jsonl"
	for _, name := range []string{file, record} {
		if err := s.free(":save-test", name); err != nil {
			return err
		}
	}
	body := []string{fmt.Sprintf("t.replay(%q)", filepath.Base(record))}
	for _, st := range ran {
		switch {
		case st.answer == "":
			body = append(body, st.text)
		case st.value:
			body = append(body, "t.eq("+st.text+", "+st.answer+")")
		default: // a later one speaks of it
			body = append(body, st.text, "t.eq("+st.names[0]+", "+st.answer+")")
		}
	}
	if err := s.write(file, strings.Join(append(texts(composed), function("test_session", "t", body)), "\n\n")+"\n"); err != nil {
		return err
	}
	if err := s.write(record, s.tape.String()); err != nil {
		return err
	}
	return s.check(file)
}

func texts(statements []statement) []string {
	return text.Each(statements, func(st statement) string { return st.text })
}

// function writes statements as the body of a function.
func function(name, params string, body []string) string {
	return "def " + name + "(" + params + "):\n    " + strings.ReplaceAll(strings.Join(body, "\n"), "\n", "\n    ")
}

// check reports what is wrong with a script that was saved.
func (s *session) check(file string) error {
	ctx, stop := s.c.Interruptible()
	defer stop()
	found, sources := setup.Engine(s.c, agentscript.WithUngranted()).CheckFile(ctx, file)
	s.c.Report(found, sources)
	return nil
}

// parts are the statements of the session: those that compose, each name once, and those that ran.
func (s *session) parts() (composed, ran []statement) {
	all := s.namedResults()
	lastBound := map[string]int{}
	for i, st := range all {
		for _, name := range st.names {
			lastBound[name] = i
		}
	}
	running := map[string]bool{} // names that what ran bound
	gone := map[string]bool{}    // names whose earlier value is not written
	for i, st := range all {
		switch {
		case st.ran || speaksOf(st.text, running):
			for _, name := range st.names {
				running[name] = true
			}
			ran = append(ran, st)
		case len(st.names) == 0:
			if changes(st.text) {
				composed = append(composed, st)
			}
		case slices.ContainsFunc(st.names, func(name string) bool { return lastBound[name] == i }):
			if len(st.names) == 1 && speaksOf(st.text, gone) && !defines(st.text) {
				if v, data := s.ws.Module().Value(st.names[0]); data { // it was made of what is not written
					st.text = st.names[0] + " = " + literal(v)
				}
			}
			composed = append(composed, st)
		default:
			for _, name := range st.names {
				gone[name] = true
			}
		}
		for _, name := range st.names {
			if lastBound[name] == i {
				delete(gone, name)
			}
		}
	}
	return composed, ran
}

// namedResults are the statements of the session, where a result that a later one speaks of as _ has a name.
func (s *session) namedResults() []statement {
	all := slices.Clone(s.accepted)
	var results []int // the statements that they come from, latest first
	for i := range all {
		st := &all[i]
		for k, name := range starlib.Results() {
			if k >= len(results) || !speaksOf(st.text, map[string]bool{name: true}) || bindsWithin(st.text, name) {
				continue
			}
			from := &all[results[k]]
			if len(from.names) == 0 {
				from.names = []string{s.fresh(all)}
				from.text, from.value = from.names[0]+" = "+from.text, false
			}
			st.text = renamed(st.text, name, from.names[0])
		}
		if st.value {
			results = slices.Insert(results, 0, i)
		}
	}
	return all
}

// fresh is a name for a result that nothing has.
func (s *session) fresh(all []statement) string {
	m := s.ws.Module()
	for n := 1; ; n++ {
		name := "result"
		if n > 1 {
			name += fmt.Sprint(n)
		}
		taken := slices.ContainsFunc(all, func(st statement) bool { return slices.Contains(st.names, name) })
		if typ, _, _, _ := m.Describe(name); typ == "" && !taken {
			return name
		}
	}
}

// bindsWithin reports whether a text binds a name anywhere, as in [0 for _ in xs].
func bindsWithin(source, name string) (binds bool) {
	tree, err := options.Parse("entry", source, 0)
	if err != nil {
		return false
	}
	among := func(targets ...syntax.Expr) {
		for _, target := range targets {
			syntax.Walk(target, func(n syntax.Node) bool {
				id, ok := n.(*syntax.Ident)
				binds = binds || ok && id.Name == name
				return true
			})
		}
	}
	syntax.Walk(tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ForStmt:
			among(n.Vars)
		case *syntax.ForClause:
			among(n.Vars)
		case *syntax.AssignStmt:
			among(n.LHS)
		case *syntax.DefStmt:
			among(n.Params...)
		case *syntax.LambdaExpr:
			among(n.Params...)
		}
		return !binds
	})
	return binds
}

// renamed writes another name for one that a text reads.
func renamed(source, from, to string) string {
	tree, err := options.Parse("entry", source, 0)
	if err != nil {
		return source
	}
	lines := strings.SplitAfter(source, "\n")
	var found []syntax.Position
	syntax.Walk(tree, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && id.Name == from {
			found = append(found, id.NamePos)
		}
		return true
	})
	slices.SortFunc(found, func(a, b syntax.Position) int { return int(b.Line-a.Line)*1_000_000 + int(b.Col-a.Col) })
	for _, at := range found { // the last one first, so that those before it stay where they are
		line := []rune(lines[at.Line-1])
		lines[at.Line-1] = string(line[:at.Col-1]) + to + string(line[int(at.Col)-1+len(from):])
	}
	return strings.Join(lines, "")
}

// speaksOf reports whether a text reads one of some names.
func speaksOf(source string, names map[string]bool) bool {
	tree, err := options.Parse("entry", source, 0)
	if err != nil {
		return false
	}
	found := false
	syntax.Walk(tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			if _, whole := n.LHS.(*syntax.Ident); whole && n.Op == syntax.EQ {
				syntax.Walk(n.RHS, func(n syntax.Node) bool {
					id, ok := n.(*syntax.Ident)
					found = found || ok && names[id.Name]
					return true
				})
				return false
			}
		case *syntax.Ident:
			found = found || names[n.Name]
		}
		return true
	})
	return found
}

// first is the first statement of a text, nil for none.
func first(source string) syntax.Stmt {
	tree, err := options.Parse("entry", source, 0)
	if err != nil || len(tree.Stmts) == 0 {
		return nil
	}
	return tree.Stmts[0]
}

func isExpression(source string) bool {
	_, is := first(source).(*syntax.ExprStmt)
	return is
}

// defines reports whether a text is a function or loads one.
func defines(source string) bool {
	switch first(source).(type) {
	case *syntax.DefStmt, *syntax.LoadStmt:
		return true
	}
	return false
}

// changes reports whether a text changes what names hold: a call of a method, or a block.
func changes(source string) bool {
	stmt := first(source)
	e, is := stmt.(*syntax.ExprStmt)
	if !is {
		return stmt != nil
	}
	call, is := e.X.(*syntax.CallExpr)
	if !is {
		return false
	}
	_, method := call.Fn.(*syntax.DotExpr)
	return method
}

// boundBy is the name that a statement binds, "" for none.
func boundBy(stmt syntax.Stmt) string {
	switch stmt := stmt.(type) {
	case *syntax.DefStmt:
		return stmt.Name.Name
	case *syntax.AssignStmt:
		if id, ok := stmt.LHS.(*syntax.Ident); ok {
			return id.Name
		}
	case *syntax.LoadStmt:
		if len(stmt.To) > 0 {
			return stmt.To[0].Name
		}
	}
	return ""
}
