package engine

import (
	"github.com/agentscript/agentscript/generable"
)

// Offered is one tool that a server lists: as agents get it that have no other tools, or why they
// cannot.
type Offered struct {
	Listed ServerTool
	Tool   *Tool // nil where Err says why there is none
	Err    *Error
}

// Offered reads a list of the server's tools, as [ToolList] makes one. It is what the agents of a
// script that declares the server would get, without what Tools takes out; they end with the first
// Err. An error says what is wrong with the list as a whole.
func (s *ServerSpec) Offered(list generable.Value) ([]Offered, error) {
	listed, err := toolsIn(list)
	if err != nil {
		return nil, err
	}
	chosen, err := s.choose(listed)
	if err != nil {
		return nil, err
	}
	out := make([]Offered, len(chosen))
	var tools []*Tool
	for i := range chosen {
		out[i].Listed = chosen[i]
		t, err := s.tool(&chosen[i])
		if err != nil {
			out[i].Err = asError(err)
			continue
		}
		out[i].Tool, tools = t, append(tools, t)
	}
	nameTools(nil, tools)
	return out, nil
}
