package conformance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
)

// randomHead declares what random programs use; the interpreter alone runs them with stand-ins for it.
const randomHead = `R = schema("A result", score = int, txt = str)
_a = agent(output = list[R], run = lambda t: json.decode(t))
_one = agent(output = R, run = lambda t: json.decode(t))
_count = agent(output = int, run = lambda t: json.decode(t))
_flag = agent(output = bool, run = lambda t: json.decode(t))
_opt = agent(output = str | None, run = lambda t: json.decode(t))
_join = agent(input = list[str], run = lambda xs: json.decode(xs[0]))
`

// randomRecord stands in for an instance of R.
type randomRecord struct {
	score int
	txt   string
}

func (r *randomRecord) String() string        { return "R(...)" }
func (r *randomRecord) Type() string          { return "R" }
func (r *randomRecord) Freeze()               {}
func (r *randomRecord) Truth() starlark.Bool  { return true }
func (r *randomRecord) Hash() (uint32, error) { return uint32(r.score), nil }
func (r *randomRecord) AttrNames() []string   { return []string{"score", "txt"} }

func (r *randomRecord) Attr(name string) (starlark.Value, error) {
	switch name {
	case "score":
		return starlark.MakeInt(r.score), nil
	case "txt":
		return starlark.String(r.txt), nil
	}
	return nil, nil
}

// randomStandIns returns the agents of randomHead as functions: they freeze their inputs and outputs.
func randomStandIns() starlark.StringDict {
	builtin := func(name string, f func(th *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)) starlark.Value {
		return starlark.NewBuiltin(name, func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(th, args, kwargs)
		})
	}
	record := func(score int, txt string) starlark.Value {
		return &randomRecord{score, txt}
	}
	node := func(name string, takesList bool, f func(n int, t string) starlark.Value) starlark.Value {
		return builtin(name, func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) != 1 || len(kwargs) > 0 {
				return nil, fmt.Errorf("%s takes one input", name)
			}
			list, isList := args[0].(*starlark.List)
			t, isText := starlark.AsString(args[0])
			if isList != takesList || !isList && !isText {
				return nil, fmt.Errorf("%s does not take %s", name, args[0].Type())
			}
			for i := 0; isList && i < list.Len(); i++ {
				if _, ok := list.Index(i).(starlark.String); !ok {
					return nil, fmt.Errorf("%s does not take %s", name, args[0])
				}
			}
			args[0].Freeze()
			v := f(len(t), t)
			v.Freeze()
			return v, nil
		})
	}
	fields := func(name string, r *randomRecord, kwargs []starlark.Tuple, all bool) (starlark.Value, error) {
		for _, kv := range kwargs {
			n, isInt := kv[1].(starlark.Int)
			t, isText := starlark.AsString(kv[1])
			switch field, _ := starlark.AsString(kv[0]); {
			case field == "score" && isInt:
				r.score = int(n.BigInt().Int64())
			case field == "txt" && isText:
				r.txt = t
			default:
				return nil, fmt.Errorf("%s: %s does not take %s", name, field, kv[1].Type())
			}
		}
		if all && len(kwargs) < 2 {
			return nil, fmt.Errorf("%s needs its fields", name)
		}
		return r, nil
	}
	return starlark.StringDict{
		"R": builtin("R", func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) > 0 {
				return nil, fmt.Errorf("R takes its fields by name")
			}
			return fields("R", &randomRecord{}, kwargs, true)
		}),
		"replace": builtin("replace", func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			r, ok := args[0].(*randomRecord)
			if !ok {
				return nil, fmt.Errorf("replace takes a record")
			}
			made := *r
			return fields("replace", &made, kwargs, false)
		}),
		"_a": node("_a", false, func(n int, t string) starlark.Value {
			return starlark.NewList([]starlark.Value{record(n, t), record(n+1, "b")})
		}),
		"_one":   node("_one", false, func(n int, t string) starlark.Value { return record(n, t) }),
		"_count": node("_count", false, func(n int, _ string) starlark.Value { return starlark.MakeInt(n % 3) }),
		"_flag":  node("_flag", false, func(n int, _ string) starlark.Value { return starlark.Bool(n%2 == 0) }),
		"_opt": node("_opt", false, func(n int, t string) starlark.Value {
			if n%2 == 0 {
				return starlark.None
			}
			return starlark.String(t)
		}),
		"_join": node("_join", true, func(int, string) starlark.Value { return starlark.String("joined") }),
		"parallel": builtin("parallel", func(th *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if len(args) != 2 {
				return nil, fmt.Errorf("parallel: %d arguments", len(args))
			}
			items, ok := args[1].(*starlark.List)
			if !ok {
				return nil, fmt.Errorf("items: want list")
			}
			args[0].Freeze()
			var out []starlark.Value
			for i := range items.Len() {
				items.Index(i).Freeze()
				v, err := starlark.Call(th, args[0], starlark.Tuple{items.Index(i)}, nil)
				if err != nil {
					return nil, err
				}
				v.Freeze()
				out = append(out, v)
			}
			return starlark.NewList(out), nil
		}),
	}
}

