package starlib

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func indexLoads(u *script.Unit) {
	u.LoadStmts = map[syntax.Position]*syntax.LoadStmt{}
	for _, stmt := range u.File.Syntax().Stmts {
		if l, ok := stmt.(*syntax.LoadStmt); ok {
			u.LoadStmts[script.Key(l.Load)] = l
		}
	}
}

// load serves a load statement. It reports what cannot be loaded, and binds those names to stand-ins, so that the
// loading file is checked nevertheless.
func (c *loader) load(thread *starlark.Thread, module string) (starlark.StringDict, error) {
	pos := thread.CallFrame(0).Pos
	from := c.ByName[pos.Filename()]
	stmt := from.LoadStmts[script.Key(pos)]
	at := diag.Span{Pos: script.Position(pos), Len: len("load")}
	if stmt != nil {
		at = diag.Span{Pos: script.Position(stmt.Module.TokenPos), Len: utf8.RuneCountInString(stmt.Module.Raw)}
	}
	u := c.unitFor(from, module, at)
	dict := starlark.StringDict{} // only the names that are asked for: a file may define many
	if stmt == nil {
		return dict, nil
	}
	if from.Loaded == nil {
		from.Loaded = map[*syntax.Ident]starlark.Value{}
	}
	for i, id := range stmt.From {
		if dict[id.Name] == nil {
			dict[id.Name] = &value.Failed{}
			switch {
			case u == nil:
			case u.Globals[id.Name] != nil:
				dict[id.Name] = u.Globals[id.Name]
			case u.State == script.UnitDone && from.Missing.Room():
				c.missingName(from, u, id)
			}
		}
		from.Loaded[stmt.To[i]] = dict[id.Name]
	}
	return dict, nil
}

// missingName reports that the file u does not define a name that is loaded from it.
func (c *loader) missingName(from, u *script.Unit, id *syntax.Ident) {
	d := &diag.Diagnostic{Code: diag.LoadFailed, Span: script.NameSpan(id),
		Message: fmt.Sprintf("%s does not define %s", u.Shown, id.Name)}
	if u.Names == nil {
		u.Names = u.Globals.Keys()
	}
	if !c.Meant(d, id.Name, u.Names) && len(u.Names) > 0 {
		d.Help = []string{"it defines " + script.Some(u.Names)}
	}
	from.Missing.List = append(from.Missing.List, d)
	c.Session.Report(d)
}

// unitFor finds or loads the file that a load statement names. It returns nil on failure.
func (c *loader) unitFor(from *script.Unit, module string, at diag.Span) *script.Unit {
	p, bad := c.Resolve(from, module, at)
	if bad != nil {
		c.Session.Report(bad)
		return nil
	}
	u := c.Units[p]
	switch {
	case u == nil:
	case u.State == script.UnitLoading:
		c.Session.Report(c.cycle(u, from, at))
		return nil
	default:
		return u
	}
	content, err := c.ReadLoaded(p)
	if err != nil {
		d := &diag.Diagnostic{Code: diag.LoadFailed, Span: at, Message: fmt.Sprintf("cannot load %s: %s", module, script.ReadReason(err)), Cause: err}
		if !strings.HasSuffix(module, ".star") {
			if _, err := fs.Stat(c.opts.FS, p+".star"); err == nil {
				d.Help = []string{fmt.Sprintf("did you mean %q?", module+".star")}
			}
		}
		if len(d.Help) == 0 {
			d.Help = c.ReadHelp(p, err)
		}
		c.Session.Report(d)
		return nil
	}
	u = c.open(p)
	u.Text, u.From = content, at.Pos
	c.loading = append(c.loading, u)
	c.execute(u)
	c.loading = c.loading[:len(c.loading)-1]
	return u
}

// cycle returns the diagnostic for files that load each other, with the chain.
func (c *loader) cycle(u, from *script.Unit, at diag.Span) *diag.Diagnostic {
	files := c.loading[slices.Index(c.loading, u)+1:] // all of them if u is the entry script
	chain := text.Each(files, func(u *script.Unit) string { return u.Shown + " → " })
	d := &diag.Diagnostic{Code: diag.LoadCycle, Span: at, Message: "these files load each other: " + u.Shown + " → " + strings.Join(chain, "") + u.Shown,
		Help: []string{"move what both need into a third file"}}
	if from == u {
		d.Message = u.Shown + " loads itself"
		d.Help = nil
	}
	return d
}
