package source

import (
	"fmt"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// repeated finds a key that a dict is written with twice (AS213): making it fails, in a function only
// once that runs.
func (l *linter) repeated(d *syntax.DictExpr) {
	first := map[any]syntax.Expr{}
	for _, e := range d.List {
		entry, ok := e.(*syntax.DictEntry)
		if !ok {
			continue
		}
		key := startree.Unparen(entry.Key)
		value := writtenKey(key)
		if value == nil {
			continue
		}
		had := first[value]
		if had == nil {
			first[value] = key
			continue
		}
		report := l.report(diag.ScriptError, l.f.span(key), fmt.Sprintf("the key %s stands twice in this dict", l.f.short(key)), "")
		report.Notes = []diag.Note{{Message: "the first is here", Pos: l.f.span(had).Pos}}
		report.Help = []string{"leave one out, or give it another key; a value for several keys is a list: {" + l.f.short(key) + ": [a, b]}"}
	}
}

// writtenKey is what a key surely is, nil for what only running tells.
func writtenKey(key syntax.Expr) any {
	switch key := key.(type) {
	case *syntax.Ident:
		return key.Name
	case *syntax.Literal:
		switch v := key.Value.(type) {
		case string:
			if key.Token == syntax.STRING {
				return [1]string{v}
			}
		case int64:
			return v
		case float64: // 1.0 is the key 1
			if n := int64(v); float64(n) == v {
				return n
			}
			return v
		}
	}
	return nil
}

// compared finds a condition that is compared (AS320), as in 0 < ge(3), which is meant to test two
// things at once.
func (l *linter) compared(x *syntax.BinaryExpr, s *scope) {
	side, other, swapped := x.Y, x.X, true
	if l.kindOf(x.X, s).what == aCondition {
		side, other, swapped = x.X, x.Y, false
	} else if l.kindOf(x.Y, s).what != aCondition {
		return
	}
	d := l.report(diag.BadCondition, l.f.token(x.OpPos, x.Op.String()), "a condition is compared with nothing: it tests a value by itself", "")
	name := map[syntax.Token]string{syntax.LT: "lt", syntax.LE: "le", syntax.GT: "gt", syntax.GE: "ge"}[x.Op]
	if swapped {
		name = map[syntax.Token]string{syntax.LT: "gt", syntax.LE: "ge", syntax.GT: "lt", syntax.GE: "le"}[x.Op]
	}
	d.Help = []string{fmt.Sprintf("two conditions combine by `&`: `%s(%s) & %s`", name, l.f.short(other), l.f.short(side))}
}
