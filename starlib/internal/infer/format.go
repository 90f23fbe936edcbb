package infer

import (
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

// conversions matches the conversions of s % x; for a dict, their names.
var conversions = lazy.Regexp(`%(\([^)]*\))?(.)`)

// specified matches a conversion with a width, a precision or another verb of Python's, which is reported at a literal
// that has it.
var specified = lazy.Regexp(`%(\([^)]*\))?([-+ #0-9.*hlL]+[diouxXeEfFgGcrsa]|[ua])`)

// percent checks format % operand.
func (b *body) percent(s *state, at syntax.Node, v, w *possible.Value, left, right syntax.Expr) {
	format, ok := v.Exactly().(starlark.String)
	operand := startree.Unparen(right)
	if !ok || len(format) > 10_000 {
		b.failure(at, diag.BadFormat, works, nil, nil)
		return
	}
	wanted := 0
	for _, m := range conversions().FindAllStringSubmatch(string(format), -1) {
		if m[2] != "%" || m[1] != "" {
			wanted++
		}
	}
	var problem error
	var got int
	fails := func(a *possible.Alt) bool {
		var arg starlark.Value
		if arg, got = a.Formatted(strings.Contains(string(format), "%(")); arg == nil {
			return false
		}
		_, err := starlark.Binary(syntax.PERCENT, format, arg)
		if err != nil {
			problem = err
		}
		return err != nil
	}
	which, m := b.judge(s, w, fails)
	_, literal := startree.Unparen(left).(*syntax.Literal)
	if problem != nil && literal && strings.Contains(problem.Error(), "unknown conversion %") && specified().MatchString(string(format)) {
		which = works // it is reported as a syntax problem, which shows what to write
	}
	if w.Any && len(w.Alts) == 0 { // one value, or a tuple of any length
		which = works
	}
	b.failure(at, diag.BadFormat, which, m, func(f *finding) {
		f.says("this format does not fit: %s", problem)
		shown := b.in.shown(operand)
		switch {
		case strings.Contains(problem.Error(), "not enough arguments") || strings.Contains(problem.Error(), "too many arguments") || strings.Contains(problem.Error(), "not all arguments"):
			f.says("this format needs %s, and gets %s", wording.CountInWords(wanted, "value"), wording.CountInWords(got, "value"))
			if _, isTuple := operand.(*syntax.TupleExpr); !isTuple && wanted > 1 {
				f.help("pass a tuple of that many: `%% (%s%s)`", shown, strings.Repeat(", ...", wanted-1))
			} else {
				f.help("pass as many values as there are conversions; `%%%%` is a percent sign")
			}
		case strings.Contains(problem.Error(), "unknown conversion"):
			f.help("%s", thread.SlipHelp(problem.Error(), nil))
		case strings.Contains(problem.Error(), "requires"), strings.Contains(problem.Error(), "conversion"):
			f.help("`%%s` takes any value")
		default:
			f.help("`%%s` takes any value; `%%%%` is a percent sign")
		}
	})
}

// replacement matches one field of a format string: {}, {0}, {name}.
var replacement = lazy.Regexp(`\{\{|\}\}|\{([^{}!:]*)([^{}]*)\}`)

// format checks "...".format(...).
func (b *body) format(s *state, x *syntax.CallExpr, dot *syntax.DotExpr, on *possible.Value, args *arguments) {
	format, ok := on.Exactly().(starlark.String)
	if !ok || args.spread || len(format) > 10_000 {
		b.failure(x, diag.BadFormat, works, nil, nil)
		return
	}
	var pos starlark.Tuple
	for _, v := range args.values {
		pos = append(pos, possible.SampleFor(v))
	}
	var named []starlark.Tuple
	for _, n := range args.named {
		named = append(named, starlark.Tuple{starlark.String(n.name), possible.SampleFor(n.value)})
	}
	var err error
	if method, e := format.Attr("format"); e == nil && method != nil {
		_, err = method.(*starlark.Builtin).CallInternal(&starlark.Thread{}, pos, named)
	}
	which := works
	if err != nil && !strings.Contains(err.Error(), "format spec") { // it is reported as a syntax problem
		which = always
	}
	b.failure(x, diag.BadFormat, which, nil, func(f *finding) {
		f.says("this format does not fit: %s", strings.TrimPrefix(err.Error(), "format: "))
		b.formatHelp(f, string(format), args)
	})
}

func (b *body) formatHelp(f *finding, format string, args *arguments) {
	var missing, given []string
	for _, n := range args.named {
		given = append(given, n.name)
	}
	places := 0
	for _, m := range replacement().FindAllStringSubmatch(format, -1) {
		name := m[1]
		if m[0] == "{{" || m[0] == "}}" {
			continue
		}
		if n, err := strconv.Atoi(name); err == nil || name == "" {
			places = max(places+1, n+1)
			continue
		}
		if _, v := args.get(name); v == nil {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) == 1 && len(args.exprs) == 1 && places == 0:
		f.says("this format needs `%s` by name", missing[0])
		f.help("write `.format(%s = %s)`", missing[0], b.in.shown(args.exprs[0]))
	case len(missing) > 0:
		f.says("this format needs `%s` by name", missing[0])
		if near, ok := diag.Suggest(missing[0], given); ok {
			f.help("did you mean `%s`?", near)
		} else {
			f.help("write `.format(%s = ...)`", missing[0])
		}
	case places > len(args.exprs):
		f.says("this format needs %s, and gets %s", wording.CountInWords(places, "value"), wording.CountInWords(len(args.exprs), "value"))
		f.help("pass as many values as it has places; `{{` and `}}` are braces")
	default:
		f.help("`{}` takes the next value, `{name}` one by name; `{{` and `}}` are braces")
	}
}
