package infer

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	wording "github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/thread"
)

// trial is a call of a builtin of the interpreter, tried with samples of its receiver and its arguments.
type trial struct {
	call     *syntax.CallExpr
	fn       func(on *possible.Alt) *starlark.Builtin
	operands []operand // the receiver of a method first
	method   bool
	items    int // of lists whose items have a known type
}

// operand is the receiver or an argument.
type operand struct {
	expr syntax.Expr
	name string // of a keyword argument
	v    *possible.Value
}

// mostTrials bounds the combinations of alternatives that are tried.
const mostTrials = 64

// shapeError matches errors that depend on the number, the names and the types of arguments alone.
var shapeError = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`got .*wants? |want .*got |unexpected keyword|missing argument|keyword arguments|multiple values|not iterable|cannot convert|unhashable|has no len|not implemented|at least one positional`)
})

// try reports a call of a builtin that cannot succeed.
func (b *body) try(s *state, x *syntax.CallExpr, on syntax.Expr, onValue *possible.Value, args *arguments, fn func(on *possible.Alt) *starlark.Builtin) {
	if args.spread || b.in.quiet > 0 {
		return
	}
	t := &trial{call: x, fn: fn, method: on != nil}
	if on != nil {
		t.operands = append(t.operands, operand{expr: on, v: onValue})
	}
	for i, e := range args.exprs {
		t.operands = append(t.operands, operand{expr: e, v: args.values[i]})
	}
	for _, n := range args.named {
		t.operands = append(t.operands, operand{expr: n.expr, name: n.name, v: n.value})
	}
	if b.tried(s, t) || len(args.exprs)+len(args.named) == 0 {
		return
	}
	for t.items = 1; t.items <= 2; t.items++ { // what happens to items
		if b.tried(s, t) {
			return
		}
	}
}

// tried reports whether a trial fails; it is reported.
func (b *body) tried(s *state, t *trial) bool {
	if combos := t.combinations(); combos == 0 || combos > mostTrials {
		return false
	}
	which, m, at, lost := works, (*possible.Mark)(nil), 0, s.lost
	var fails func(a *possible.Alt) bool
	for i := range t.operands {
		own := func(a *possible.Alt) bool { return t.fails(i, a) != nil }
		if which, m = b.judge(s, t.operands[i].v, own); which != works {
			at, fails = i, own
			break
		}
	}
	var err error
	switch {
	case len(t.operands) == 0:
		if err = t.certain(nil); err != nil {
			which = always
		}
	case which != works:
		for i := range t.operands[at].v.Alts {
			if a := &t.operands[at].v.Alts[i]; err == nil && (m == nil || a.Mark == m) {
				err = t.fails(at, a)
			}
		}
	default:
		if err = t.fails(-1, nil); err != nil { // the number and the names of arguments are wrong for any
			which = always
		}
	}
	if which == always && t.items > 0 && t.mayBeEmpty() {
		s.lost = lost
		which, m = onPath, &possible.Mark{Steps: []possible.Step{{At: startOf(t.call), Says: "when `" + b.in.shown(t.container()) + "` " + [...]string{"", "is not empty", "has several items"}[t.items]}}}
	}
	b.failure(t.call, diag.WrongOperand, which, m, func(f *finding) { b.badCall(f, t, err) })
	if fails != nil && t.items == 0 {
		b.settle(s, t.operands[at].expr, which, fails)
	}
	return which != works
}

func startOf(n syntax.Node) syntax.Position {
	at, _ := n.Span()
	return at
}

// combinations returns how many there are of the alternatives of all operands.
func (t *trial) combinations() int {
	n := 1
	for i := range t.operands {
		if n *= max(1, len(t.operands[i].v.Alts)); n > mostTrials {
			break
		}
	}
	return n
}

