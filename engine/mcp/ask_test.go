package mcp

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// The object that a person enters reaches the server without its empty fields; anything else is not an answer.
func TestGiven(t *testing.T) {
	m := generable.NewMap(2)
	m.Set("n", generable.IntOf(3))
	m.Set("open", generable.Value{})
	out, ok := given(m.Value(), nil)
	if !ok || generable.JSON(out.Value(), nil) != `{"n":3}` {
		t.Errorf("%v, %v", out, ok)
	}
	if out, ok := given(generable.StrOf("3"), nil); ok {
		t.Errorf("a text is %v", out)
	}
}
