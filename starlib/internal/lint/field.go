package lint

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/starlib/internal/script"
)

// Called records how the flow calls a function, for the check after everything is loaded: a field that its schema does
// not have, or an output of the wrong type, would otherwise only fail in a run, after tokens were spent.
func Called(c *script.State, fn starlark.Value, how script.Contract) {
	f, ok := fn.(*starlark.Function)
	if !ok || c.Sealed.Load() {
		return
	}
	u := c.ByName[f.Position().Filename()]
	if u == nil || u.File == nil {
		return
	}
	if body := u.Function(f.Position()); body != nil {
		u.CalledBy(body, how)
	}
}
