package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// typeComparison finds type(x) == str (AS214): type returns a string, so comparing it with a type is always False. The
// string "str" is not a name that type returns either; it is "string".
func (l *linter) typeComparison(x *syntax.BinaryExpr, s *scope) {
	call, other := l.typeCall(x.X, s), x.Y
	if call == nil && (x.Op == syntax.EQL || x.Op == syntax.NEQ) {
		call, other = l.typeCall(x.Y, s), x.X
	}
	if call == nil {
		return
	}
	among := []syntax.Expr{other}
	if x.Op == syntax.IN || x.Op == syntax.NOT_IN {
		among = startree.Elements(other)
	}
	wrong, all := []syntax.Expr(nil), []string(nil)
	for _, e := range among {
		name := l.f.short(e)
		switch lit, _ := startree.Unparen(e).(*syntax.Literal); {
		case l.kindOf(e, s).what == aType:
			wrong = append(wrong, e)
		case lit != nil && lit.Value == "str":
			wrong, name = append(wrong, e), "str"
		case lit != nil && lit.Token == syntax.STRING:
			name = cmp.Or(stringTypes[lit.Value.(string)], "…")
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if len(wrong) == 0 {
		return
	}
	result, not := "False", ""
	if x.Op == syntax.NEQ || x.Op == syntax.NOT_IN {
		result, not = "True", "not "
	}
	label := "`type` returns a string, this is a type"
	if _, ok := startree.Unparen(wrong[0]).(*syntax.Literal); ok {
		label = "`type` never returns this: a string's type is \"string\""
	}
	message := fmt.Sprintf("this comparison is always %s", result)
	if len(wrong) < len(among) {
		message = "`type` never returns this"
	}
	d := l.report(diag.TypeComparison, l.f.span(wrong[0]), message, label)
	fixed := fmt.Sprintf("%sisinstance(%s, %s)", not, l.f.short(call.Args[0]), strings.Join(all, " | "))
	d.Help = append(d.Help, "write `"+fixed+"`")
	if from, to := start(x), end(x); from.Line == to.Line && !strings.Contains(fixed, "…") {
		d.Fixes = append(d.Fixes, diag.Fix{Message: "use isinstance", Span: l.f.between(from, to), Replacement: fixed})
	}
}

// typeCall returns e if it is a call type(x) of the language's own type.
func (l *linter) typeCall(e syntax.Expr, s *scope) *syntax.CallExpr {
	call, ok := startree.Unparen(e).(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	id, ok := call.Fn.(*syntax.Ident)
	if !ok || id.Name != "type" {
		return nil
	}
	if b, _ := s.lookup("type"); b != nil || !startree.ArgOf(call.Args[0]).Positional() {
		return nil
	}
	return call
}

// stringTypes maps the strings that the language's type returns to types.
var stringTypes = map[string]string{"string": "str", "int": "int", "float": "float", "bool": "bool", "list": "list", "dict": "dict"}

// repeated finds a key that occurs twice in a dict literal (AS213): evaluating it fails, in a function only when that
// runs.
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
		report := l.report(diag.ScriptError, l.f.span(key), fmt.Sprintf("the key %s appears twice in this dict", l.f.short(key)), "")
		report.Notes = []diag.Note{{Message: "the first is here", Pos: l.f.span(had).Pos}}
		report.Help = []string{"leave one out, or use another key; a value for several keys is a list: {" + l.f.short(key) + ": [a, b]}"}
	}
}

// writtenKey returns the value that a key certainly has, or nil if only a run knows it.
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
		case float64: // 1.0 is the same key as 1
			if n := int64(v); float64(n) == v {
				return n
			}
			return v
		}
	}
	return nil
}

// compared finds a condition that is compared (AS320), as in 0 < ge(3), which is meant to test two things at once.
func (l *linter) compared(x *syntax.BinaryExpr, s *scope) {
	side, other, swapped := x.Y, x.X, true
	if l.kindOf(x.X, s).what == aCondition {
		side, other, swapped = x.X, x.Y, false
	} else if l.kindOf(x.Y, s).what != aCondition {
		return
	}
	d := l.report(diag.BadCondition, l.f.token(x.OpPos, x.Op.String()), "a condition cannot be compared: it tests a value itself", "")
	name := map[syntax.Token]string{syntax.LT: "lt", syntax.LE: "le", syntax.GT: "gt", syntax.GE: "ge"}[x.Op]
	if swapped {
		name = map[syntax.Token]string{syntax.LT: "gt", syntax.LE: "ge", syntax.GT: "lt", syntax.GE: "le"}[x.Op]
	}
	d.Help = []string{fmt.Sprintf("two conditions combine with `&`: `%s(%s) & %s`", name, l.f.short(other), l.f.short(side))}
}
