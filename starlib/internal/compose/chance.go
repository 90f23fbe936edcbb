package compose

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/starlib/internal/table"
)

// chanceRows returns the builtins for random values.
func chanceRows() []table.Builtin {
	return []table.Builtin{
		{Name: "random", Group: table.GroupScript, Returns: "float | int", Effect: table.Pure, RunOnly: "x = random()", Func: randomFunc, May: true,
			Params: []table.Param{{Name: "n", Kind: belowKind, Default: "None", Doc: "above 0: returns an int from 0 up to but not including n"}},
			Doc:    "Returns a random number, in a running function: a float from 0 up to but not including 1 or, with n, an int below n. It is derived from the seed of the run and the place of the call, so that a resumed or replayed run draws the same number. It is not secret: do not use it to make keys."},
		{Name: "uuid", Group: table.GroupScript, Returns: "str", Effect: table.Pure, RunOnly: "id = uuid()", Func: uuidFunc, May: true,
			Doc: "Returns a new id, in a running function, in the form of a random UUID. Like random, it is derived from the seed of the run and the place of the call. It is not secret: do not use it to make keys."},
	}
}

// belowKind takes the bound of a random number.
var belowKind = table.Hinted(table.LeastKind(1, diag.WrongArgument), func(v starlark.Value) string {
	switch v.(type) {
	case *starlark.List, starlark.Tuple:
		return "an item of a list is xs[random(len(xs))]"
	case starlark.Float:
		return "random() * x is a float below x"
	case starlark.String:
		return "an id is uuid()"
	}
	return ""
})

func randomFunc(c *table.Call) (starlark.Value, error) {
	if !c.Has("n") {
		x, err := run.Random(c.Env.Branch)
		if err != nil {
			return nil, err
		}
		return starlark.Float(x), nil
	}
	n, err := run.RandomBelow(c.Env.Branch, int64(c.Int("n", 1)))
	if err != nil {
		return nil, err
	}
	return starlark.MakeInt64(n), nil
}

func uuidFunc(c *table.Call) (starlark.Value, error) {
	id, err := run.UUID(c.Env.Branch)
	if err != nil {
		return nil, err
	}
	return starlark.String(id), nil
}
