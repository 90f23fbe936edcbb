package conversation

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// knowledgeTools offers each piece of knowledge as a tool, so that its text reaches the model
// only when asked for.
func knowledgeTools(sk *agent.Skill) []*agent.Tool {
	var tools []*agent.Tool
	for _, k := range sk.Knowledge {
		t := &agent.Tool{Name: k.Key, Doc: k.Doc, Class: engine.ClassRead, Returns: generable.StrT, Span: sk.Span,
			Run: &knowledgeRun{k}}
		if searched(&k) {
			t.Params = queryType
		}
		tools = append(tools, t)
	}
	return tools
}

// knows reports whether a tool returns a piece of knowledge.
func knows(t *agent.Tool) bool {
	_, ok := t.Run.(*knowledgeRun)
	return ok
}

// knowledgeRun returns a piece of knowledge.
type knowledgeRun struct{ agent.Knowledge }

// Info is that of the function which loads the text: what fails in it is its own.
func (k *knowledgeRun) Info() engine.FuncInfo {
	info := engine.FuncInfo{Name: k.Key, Params: 1, Needs: 1}
	if k.Load != nil {
		load := k.Load.Info()
		info.Name, info.Pos = load.Name, load.Pos
	}
	return info
}

func (k *knowledgeRun) Call(b engine.Branch, args []generable.Value) (generable.Value, error) {
	switch {
	case k.Load == nil:
		return generable.StrOf(k.Text), nil
	case searched(&k.Knowledge):
		query, _ := typing.Field(args[0], "query")
		return k.Load.Call(b, []generable.Value{query})
	}
	return k.Load.Call(b, nil)
}

// searched reports whether the text depends on what the model looks for.
func searched(k *agent.Knowledge) bool { return k.Load != nil && k.Load.Info().Needs == 1 }

var queryType = &generable.Type{Kind: generable.RecordType, Name: "Query", Fields: []generable.Field{
	{Name: "query", Type: generable.StrT, Guide: "what to look for"},
}}
