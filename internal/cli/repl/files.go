package repl

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// load adds the statements of a file, after checking the file as a whole.
func (s *session) load(file string) error {
	if file == "" {
		return s.wrong(":load FILE", ":load takes the name of a file")
	}
	name, source, err := s.statements(file)
	if err != nil {
		return s.fail(err)
	}
	s.loaded = file
	if err := s.whole(file); err != nil {
		return err
	}
	return s.eval(name, source, s.checked, nil)
}

// statements reads a script, or the script that loads a flow as JSON, and returns its name in positions.
func (s *session) statements(file string) (name, text string, err error) {
	read, err := setup.ReadSource(file)
	if err != nil {
		return "", "", err
	}
	if !flowjson.IsFlow(file, read) {
		return shown(file), string(read), nil
	}
	name, text, problem := s.flags.Flow.Script(file, string(read))
	if problem != nil {
		return "", "", problem
	}
	return shown(name), text, nil
}

// reload adds the composing statements of the file again. It leaves data unchanged, and skips what would run.
func (s *session) reload(string) error {
	if s.loaded == "" {
		return s.wrong(":load FILE loads one", "no file was loaded")
	}
	name, source, err := s.statements(s.loaded)
	if err != nil {
		return s.fail(err)
	}
	if err := s.whole(s.loaded); err != nil {
		return err
	}
	tree, err := options.Parse(s.loaded, []byte(source), 0)
	if err != nil { // reading it reports what is wrong
		return s.eval(name, source, s.checked, nil)
	}
	before := maps.Clone(s.written)
	m := s.ws.Module()
	lines := strings.SplitAfter(source, "\n")
	kept := make([]string, len(lines))
	for i, line := range lines {
		if strings.HasSuffix(line, "\n") {
			kept[i] = "\n"
		}
	}
	for _, stmt := range tree.Stmts {
		from, to := stmt.Span()
		bound := boundBy(stmt)
		written := strings.TrimSpace(strings.Join(lines[from.Line-1:min(int(to.Line), len(lines))], ""))
		if _, data := m.Value(bound); bound == "" || data && strings.TrimSpace(before[bound]) == written {
			continue // it has no name, or is data that did not change
		}
		copy(kept[from.Line-1:], lines[from.Line-1:min(int(to.Line), len(lines))])
	}
	var skipped []string
	err = s.eval(name, strings.Join(kept, ""), s.checked, func(b *agentscript.Block) bool {
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

// free reports an error if a command would overwrite a file without being told to.
func (s *session) free(command, file string) error {
	if _, err := os.Lstat(file); err == nil && !s.over {
		return s.wrong("name another file, or write over it: "+command+"! "+file, "%s is there already", file)
	}
	return nil
}

// write writes a file.
func (s *session) write(file, text string) error {
	flags := os.O_CREATE | os.O_EXCL | os.O_WRONLY
	if s.over {
		flags = os.O_CREATE | os.O_TRUNC | os.O_WRONLY
	}
	f, err := os.OpenFile(file, flags, 0o600)
	if err == nil {
		_, err = f.WriteString(s.c.Hidden(text))
		err = errors.Join(err, f.Close())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // the file will be created
		return s.wrong("", "%s: there is no directory %s", file, filepath.Dir(file))
	case err != nil:
		return s.wrong("", "%s: %s", file, term.FileProblem(err))
	}
	return nil
}
