package infer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/startree"
	wording "github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/thread"
)

// try reports a call of a builtin that cannot succeed.
func (b *body) try(s *state, x *syntax.CallExpr, on syntax.Expr, onValue *possible.Value, args *arguments, fn func(on *possible.Alt) *starlark.Builtin) {
	if args.spread || b.in.quiet > 0 {
		return
	}
	t := &possible.Trial{Call: x, Name: calledName(x), Fn: fn, Method: on != nil}
	if on != nil {
		t.Operands = append(t.Operands, possible.Operand{Expr: on, V: onValue})
	}
	for i, e := range args.exprs {
		t.Operands = append(t.Operands, possible.Operand{Expr: e, V: args.values[i]})
	}
	for _, n := range args.named {
		t.Operands = append(t.Operands, possible.Operand{Expr: n.expr, Name: n.name, V: n.value})
	}
	if b.tried(s, t) || len(args.exprs)+len(args.named) == 0 {
		return
	}
	for t.Items = 1; t.Items <= 2; t.Items++ { // the errors may depend on the items
		if b.tried(s, t) {
			return
		}
	}
}

// tried tries a call. If it fails, tried reports that and returns true.
func (b *body) tried(s *state, t *possible.Trial) bool {
	if combos := t.Combinations(); combos == 0 || combos > possible.MostTrials {
		return false
	}
	which, m, at, lost := works, (*possible.Mark)(nil), 0, s.lost
	var fails func(a *possible.Alt) bool
	for i := range t.Operands {
		own := func(a *possible.Alt) bool { return t.Fails(i, a) != nil }
		if which, m = b.judge(s, t.Operands[i].V, own); which != works {
			at, fails = i, own
			break
		}
	}
	var err error
	switch {
	case len(t.Operands) == 0:
		if err = t.Certain(nil); err != nil {
			which = always
		}
	case which != works:
		for i := range t.Operands[at].V.Alts {
			if a := &t.Operands[at].V.Alts[i]; err == nil && (m == nil || a.Mark == m) {
				err = t.Fails(at, a)
			}
		}
	default:
		if err = t.Fails(-1, nil); err != nil { // the number or names of the arguments are wrong, whatever their values are
			which = always
		}
	}
	if which == always && t.Items > 0 && t.MayBeEmpty() {
		s.lost = lost
		which, m = onPath, &possible.Mark{Steps: []possible.Step{{At: startOf(t.Call), Says: "when `" + b.in.shown(t.Container()) + "` " + [...]string{"", "is not empty", "has several items"}[t.Items]}}}
	}
	b.failure(t.Call, diag.WrongOperand, which, m, func(f *finding) { b.badCall(f, t, err) })
	if fails != nil && t.Items == 0 {
		b.settle(s, t.Operands[at].Expr, which, fails)
	}
	return which != works
}

func startOf(n syntax.Node) syntax.Position {
	at, _ := n.Span()
	return at
}

var (
	countError   = lazy.Regexp(`got (\d+) arguments, wants? (?:at (least|most) |exactly )?(\d+)`)
	keywordError = lazy.Regexp(`unexpected keyword argument "?(\w+)"?(?: \(did you mean (\w+)\?\))?`)
	wantError    = lazy.Regexp(`got \S+?(?: for \w+)?, wants? (.+)$`)
	scriptTypes  = strings.NewReplacer("string", "str", "NoneType", "None", "callable", "a function", "iterable", "a list or another value with items")
)