// randomProgram is written statement by statement. A statement is followed by a print of its number, and a branch
// begins with one, so that a run reports what it passed through.
type randomProgram struct {
	*rand.Rand
	b      strings.Builder
	line   int
	marks  int
	after  map[int]int       // the mark after the statement of a line
	lazy   map[int]bool      // lines whose parts may be skipped
	sides  map[int][2]int    // the marks of the branches of an if
	loops  bool              // it contains loops
	types  map[string]string // believed types of names
	wild   bool              // much of it fails
	helper string            // a callable function of a str
	bound  []string          // names that the function binds somewhere
}

func (p *randomProgram) put(indent int, format string, args ...any) int {
	fmt.Fprintf(&p.b, strings.Repeat("    ", indent)+format+"\n", args...)
	p.line++
	return p.line
}

func (p *randomProgram) mark(indent int) int {
	p.marks++
	p.put(indent, "print(%d)", p.marks)
	return p.marks
}

// rarely returns what may fail in wild programs, and otherwise what works.
func (p *randomProgram) rarely(fails, works string) string {
	if p.wild && p.IntN(3) == 0 {
		return fails
	}
	return works
}

func (p *randomProgram) of(options ...string) string { return options[p.IntN(len(options))] }

var randomTypes = []string{"int", "str", "bool", "texts", "records", "record", "dict", "opt", "ints"}

// name returns a name that is believed to hold a type, sometimes any other.
func (p *randomProgram) name(want string) (string, bool) {
	var fits []string
	for _, n := range []string{"t", "n", "x0", "x1", "x2", "x3", "x4"} {
		if p.types[n] == want || p.wild && p.types[n] != "" && p.IntN(40) == 0 {
			fits = append(fits, n)
		}
	}
	if p.wild && len(p.bound) > 0 && p.IntN(60) == 0 { // it may have no value here
		return p.bound[p.IntN(len(p.bound))], true
	}
	if len(fits) == 0 {
		return "", false
	}
	return fits[p.IntN(len(fits))], true
}