// fails returns the error of calls in which an operand is this alternative, if all of them fail; -1 fixes none.
func (t *trial) fails(fixed int, a *possible.Alt) error {
	picked := make([]*possible.Alt, len(t.operands))
	var first error
	var try func(i int) bool // whether all fail
	try = func(i int) bool {
		if i == len(t.operands) {
			err := t.certain(picked)
			if first == nil {
				first = err
			}
			return err != nil
		}
		v := t.operands[i].v
		switch {
		case i == fixed:
			picked[i] = a
			return try(i + 1)
		case v.Any || len(v.Alts) == 0:
			picked[i] = nil
			return try(i + 1)
		}
		for k := range v.Alts {
			picked[i] = &v.Alts[k]
			if !try(i + 1) {
				return false
			}
		}
		return true
	}
	if !try(0) {
		return nil
	}
	return first
}

// certain returns the error of one call if every such call has one. nil stands for anything.
func (t *trial) certain(picked []*possible.Alt) error {
	err, constant := t.make(picked)
	if err == nil || possible.Concerns(err) || !constant && !shapeError().MatchString(err.Error()) {
		return nil
	}
	return err
}

// make makes one call, and reports whether it was made with constants alone.
func (t *trial) make(picked []*possible.Alt) (failed error, constant bool) {
	constant = true
	sample := func(i int) starlark.Value {
		if picked[i] == nil || picked[i].Kind == possible.Record && calledName(t.call) == "dict" { // of an instance dict makes a dict
			constant = false
			return possible.Anything
		}
		constant = constant && picked[i].IsConstant()
		return picked[i].Argument(t.items)
	}
	var on *possible.Alt
	rest := 0
	if t.method {
		on, rest = picked[0], 1
		if on == nil {
			return nil, false
		}
		constant = on.IsConstant()
	}
	fn := t.fn(on)
	if fn == nil {
		return nil, false
	}
	var args starlark.Tuple
	var named []starlark.Tuple
	for i := rest; i < len(t.operands); i++ {
		if name := t.operands[i].name; name != "" {
			named = append(named, starlark.Tuple{starlark.String(name), sample(i)})
		} else {
			args = append(args, sample(i))
		}
	}
	_, err := fn.CallInternal(&starlark.Thread{Print: func(*starlark.Thread, string) {}}, args, named)
	return err, constant
}

// container returns the operand whose items matter.
func (t *trial) container() syntax.Expr {
	for i := range t.operands {
		if a, ok := t.operands[i].v.Certain(); ok && a.Kind == possible.List && a.Items == nil && a.Elem != nil {
			return t.operands[i].expr
		}
	}
	return t.call
}

// mayBeEmpty reports whether a list of the operands may have fewer items than were tried.
func (t *trial) mayBeEmpty() bool {
	for i := range t.operands {
		if a, ok := t.operands[i].v.Certain(); ok && a.Kind == possible.List && a.Items == nil && (!a.Some || t.items > 1) {
			return true
		}
	}
	return false
}

var (
	countError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`got (\d+) arguments, wants? (?:at (least|most) |exactly )?(\d+)`)
	})
	keywordError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`unexpected keyword argument "?(\w+)"?(?: \(did you mean (\w+)\?\))?`)
	})
	wantError   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`got \S+?(?: for \w+)?, wants? (.+)$`) })
	scriptTypes = strings.NewReplacer("string", "str", "NoneType", "None", "callable", "a function", "iterable", "a list or another value with items")
)

