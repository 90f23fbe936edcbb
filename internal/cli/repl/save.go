package repl

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/starlib"
)

// save writes the session as a script: what composes as it was entered, each name once, and what ran in a function.
func (s *session) save(file string) error {
	if file == "" {
		return s.wrong(":save FILE", ":save takes the name of a file")
	}
	composed, ran := s.parts()
	name := "main"
	if slices.Contains(s.ws.Module().Names(), "main") && boundIn(composed, "main") {
		name = "session"
	}
	script := strings.Join(composed, "\n\n") + "\n"
	if last := len(ran) - 1; last >= 0 {
		if isExpression(ran[last]) {
			ran[last] = "return " + ran[last]
		}
		script += function(name, "", ran)
	}
	if err := s.create(file, script); err != nil {
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
	if last := len(ran) - 1; isExpression(ran[last]) {
		if v, data := s.ws.Module().Value(starlib.Last); data {
			ran[last] = "t.eq(" + ran[last] + ", " + literal(v) + ")"
		}
	}
	ran = append([]string{fmt.Sprintf("t.replay(%q)", filepath.Base(record))}, ran...)
	if err := s.create(file, strings.Join(composed, "\n\n")+"\n"+function("test_session", "t", ran)); err != nil {
		return err
	}
	if err := s.create(record, s.tape.String()); err != nil {
		return err
	}
	return s.check(file)
}

// function writes statements as the body of a function.
func function(name, params string, body []string) string {
	return "\n\ndef " + name + "(" + params + "):\n    " + strings.ReplaceAll(strings.Join(body, "\n"), "\n", "\n    ") + "\n"
}

// boundIn reports whether one of some statements binds a name.
func boundIn(statements []string, name string) bool {
	return slices.ContainsFunc(statements, func(text string) bool { return boundBy(first(text)) == name })
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
func (s *session) parts() (composed, ran []string) {
	running := map[string]bool{} // names that what ran bound
	m := s.ws.Module()
	for i, st := range s.accepted {
		later := map[string]int{} // statements that bind a name behind this one
		for _, next := range s.accepted[i+1:] {
			for _, name := range next.names {
				later[name]++
			}
		}
		inRun := st.ran || speaksOf(st.text, running)
		switch {
		case inRun:
			for _, name := range st.names {
				running[name] = true
			}
			ran = append(ran, st.text)
		case len(st.names) == 0:
			if changes(st.text) {
				composed = append(composed, st.text)
			}
		case slices.ContainsFunc(st.names, func(name string) bool { return later[name] == 0 }):
			text := st.text
			if len(st.names) == 1 && speaksOf(st.text, map[string]bool{st.names[0]: true}) && !defines(st.text) {
				if v, data := m.Value(st.names[0]); data { // it was made of its own earlier value
					text = st.names[0] + " = " + literal(v)
				}
			}
			composed = append(composed, text)
		}
	}
	return composed, ran
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

// reload adds the statements of the file again that compose. Data stays as it is, and what would run does not.
func (s *session) reload(string) error {
	if s.loaded == "" {
		return s.wrong(":load FILE loads one", "no file was loaded")
	}
	source, err := setup.ReadSource(s.loaded)
	if err != nil {
		return s.fail(err)
	}
	tree, err := options.Parse(s.loaded, source, 0)
	if err != nil { // reading it says what is wrong
		return s.eval(filepath.Base(s.loaded), string(source), nil)
	}
	before := maps.Clone(s.written)
	m := s.ws.Module()
	lines := strings.SplitAfter(string(source), "\n")
	kept := make([]string, len(lines))
	for i, line := range lines {
		if strings.HasSuffix(line, "\n") {
			kept[i] = "\n"
		}
	}
	for _, stmt := range tree.Stmts {
		from, to := stmt.Span()
		name := boundBy(stmt)
		written := strings.TrimSpace(strings.Join(lines[from.Line-1:min(int(to.Line), len(lines))], ""))
		if _, data := m.Value(name); name == "" || data && strings.TrimSpace(before[name]) == written {
			continue // it has no name, or is data that did not change
		}
		copy(kept[from.Line-1:], lines[from.Line-1:min(int(to.Line), len(lines))])
	}
	var skipped []string
	err = s.eval(filepath.Base(s.loaded), strings.Join(kept, ""), func(b *agentscript.Block) bool {
		skipped = append(skipped, b.Names()...)
		return true
	})
	if err != nil {
		return err
	}
	var changed []string
	for name, text := range s.written {
		if before[name] != text {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	said := "nothing changed"
	if len(changed) > 0 {
		said = "changed: " + strings.Join(changed, ", ")
	}
	if len(skipped) > 0 {
		said += fmt.Sprintf("\nnot run again: %s", strings.Join(skipped, ", "))
	}
	return s.say(said)
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
