package starlib

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
)

func (u *unit) indexLoads() {
	u.loads = map[syntax.Position]*syntax.LoadStmt{}
	for _, stmt := range u.file.Syntax().Stmts {
		if l, ok := stmt.(*syntax.LoadStmt); ok {
			u.loads[key(l.Load)] = l
		}
	}
}

// key makes positions of one file comparable.
func key(p syntax.Position) syntax.Position {
	return syntax.MakePosition(nil, p.Line, p.Col)
}

// load serves a load statement. What cannot be loaded is reported, and stand-ins take the
// place of the names, so that the loading file is checked all the same.
func (c *loader) load(thread *starlark.Thread, module string) (starlark.StringDict, error) {
	pos := thread.CallFrame(0).Pos
	from := c.shown[pos.Filename()]
	stmt := from.loads[key(pos)]
	at := diag.Span{Pos: position(pos), Len: len("load")}
	if stmt != nil {
		at = diag.Span{Pos: position(stmt.Module.TokenPos), Len: utf8.RuneCountInString(stmt.Module.Raw)}
	}
	u := c.unitFor(from, module, at)
	dict := starlark.StringDict{} // of the names that are asked for: a file may define many
	if stmt == nil {
		return dict, nil
	}
	if from.taken == nil {
		from.taken = map[*syntax.Ident]starlark.Value{}
	}
	for i, id := range stmt.From {
		if dict[id.Name] == nil {
			dict[id.Name] = &failedValue{}
			switch {
			case u == nil:
			case u.globals[id.Name] != nil:
				dict[id.Name] = u.globals[id.Name]
			case u.state == unitDone && from.missing.room():
				c.missingName(from, u, id)
			}
		}
		from.taken[stmt.To[i]] = dict[id.Name]
	}
	return dict, nil
}

// missingName tells that the file u does not define a name that is loaded from it.
func (c *loader) missingName(from, u *unit, id *syntax.Ident) {
	d := &diag.Diagnostic{Code: diag.LoadFailed, Span: diag.Span{Pos: position(id.NamePos), Len: utf8.RuneCountInString(id.Name)},
		Message: fmt.Sprintf("%s does not define %s", u.shown, id.Name)}
	if u.names == nil {
		u.names = u.globals.Keys()
	}
	if !c.meant(d, id.Name, u.names) && len(u.names) > 0 {
		d.Help = []string{"it defines " + some(u.names)}
	}
	from.missing.list = append(from.missing.list, d)
	c.session.Report(d)
}

// unitFor finds, or loads, the file that a load statement names; nil when there is none.
func (c *loader) unitFor(from *unit, module string, at diag.Span) *unit {
	p, bad := c.resolve(from, module, at)
	if bad != nil {
		c.session.Report(bad)
		return nil
	}
	u := c.units[p]
	switch {
	case u == nil:
	case u.state == unitLoading:
		c.session.Report(c.cycle(u, from, at))
		return nil
	default:
		return u
	}
	text, err := c.read(p)
	if err != nil {
		d := &diag.Diagnostic{Code: diag.LoadFailed, Span: at, Message: fmt.Sprintf("cannot load %s: %s", module, reason(err)), Cause: err}
		if !strings.HasSuffix(module, ".star") {
			if _, err := fs.Stat(c.opts.FS, p+".star"); err == nil {
				d.Help = []string{fmt.Sprintf("did you mean %q?", module+".star")}
			}
		}
		if len(d.Help) == 0 {
			d.Help = c.unreadHelp(p, err)
		}
		c.session.Report(d)
		return nil
	}
	u = c.open(p)
	u.text, u.from = text, at.Pos
	c.loading = append(c.loading, u)
	c.execute(u)
	c.loading = c.loading[:len(c.loading)-1]
	return u
}

// cycle reports files that load each other, with the chain.
func (c *loader) cycle(u, from *unit, at diag.Span) *diag.Diagnostic {
	chain := []string{u.shown}
	on := false
	for _, l := range c.loading {
		if on {
			chain = append(chain, l.shown)
		}
		on = on || l == u
	}
	if !on { // the entry script is part of it
		chain = chain[:1]
		for _, l := range c.loading {
			chain = append(chain, l.shown)
		}
	}
	chain = append(chain, u.shown)
	d := &diag.Diagnostic{Code: diag.LoadCycle, Span: at, Message: "these files load each other: " + strings.Join(chain, " → "),
		Help: []string{"move what both need into a third file"}}
	if from == u {
		d.Message = u.shown + " loads itself"
		d.Help = nil
	}
	return d
}