// expr returns an expression that is believed to have a type; sometimes parts are left out, which line records.
func (p *randomProgram) expr(want string, depth int) string {
	if p.wild && p.IntN(35) == 0 { // of another type
		want = randomTypes[p.IntN(len(randomTypes))]
	}
	if n, ok := p.name(want); ok && p.IntN(3) > 0 {
		return n
	}
	if depth <= 0 {
		switch want {
		case "int":
			return fmt.Sprintf("(%d)", p.IntN(4))
		case "str":
			return p.of(`"a"`, `"bc"`, "TEXT")
		case "bool":
			return p.of("True", "False", "FLAG")
		case "texts":
			return p.of(`["a"]`, `["a", "b"]`)
		case "ints":
			return p.of("[1]", "[2, 1]")
		case "dict":
			return p.of(`{"a": 1}`, `{"a": 2, "b": 1}`, "SIZES")
		case "records":
			return p.of(`_a("a")`, `_a("ab")`)
		case "record":
			return p.of(`_one("a")`, `_one("ab")`)
		}
		return "None"
	}
	sub := func(t string) string { return p.expr(t, depth-1) }
	switch want {
	case "int":
		return p.of("len("+sub("texts")+")", "_count("+sub("str")+")", "("+sub("int")+" + "+sub("int")+")", sub("record")+".score", sub("dict")+`["a"]`, sub("ints")+"[0]",
			"len("+sub("str")+")", "max("+sub("ints")+")", "("+sub("int")+" if "+sub("bool")+" else "+sub("int")+")", "int("+sub("bool")+")", sub("dict")+p.rarely(`["b"]`, `["a"]`), sub("dict")+`.get("b", 0)`)
	case "str":
		return p.of("("+sub("str")+" + "+sub("str")+")", sub("record")+".txt", "str("+sub("int")+")", `"%s" % `+sub("str"), `"%s-%d" % (`+sub("str")+", "+sub("int")+")", `"{}".format(`+sub("int")+")",
			sub("texts")+"[0]", `",".join(`+sub("texts")+")", sub("str")+".upper()", "("+sub("opt")+` or "none")`, "_join("+sub("texts")+")", `"{x}".format(x = `+sub("str")+")", "type("+sub("int")+")",
			sub("record")+p.rarely(".text", ".txt"), p.helper+"("+sub("str")+")")
	case "bool":
		return p.of("_flag("+sub("str")+")", "("+sub("int")+" < "+sub("int")+")", "("+sub("str")+" == "+sub("str")+")", "("+sub("str")+" in "+sub("str")+")", "("+sub("opt")+" != None)", "(not "+sub("bool")+")",
			"("+sub("bool")+" and "+sub("bool")+")", `("a" in `+sub("dict")+")", "("+sub("str")+" in "+sub("texts")+")")
	case "texts":
		return p.of("["+sub("str")+"]", sub("str")+`.split("b")`, "[c.txt for c in "+sub("records")+"]", "sorted("+sub("texts")+")", "("+sub("texts")+" + "+sub("texts")+")", "[s.upper() for s in "+sub("texts")+"]", "list("+sub("texts")+")",
			"parallel(lambda r: r.txt, "+sub("records")+")", "[r."+p.rarely("text", "txt")+" for r in "+sub("records")+"]")
	case "ints":
		return p.of("["+sub("int")+"]", "[c.score for c in "+sub("records")+"]", "[len(s) for s in "+sub("texts")+"]", "parallel(lambda s: len(s), "+sub("texts")+")", "[i for i in range(3)]", "[v for k, v in "+sub("dict")+".items()]")
	case "records":
		return p.of("_a("+sub("str")+")", "sorted("+sub("records")+", key = lambda r: r.score)", "parallel(_one, "+sub("texts")+")", "[r for r in "+sub("records")+"]")
	case "record":
		return p.of("_one("+sub("str")+")", sub("records")+"[0]", "R(score = "+sub("int")+", txt = "+sub("str")+")", "replace("+sub("record")+", "+p.rarely("text", "txt")+" = "+sub("str")+")",
			p.rarely("R("+sub("int")+")", "R(txt = "+sub("str")+", score = "+sub("int")+")"), "max("+sub("records")+", key = lambda r: r.score)")
	case "dict":
		return p.of(`{"a": `+sub("int")+"}", `{"a": `+sub("int")+`, "b": `+sub("int")+"}", "dict("+sub("dict")+")")
	case "opt":
		return p.of("_opt("+sub("str")+")", "("+sub("str")+" if "+sub("bool")+" else None)", "None")
	}
	return "None"
}