// badCall words the message about a call that cannot succeed.
func (b *body) badCall(f *finding, t *trial, err error) {
	msg := err.Error()
	shown := b.in.shown(t.call.Fn)
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
		f.says("`%s` takes %s%s, and is given %d", shown, bound, wording.CountInWords(want, "argument"), got)
		f.help("give it %s%s", bound, wording.CountInWords(want, "argument"))
		return
	}
	i := -1
	if !strings.Contains(msg, "not implemented") { // of two values that have no order
		i = t.culprit(msg)
	}
	switch m := keywordError().FindStringSubmatch(msg); {
	case m != nil:
		f.Code = diag.UnknownArgument
		f.says("`%s` has no argument `%s`", shown, m[1])
		for _, e := range t.call.Args {
			if a := startree.ArgOf(e); a.Name != nil && a.Name.Name == m[1] {
				f.Span = b.in.u.File.SpanOf(a.Name)
			}
		}
		if m[2] != "" {
			f.Means(m[2])
		} else {
			f.help("leave it out, or give the value by position")
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
		f.help("give it one")
	case i < 0:
		f.says("`%s` fails: %s", b.in.shown(t.call), scriptTypes.Replace(msg))
		b.callHelp(f, t, i, msg)
	default:
		o := t.operands[i]
		o.v = failing(o.v, nil, func(a *possible.Alt) bool { return t.fails(i, a) != nil })
		t.operands[i] = o
		f.Span = b.in.u.File.SpanOf(o.expr)
		f.says("%s does not take %s, and `%s` is that", calledName(t.call), o.v.Words(), b.in.shown(o.expr))
		if !shapeError().MatchString(msg) {
			f.says("%s does not take `%s`: %s", calledName(t.call), b.in.shown(o.expr), strings.TrimSpace(msg[strings.Index(msg, ":")+1:]))
		}
		if m := wantError().FindStringSubmatch(msg); m != nil {
			f.Label = "it takes " + scriptTypes.Replace(m[1])
		}
		b.callHelp(f, t, i, msg)
	}
}

// callHelp adds the remedy for a call that cannot succeed because of an operand; -1 is none of them.
func (b *body) callHelp(f *finding, t *trial, i int, msg string) {
	wants := ""
	if m := wantError().FindStringSubmatch(msg); m != nil {
		wants = m[1]
	}
	if i >= 0 {
		o := t.operands[i]
		a, certain := o.v.Certain()
		_, items := a.Each()
		switch {
		case certain && wants == "string" && slices.Contains(texted, a.Kind):
			f.help("write `str(%s)`", b.in.shown(o.expr))
			return
		case certain && wants == "int" && (a.Kind == possible.Text && a.Exact == nil || a.Kind == possible.Float):
			f.help("write `int(%s)`", b.in.shown(o.expr))
			return
		case b.uncalled(f, o.expr, o.v):
			return
		case certain && a.Kind == possible.None:
			b.testBefore(f, o.expr)
			return
		case certain && !items && (strings.Contains(msg, "iterable") || strings.Contains(msg, "has no len")):
			f.helpItems(b, o.expr, o.v)
			return
		}
	}
	own := func(part string) string {
		switch {
		case part == "arg" && i >= 0:
			return b.in.shown(t.operands[i].expr)
		case part == "arg" && len(t.operands) > 0 && !t.method:
			return b.in.shown(t.operands[0].expr)
		case part == "of" && t.method:
			return b.in.shown(t.operands[0].expr)
		}
		return ""
	}
	_, bare, _ := strings.Cut(msg, ": ")
	otherwise := "write other values"
	if shapeError().MatchString(msg) {
		otherwise = "convert it, or test it before"
	}
	f.Diagnostic.Help = append(f.Diagnostic.Help, cmp.Or(thread.SlipHelp(msg, own), thread.SlipHelp(bare, own), otherwise))
}

// calledName is the name by which a call calls.
func calledName(call *syntax.CallExpr) string {
	switch fn := startree.Unparen(call.Fn).(type) {
	case *syntax.Ident:
		return fn.Name
	case *syntax.DotExpr:
		return fn.Name.Name
	}
	return "it"
}

// culprit returns the operand that the error of a call speaks of, -1 if that is not known.
func (t *trial) culprit(msg string) int {
	first := 0
	if t.method {
		first = 1
	}
	picked := make([]*possible.Alt, len(t.operands))
	for i := range t.operands {
		if v := t.operands[i].v; !v.Any && len(v.Alts) > 0 {
			picked[i] = &v.Alts[0]
		}
	}
	for i := first; i < len(t.operands); i++ {
		was := picked[i]
		if was == nil {
			continue
		}
		picked[i] = nil
		err, _ := t.make(picked)
		picked[i] = was
		if err != nil && err.Error() == strings.ReplaceAll(msg, was.Argument(t.items).Type(), possible.Anything.Type()) && possible.Concerns(err) {
			return i
		}
	}
	if len(t.operands) == first+1 {
		return first
	}
	return -1
}
