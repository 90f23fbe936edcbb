package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/internal/cli/repl/transcript"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// save writes the session as a script: what composes goes to the top level, and what ran into a function.
func (s *session) save(file string) error {
	if file == "" {
		return s.wrong(":save FILE", ":save takes the name of a file")
	}
	if err := s.free(":save", file); err != nil {
		return err
	}
	script := s.script(transcript.Options{})
	name := "main"
	if slices.ContainsFunc(s.accepted, func(st statement) bool { _, is := st.Held["main"]; return is }) {
		name = "session"
	}
	var body []string
	for i, line := range script.Main {
		switch last := i == len(script.Main)-1; {
		case line.Name != "":
			body = append(body, line.Name+" = "+line.Text)
		case line.Value && last:
			body = append(body, "return "+line.Text)
		default:
			body = append(body, line.Text)
		}
	}
	parts := script.Top
	if len(body) > 0 {
		parts = append(parts, transcript.Def(name, "", body))
	}
	return s.writeSound(":save", map[string]string{file: strings.Join(parts, "\n\n") + "\n"}, file)
}

// saveTest writes the session as a test, with a record of all answers of its runs next to it.
func (s *session) saveTest(file string) error {
	if !strings.HasSuffix(file, starlib.TestSuffix) {
		return s.wrong(":save-test flow"+starlib.TestSuffix, ":save-test takes the name of a file that ends in %s", starlib.TestSuffix)
	}
	script := s.script(transcript.Options{Reserved: []string{"t"}, Values: true})
	if len(script.Main) == 0 {
		return s.wrong("call a node first; :save FILE writes what was defined", "nothing ran that a test could repeat")
	}
	record := strings.TrimSuffix(file, ".star") + ".jsonl"
	for _, name := range []string{file, record} {
		if err := s.free(":save-test", name); err != nil {
			return err
		}
	}
	body := []string{fmt.Sprintf("t.replay(%q)", filepath.Base(record))}
	for _, line := range script.Main {
		if line.Name != "" {
			body = append(body, line.Name+" = "+line.Text)
			line.Text = line.Name
		}
		switch {
		case line.Value && line.Answer != "" && len(line.Answer) <= longAnswer:
			body = append(body, "t.eq("+line.Text+", "+line.Answer+")")
		case line.Name == "":
			body = append(body, line.Text)
		}
	}
	text := strings.Join(append(script.Top, transcript.Def("test_session", "t", body)), "\n\n") + "\n"
	return s.writeSound(":save-test", map[string]string{file: text, record: s.tape.String()}, file, record)
}

// script returns the session as a file, with its reserved names.
func (s *session) script(o transcript.Options) *transcript.Script {
	o.Results = starlib.Results()
	o.Builtin = func(name string) bool {
		_, is := starlib.Universe().Lookup(name)
		return is
	}
	return transcript.Of(text.Each(s.accepted, func(st statement) transcript.Statement { return st.Statement }), o)
}

// writeSound writes files, the first of which is a script. A script with errors is written only if the command has !.
func (s *session) writeSound(command string, texts map[string]string, files ...string) error {
	for _, file := range files {
		if err := s.write(file, texts[file]); err != nil {
			return err
		}
	}
	ctx, stop := s.c.Interruptible()
	defer stop()
	script := files[0]
	found, sources := setup.Engine(s.c, agentscript.WithUngranted()).CheckFile(ctx, script)
	s.c.Report(found, sources)
	if found.HasErrors() && !s.over {
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				return s.wrong("", "%s: %s", file, term.FileProblem(err))
			}
		}
		return s.wrong("write it anyway and fix it: "+command+"! "+script, "%s is not written, as it would have errors", script)
	}
	for _, file := range files {
		said := "wrote " + file
		if file == script && found.HasErrors() {
			said += ", which has errors"
		}
		if err := s.say(said); err != nil {
			return err
		}
	}
	return nil
}

// first returns the first statement of a text, or nil.
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

// boundBy returns the name that a statement binds, or "".
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
