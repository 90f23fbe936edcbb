package compose

import (
	"time"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/starlib/internal/table"
)

// clockRows returns the builtins that read the clock of the run.
func clockRows() []table.Builtin {
	return []table.Builtin{
		{Name: "sleep", Group: table.GroupScript, Returns: "None", Effect: table.Recorded, RunOnly: `sleep("30s")`, Func: sleepFunc, May: true,
			Params: []table.Param{{Name: "time", Kind: table.WaitUpTo(run.MaxSleep, "366 days"), Doc: `how long: "90s", "2m", "1h", or seconds`}},
			Doc:    "Waits, in a running function, for a duration; other branches of the run continue. The time at which the wait ends is recorded: a resumed run waits only for the remainder. In virtual time, as in tests, it takes no time."},
		{Name: "now", Group: table.GroupScript, Returns: "str | float", Effect: table.Recorded, RunOnly: "started = now()", Func: nowFunc, May: true,
			Params: []table.Param{{Name: "form", Kind: table.OneOf("text", "unix"), Default: `"text"`, Doc: `"text" is a str in UTC, "2026-01-31T09:00:00.000Z"; "unix" a float, the seconds since 1970`}},
			Doc:    "Returns the current time, in a running function. The answer is recorded: a replay returns the same. Virtual time, as in tests, begins at 1970-01-01T00:00:00.000Z."},
	}
}

func sleepFunc(c *table.Call) (starlark.Value, error) {
	if err := c.Env.Thread.Settle(); err != nil {
		return nil, err
	}
	if err := run.Sleep(c.Env.Branch, c.Duration("time")); err != nil {
		return nil, err
	}
	return starlark.None, nil
}

func nowFunc(c *table.Call) (starlark.Value, error) {
	if err := c.Env.Thread.Settle(); err != nil {
		return nil, err
	}
	at, err := run.Now(c.Env.Branch)
	if err != nil {
		return nil, err
	}
	if c.Str("form") == "unix" {
		return starlark.Float(float64(at.UnixMilli()) / float64(time.Second/time.Millisecond)), nil
	}
	return starlark.String(at.Format(run.TimeLayout)), nil
}