// badCall words the message about a call that cannot succeed.
func (b *body) badCall(f *finding, t *possible.Trial, err error) {
	msg := err.Error()
	shown := b.in.shown(t.Call.Fn)
	if m := countError().FindStringSubmatch(msg); m != nil {
		got, _ := strconv.Atoi(m[1])
		want, _ := strconv.Atoi(m[3])
		bound := ""
		if m[2] != "" {
			bound = "at " + m[2] + " "
		}
		f.Code = diag.TooManyArguments
		if got < want {
			f.Code = diag.MissingArgument
		}
		f.says("`%s` takes %s%s, and gets %d", shown, bound, wording.CountInWords(want, "argument"), got)
		f.help("pass %s%s", bound, wording.CountInWords(want, "argument"))
		return
	}
	i := -1
	if !strings.Contains(msg, "not implemented") { // the message is about two values without an order
		i = t.Culprit(msg)
	}
	switch m := keywordError().FindStringSubmatch(msg); {
	case m != nil:
		f.Code = diag.UnknownArgument
		f.says("`%s` has no argument `%s`", shown, m[1])
		for _, e := range t.Call.Args {
			if a := startree.ArgOf(e); a.Name != nil && a.Name.Name == m[1] {
				f.Span = b.in.u.File.SpanOf(a.Name)
			}
		}
		if m[2] != "" {
			f.Means(m[2])
		} else {
			f.help("leave it out, or pass the value by position")
		}
	case strings.Contains(msg, "keyword arguments"):
		f.Code = diag.UnknownArgument
		f.says("`%s` takes its arguments by position", shown)
		f.help("write the values without names")
	case strings.Contains(msg, "missing argument"), strings.Contains(msg, "at least one positional"):
		f.Code = diag.MissingArgument
		f.says("`%s` needs an argument", shown)
		if _, name, ok := strings.Cut(msg, "missing argument for "); ok {
			f.says("`%s` needs `%s`", shown, name)
		}
		f.help("pass one")
	case i < 0:
		f.says("`%s` fails: %s", b.in.shown(t.Call), scriptTypes.Replace(msg))
		b.callHelp(f, t, i, msg)
	default:
		o := t.Operands[i]
		o.V = failing(o.V, nil, func(a *possible.Alt) bool { return t.Fails(i, a) != nil })
		t.Operands[i] = o
		f.Span = b.in.u.File.SpanOf(o.Expr)
		f.says("%s does not take %s, and `%s` is that", t.Name, o.V.Words(), b.in.shown(o.Expr))
		if !possible.ShapeError().MatchString(msg) {
			f.says("%s does not take `%s`: %s", t.Name, b.in.shown(o.Expr), strings.TrimSpace(msg[strings.Index(msg, ":")+1:]))
		}
		if m := wantError().FindStringSubmatch(msg); m != nil {
			f.Label = "it takes " + scriptTypes.Replace(m[1])
		}
		b.callHelp(f, t, i, msg)
	}
}

// callHelp adds the remedy for a call that cannot succeed because of operand i; -1 means none of them.
func (b *body) callHelp(f *finding, t *possible.Trial, i int, msg string) {
	wants := ""
	if m := wantError().FindStringSubmatch(msg); m != nil {
		wants = m[1]
	}
	if i >= 0 {
		o := t.Operands[i]
		a, certain := o.V.Certain()
		_, items := a.Each()
		switch {
		case certain && wants == "string" && slices.Contains(texted, a.Kind):
			f.help("write `str(%s)`", b.in.shown(o.Expr))
			return
		case certain && wants == "int" && (a.Kind == possible.Text && a.Exact == nil || a.Kind == possible.Float):
			f.help("write `int(%s)`", b.in.shown(o.Expr))
			return
		case b.uncalled(f, o.Expr, o.V):
			return
		case certain && a.Kind == possible.None:
			b.testBefore(f, o.Expr)
			return
		case certain && !items && (strings.Contains(msg, "iterable") || strings.Contains(msg, "has no len")):
			f.helpItems(b, o.Expr, o.V)
			return
		}
	}
	own := func(part string) string {
		switch {
		case part == "arg" && i >= 0:
			return b.in.shown(t.Operands[i].Expr)
		case part == "arg" && len(t.Operands) > 0 && !t.Method:
			return b.in.shown(t.Operands[0].Expr)
		case part == "of" && t.Method:
			return b.in.shown(t.Operands[0].Expr)
		}
		return ""
	}
	_, bare, _ := strings.Cut(msg, ": ")
	otherwise := "write other values"
	if possible.ShapeError().MatchString(msg) {
		otherwise = "convert it, or test it before"
	}
	f.Diagnostic.Help = append(f.Diagnostic.Help, cmp.Or(thread.SlipHelp(msg, own), thread.SlipHelp(bare, own), otherwise))
}

// calledName returns the name that a call uses.
func calledName(call *syntax.CallExpr) string {
	switch fn := startree.Unparen(call.Fn).(type) {
	case *syntax.Ident:
		return fn.Name
	case *syntax.DotExpr:
		return fn.Name.Name
	}
	return "it"
}