// simple writes a statement of one line.
func (p *randomProgram) simple(indent int) {
	name := fmt.Sprint("x", p.IntN(5))
	t := randomTypes[p.IntN(len(randomTypes))]
	code := name + " = " + p.expr(t, 2)
	assigned := true
	switch p.IntN(12) {
	case 0:
		if n, ok := p.name("texts"); ok {
			code, assigned = n+".append("+p.expr("str", 1)+")", false
		}
	case 1:
		if n, ok := p.name("dict"); ok {
			code, assigned = n+`["b"] = `+p.expr("int", 1), false
		}
	case 2:
		if n, ok := p.name("int"); ok {
			code, assigned = n+" += "+p.expr("int", 1), false
		}
	case 3:
		if n, ok := p.name("texts"); ok {
			code, assigned = n+" += "+p.expr("texts", 1), false
		}
	case 4:
		code, assigned = p.expr(t, 2), false
	case 5:
		code, assigned = p.of(p.rarely("NAMES.append("+p.expr("str", 0)+")", "x2 = NAMES"), p.rarely("x0, x1 = "+p.expr("texts", 0), "x2 = NAMES"), "x0, x1 = ("+p.expr("int", 0)+", "+p.expr("str", 0)+")", "x2 = NAMES"), false
	}
	line := p.put(indent, "%s", code)
	if to, _, ok := strings.Cut(code, " = "); ok && !strings.ContainsAny(to, "[(\"") {
		p.bound = append(p.bound, strings.Split(to, ", ")...)
	}
	if assigned {
		p.types[name] = t
	}
	p.after[line] = p.mark(indent)
	for _, word := range []string{" and ", " or ", " if ", " for ", "lambda"} {
		p.lazy[line] = p.lazy[line] || strings.Contains(code, word)
	}
}

func (p *randomProgram) copyTypes() map[string]string {
	out := map[string]string{}
	for k, v := range p.types {
		out[k] = v
	}
	return out
}

// block writes some statements.
func (p *randomProgram) block(indent int) {
	for range 1 + p.IntN(4) {
		switch k := p.IntN(10); {
		case k < 2 && indent < 4:
			before := p.copyTypes()
			line := p.put(indent, "if %s:", p.expr("bool", 1))
			yes := p.mark(indent + 1)
			p.block(indent + 1)
			then := p.types
			p.types = before
			p.put(indent, "else:")
			no := p.mark(indent + 1)
			if p.IntN(2) == 0 {
				p.block(indent + 1)
			}
			p.sides[line] = [2]int{yes, no}
			for k, v := range p.types {
				if then[k] != v && p.IntN(3) > 0 {
					delete(p.types, k)
				}
			}
			if p.IntN(4) == 0 {
				p.types = then
			}
		case k == 2 && indent < 4 && p.loops:
			before := p.copyTypes()
			p.put(indent, "for x%d in %s:", p.IntN(5), p.expr(p.of("texts", p.rarely("str", "records")), 1))
			p.mark(indent + 1)
			p.block(indent + 1)
			if p.IntN(4) == 0 {
				p.put(indent+1, "if %s:", p.expr("bool", 1))
				p.put(indent+2, "%s", p.of("break", "continue"))
			}
			if p.IntN(3) > 0 {
				p.types = before
			}
		case k == 3 && p.IntN(8) == 0 && indent > 1:
			p.put(indent, "return %s", p.expr("str", 1))
			return
		default:
			p.simple(indent)
		}
	}
}

