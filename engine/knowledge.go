package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// knowledgeTools offers each piece of knowledge as a tool, so that its text reaches the model
// only when asked for.
func knowledgeTools(sk *Skill) []*Tool {
	var tools []*Tool
	for _, k := range sk.Knowledge {
		t := &Tool{Name: k.Key, Doc: k.Doc, Class: ClassRead, Returns: generable.StrT, Span: sk.Span, knows: true,
			Run: &knowledgeRun{k}}
		if k.searched() {
			t.Params = queryType
		}
		tools = append(tools, t)
	}
	return tools
}

// knowledgeRun gives a piece of knowledge.
type knowledgeRun struct{ Knowledge }

// Info is that of the function which loads the text: what fails in it is its own.
func (k *knowledgeRun) Info() FuncInfo {
	info := FuncInfo{Name: k.Key, Params: 1, Needs: 1}
	if k.Load != nil {
		load := k.Load.Info()
		info.Name, info.Pos = load.Name, load.Pos
	}
	return info
}

func (k *knowledgeRun) Call(b Branch, args []generable.Value) (generable.Value, error) {
	switch {
	case k.Load == nil:
		return generable.StrOf(k.Text), nil
	case k.searched():
		query, _ := typing.Field(args[0], "query")
		return k.Load.Call(b, []generable.Value{query})
	}
	return k.Load.Call(b, nil)
}

// searched reports whether the text depends on what the model looks for.
func (k *Knowledge) searched() bool { return k.Load != nil && k.Load.Info().Needs == 1 }

var queryType = &generable.Type{Kind: generable.RecordType, Name: "Query", Fields: []generable.Field{
	{Name: "query", Type: generable.StrT, Guide: "what to look for"},
}}

// keys are the names under which a model asks for what the skill knows, as tools that have nothing else.
func (sk *Skill) keys() []*Tool {
	keys := make([]*Tool, len(sk.Knowledge))
	for i, k := range sk.Knowledge {
		keys[i] = &Tool{Name: k.Key, Span: sk.Span}
	}
	return keys
}

// checkKnowledge checks that each piece of knowledge has a key of its own, and can be read.
func (c *checker) checkKnowledge(at diag.Span, sk *Skill) bool {
	seen := map[string]bool{}
	for _, k := range sk.Knowledge {
		if seen[k.Key] {
			d := c.Errorf(diag.DuplicateName, at, "skill %q knows two texts by the key %q", sk.Name, k.Key)
			d.Helpf("a model asks for a text by its key: rename one")
			return false
		}
		seen[k.Key] = true
		if k.Load != nil && k.Load.Info().Needs > 1 && !arity(c.Reporter, at, k.Load.Info(), 1, "knowledge "+k.Key) {
			return false
		}
	}
	return true
}
