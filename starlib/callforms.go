package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// callForms are how builtins that compose nodes are called in a function that runs: there they
// make calls, of functions and of nodes, at positions of their own.
func callForms() []*Builtin {
	args := Param{Name: "args", Kind: AnyKind, Shape: Variadic, Doc: "what it is called with"}
	calls := func(name string) Param {
		return Param{Name: "calls", Kind: alternativesKind(name), Shape: Positional, Doc: "functions and nodes; or calls, each (function or node, arguments...)"}
	}
	row := func(name, doc string, f func(*Call) (starlark.Value, error), params ...Param) *Builtin {
		return &Builtin{Name: name, Group: GroupScript, Returns: "value", Effect: Pure, Doc: doc, Func: f, Params: params}
	}
	return []*Builtin{
		row("retry", "Calls again when a call fails that may be caught, and while until does not hold for what it gives.", retryCall,
			Param{Name: "f", Kind: calledBy("retry"), Shape: Positional, Doc: "a function or a node"}, args,
			Param{Name: "max", Kind: boundKind, Shape: KeywordOnly, Default: "3", Doc: "the most calls"},
			Param{Name: "until", Kind: condKind, Shape: KeywordOnly, Default: "None", Doc: "a condition such as ge(80), or a function that gives True for what will do"},
			Param{Name: "on_limit", Kind: oneOf("fail", "last"), Shape: KeywordOnly, Default: `"fail"`, Doc: "what happens after max calls that until refused: an error, or the last value"}),
		row("fallback", "Calls one after the other, with the same arguments, until one does not fail. When all fail, the last error is given, with notes of the others.", fallbackCall, calls("fallback"), args),
		row("race", "Calls all at once, with the same arguments. The first that does not fail wins and the others are cancelled; a replay knows which one won.", raceCall, calls("race"), args),
	}
}

// withForms gives rows the form in which a run calls them.
func (t *Table) withForms(forms []*Builtin) *Table {
	for _, form := range forms {
		form.index, form.table = indexOf(form.Params), t
		if b, ok := t.Lookup(form.Name); ok {
			b.inRun = form
		}
	}
	return t
}

// onBranch makes a call on a branch.
func (c *Call) onBranch(br engine.Branch, f starlark.Value, args starlark.Tuple) (result, error) {
	return c.env.apart(br, "what "+nameOf(f)+" gives", func(thread *starlark.Thread) (starlark.Value, error) {
		return starlark.Call(thread, f, args, nil)
	})
}

func retryCall(c *Call) (starlark.Value, error) {
	most := c.Int("max", engine.DefaultRetryMax)
	if wrong := withoutInput("retry", c.Arg("f"), len(c.Rest()), c.spanOf("f")); wrong != nil {
		c.wrong.Add(wrong)
		return nil, nil
	}
	if err := c.env.strand.settle(); err != nil {
		return nil, err
	}
	var r result
	given, asked := false, error(nil)
	at, err := engine.CallsAt(c.env.branch, c.row.Name).Retry(most, func(i int, br engine.Branch) (bool, error) {
		out, err := c.onBranch(br, c.Arg("f"), starlark.Tuple(c.Rest()))
		if err != nil {
			return false, err
		}
		r, given = out, true
		var done bool
		if done, asked = c.willDo(out); asked != nil { // that is no failure of the call
			return true, nil
		}
		return done, nil
	})
	switch {
	case asked != nil:
		return nil, asked
	case err != nil && !(given && c.Str("on_limit") == "last"):
		return nil, err
	case at < 0 && c.Str("on_limit") != "last":
		return nil, errorf(diag.LoopLimit, "until did not hold within %s", text.CountInWords(most, "call")).
			WithHelp("raise max, ask for less, or take the last value with on_limit = \"last\"")
	}
	return r.form, nil
}

// willDo asks until about a value.
func (c *Call) willDo(r result) (bool, error) {
	switch until := c.Arg("until").(type) {
	case nil:
		return true, nil
	case *predicateValue:
		return until.p.Holds(r.data), nil
	default:
		v, err := starlark.Call(c.Thread(), until, starlark.Tuple{r.form}, nil)
		if err != nil {
			return false, c.env.strand.failure(err, diag.CallbackFailed)
		}
		yes, ok := v.(starlark.Bool)
		if !ok {
			return false, errorf(diag.WrongTypeAtBoundary, "until gives %s, want bool", describe(v)).
				WithHelp("compare explicitly: lambda x: len(x) > 0, lambda x: x != None")
		}
		return bool(yes), nil
	}
}

// alternatives lists the calls that are tried.
func (c *Call) alternatives() []branchCall {
	list := sequence(c.Arg("calls"))
	if len(list) == 0 {
		c.complain(diag.EmptyComposition, c.spanOf("calls"), "%s needs something to call", c.row.Name).Help = []string{c.row.Name + "([f, g], x)"}
	}
	calls := make([]branchCall, len(list))
	for i, item := range list {
		calls[i] = branchCall{item, starlark.Tuple(c.Rest())}
		if own, ok := item.(starlark.Tuple); ok {
			calls[i] = branchCall{own[0], own[1:]}
			if len(c.Rest()) > 0 {
				c.wrong.Add(argumentsBesideCalls(c.argSpan(c.refs[0]), c.row.Name))
				return nil
			}
		}
		if wrong := withoutInput(c.row.Name, calls[i].f, len(calls[i].args), c.spanOf("calls")); wrong != nil {
			c.wrong.Add(wrong)
			return nil
		}
	}
	return calls
}

func fallbackCall(c *Call) (starlark.Value, error) {
	calls := c.alternatives()
	if len(c.wrong) > 0 {
		return nil, nil
	}
	if err := c.env.strand.settle(); err != nil {
		return nil, err
	}
	var r result
	err := engine.CallsAt(c.env.branch, c.row.Name).Fallback(len(calls), func(i int, br engine.Branch) (err error) {
		r, err = c.onBranch(br, calls[i].f, calls[i].args)
		return err
	})
	return r.form, err
}

func raceCall(c *Call) (starlark.Value, error) {
	calls := c.alternatives()
	if len(c.wrong) > 0 {
		return nil, nil
	}
	if err := c.share(append([]starlark.Value{c.Arg("calls")}, c.Rest()...)...); err != nil {
		return nil, err
	}
	results := make([]result, len(calls))
	won, err := engine.CallsAt(c.env.branch, c.row.Name).Race(len(calls), func(i int, br engine.Branch) (err error) {
		results[i], err = c.onBranch(br, calls[i].f, calls[i].args)
		return err
	})
	if err != nil {
		return nil, err
	}
	return results[won].form, nil
}