func newRandomProgram(seed uint64) *randomProgram {
	p := &randomProgram{Rand: rand.New(rand.NewPCG(seed, 26)), after: map[int]int{}, lazy: map[int]bool{}, sides: map[int][2]int{}, types: map[string]string{}}
	p.loops, p.wild = p.IntN(2) == 0, p.IntN(2) == 0
	p.put(0, `NAMES = ["x", "y"]`)
	p.put(0, `SIZES = {"a": 1}`)
	p.put(0, `TEXT = "text"`)
	p.put(0, "FLAG = True")
	p.helper = "str"
	p.put(0, "def helper(t):")
	p.types = map[string]string{"t": "str"}
	p.simple(1)
	p.put(1, "return %s", p.expr("str", 1))
	p.helper, p.bound = "helper", nil
	p.put(0, "def main(t = str, n = int):")
	p.types = map[string]string{"t": "str", "n": "int"}
	p.block(1)
	p.block(1)
	p.put(1, "return 1")
	return p
}

// ran records what a run passed through.
type ran struct {
	marks map[int]bool
	err   error
}

func (p *randomProgram) run(t *testing.T, input string, n int) ran {
	t.Helper()
	r := ran{marks: map[int]bool{}}
	th := &starlark.Thread{Print: func(_ *starlark.Thread, msg string) {
		var k int
		fmt.Sscan(msg, &k)
		r.marks[k] = true
	}}
	th.SetMaxExecutionSteps(100_000)
	opts := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true}
	text := strings.Replace(p.b.String(), "def main(t = str, n = int)", "def main(t, n)", 1)
	globals, err := starlark.ExecFileOptions(opts, th, "flow.star", text, randomStandIns())
	if err != nil {
		t.Fatalf("it does not load: %v\n%s", err, text)
	}
	globals.Freeze()
	_, r.err = starlark.Call(th, globals["main"], starlark.Tuple{starlark.String(input), starlark.MakeInt(n)}, nil)
	return r
}

// Promise 26.13 (sound): no false alarms: over 10,000 random programs no statement that some run completed has an
// error, and no run takes the path that a warning shows and continues past it.
func TestPromise_26_13_NoFalseAlarm(t *testing.T) {
	programs := uint64(10_000)
	if testing.Short() {
		programs = 500
	}
	head := strings.Count(randomHead, "\n")
	errs, warnings, clean := 0, 0, 0
	for seed := range programs {
		p := newRandomProgram(seed)
		var runs []ran
		all := map[int]bool{}
		failed := false
		for i, input := range []string{"", "a", "ab", "abc"} {
			r := p.run(t, input, i)
			runs = append(runs, r)
			for k := range r.marks {
				all[k] = true
			}
			failed = failed || r.err != nil
		}
		found, shown := checked(randomHead + p.b.String())
		report := func(d *diag.Diagnostic, says string) {
			t.Errorf("program %d: %s at line %d: %s\n%s\n%s", seed, says, d.Span.Line-head, d.Message, p.b.String(), shown)
		}
		for _, d := range found {
			line := d.Span.Line - head
			switch {
			case d.Code == diag.UnusedAgent || d.Code == diag.TypeComparison || line <= 0: // the result of a comparison does not fail
			case d.Severity == diag.Error:
				errs++
				if all[p.after[line]] && !p.lazy[line] || !failed && len(all) == p.marks {
					report(d, "an error of what ran")
				}
			case d.Severity == diag.Warning && !p.loops:
				warnings++
				for _, r := range runs {
					took := r.marks[p.after[line]] && !p.lazy[line]
					for _, note := range d.Notes {
						sides, ok := p.sides[note.Line-head]
						side := sides[0]
						if strings.Contains(note.Message, "does not hold") {
							side = sides[1]
						}
						took = took && ok && r.marks[side]
					}
					if took {
						report(d, "a warning of a path that was taken")
					}
				}
			}
		}
		if !failed && len(all) == p.marks {
			clean++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d programs: %d ran without error everywhere, %d errors and %d warnings were found", programs, clean, errs, warnings)
	if clean == 0 || errs < int(programs/50) || warnings == 0 {
		t.Errorf("the programs try too little")
	}
}
