package analysis

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/table"
)

// subjects lists what a text that names a subject may be.
func (v *View) subjects(of table.Subject, typed string) (out []Candidate) {
	add := func(name, line string) {
		if name != "" && !slices.ContainsFunc(out, func(c Candidate) bool { return c.Name == name }) {
			out = append(out, Candidate{name, name, string(of), cmp.Or(firstLine(line), "a "+string(of))})
		}
	}
	switch of {
	case table.FilePath:
		return v.files(typed, "")
	case table.RecordPath:
		return v.files(typed, ".jsonl")
	case table.FieldName:
		return v.fieldNames()
	case table.ModelName:
		for _, name := range v.Models {
			add(name, "a model")
		}
	case table.TypeName:
		for _, t := range v.State.Types.All {
			add(t.Name, cmp.Or(t.Doc, "a type of the script"))
		}
	case table.OperationName:
		for of := range table.Capabilities {
			for name, row := range v.Table.Of[of] {
				add(of+"."+name, row.Summary())
			}
		}
	case table.AgentName, table.ToolName, table.ServerName, table.SkillName:
		for _, n := range v.State.Session.Nodes() {
			a := n.Agent()
			if a == nil || n.Failed() {
				continue
			}
			if of == table.AgentName {
				add(a.Name, typeLine(n.In())+" -> "+typeLine(n.Out()))
			}
			if of == table.ToolName {
				for _, t := range a.AllTools() {
					add(t.Name, t.Doc)
				}
			}
			if of == table.ServerName {
				for _, s := range a.Servers {
					add(s.Name, cmp.Or(s.URL, s.Command))
				}
			}
			for _, s := range a.Skills {
				if of == table.SkillName {
					add(s.Name, s.Doc)
				}
			}
		}
	}
	if of == table.ToolName {
		for _, name := range v.toolsOfCall() {
			add(name, "a tool of this agent")
		}
	}
	sorting.By(out, func(a, b Candidate) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// toolsOfCall lists the functions that are tools of the call around the place.
func (v *View) toolsOfCall() (names []string) {
	call, _ := v.argument()
	if call == nil {
		return nil
	}
	for _, arg := range call.Args {
		a := startree.ArgOf(arg)
		list, ok := a.Value.(*syntax.ListExpr)
		if !ok || a.Name == nil || a.Name.Name != "tools" {
			continue
		}
		for _, item := range list.List {
			if made, ok := item.(*syntax.CallExpr); ok && len(made.Args) > 0 { // tool(f)
				item = made.Args[0]
			}
			if id, ok := item.(*syntax.Ident); ok {
				names = append(names, id.Name)
			}
		}
	}
	return names
}

// The bounds of looking at the files of a directory: their number, and the bytes of a script.
const (
	mostFiles  = 500
	mostScript = 1 << 20
)

// files lists the files that a path may name, below the script's directory.
func (v *View) files(typed, suffix string) []Candidate {
	if v.FS == nil {
		return nil
	}
	return Files(v.FS, v.Dir, typed, suffix)
}

// Files lists the files and directories of a tree that complete a typed path relative to dir, each with its size, and
// scripts with their first comment. It follows no links.
func Files(tree fs.FS, dir, typed, suffix string) (out []Candidate) {
	below := typed[:strings.LastIndexByte(typed, '/')+1]
	in := path.Join(dir, below)
	if path.IsAbs(typed) || !fs.ValidPath(in) || throughLink(tree, in) {
		return nil
	}
	entries, err := fs.ReadDir(tree, in)
	if err != nil {
		return nil // nothing to offer
	}
	for _, e := range entries[:min(len(entries), mostFiles)] {
		name := below + e.Name()
		switch {
		case strings.HasPrefix(e.Name(), ".") || !startsWith(name, typed):
		case e.IsDir():
			out = append(out, Candidate{name + "/", name + "/", "file", "a directory"})
		case strings.HasSuffix(name, suffix):
			out = append(out, Candidate{name, name, "file", fileLine(tree, path.Join(in, e.Name()), e)})
		}
	}
	return out
}

// throughLink reports whether a directory is a symbolic link or is reached through one.
func throughLink(tree fs.FS, dir string) bool {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if info, err := fs.Lstat(tree, dir); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// fileLine describes a file in one line.
func fileLine(tree fs.FS, name string, e fs.DirEntry) string {
	if !e.Type().IsRegular() {
		return "a link"
	}
	line := "a file"
	if info, err := e.Info(); err == nil {
		line = text.Count(info.Size(), "byte")
	}
	if strings.HasSuffix(name, ".star") {
		if about := firstComment(head(tree, name)); about != "" {
			return about
		}
	}
	return line
}

// head returns the beginning of a file, as far as it can be read.
func head(tree fs.FS, name string) string {
	f, err := tree.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	begin := make([]byte, 512)
	n, _ := f.Read(begin)
	return legible(string(begin[:n]))
}

// firstComment returns the text of the comment, or of the string, at the start of a script.
func firstComment(script string) string {
	line := firstLine(script)
	if about, ok := strings.CutPrefix(line, "#"); ok {
		return strings.TrimSpace(about)
	}
	for _, quote := range []string{`"""`, `"`, "'"} {
		if about, ok := strings.CutPrefix(line, quote); ok {
			if about = strings.TrimSpace(about); about == "" {
				about = firstLine(strings.TrimPrefix(strings.TrimSpace(script), quote))
			}
			return strings.TrimSuffix(about, quote)
		}
	}
	return ""
}

// loadable lists the names that a load can import from its file, each with its statement.
func (v *View) loadable(l *syntax.LoadStmt) (out []Candidate) {
	module, _ := l.Module.Value.(string)
	name := path.Join(v.Dir, module)
	if v.FS == nil || !fs.ValidPath(name) || throughLink(v.FS, name) {
		return nil
	}
	if info, err := fs.Stat(v.FS, name); err != nil || info.Size() > mostScript {
		return nil
	}
	src, err := fs.ReadFile(v.FS, name)
	if err != nil {
		return nil
	}
	r := Recover(string(src))
	tree, err := parse(r.Text)
	if err != nil {
		return nil
	}
	lines := strings.Split(r.Text, "\n")
	bindings(tree.Stmts, func(id *syntax.Ident, by syntax.Stmt) {
		if _, loads := by.(*syntax.LoadStmt); loads || strings.HasPrefix(id.Name, "_") {
			return
		}
		line := firstLine(lines[id.NamePos.Line-1])
		if def, ok := by.(*syntax.DefStmt); ok {
			line = cmp.Or(firstLine(ofDef(def).doc), line)
		}
		out = append(out, Candidate{id.Name, id.Name, "variable", text.Clip(line, mostLine)})
	})
	for _, name := range r.Lost {
		out = append(out, Candidate{name, name, "variable", unread})
	}
	return out
}

// mostLine bounds a statement that is shown for its name.
const mostLine = 80
