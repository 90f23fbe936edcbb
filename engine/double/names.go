package double

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Names are the names that a test may refer to. Each of its methods returns an error for an unknown name, and the error
// suggests the nearest known one.
type Names struct {
	Agents  []string
	Outputs map[string]*generable.Type // of agents

	tools, servers []string
	questions      []string            // the questions that steps ask
	params         map[string][]string // by tool; tools with the same name share one list
	listed         bool                // tools has every tool that a model may call: no agent has servers, notes or skills
}

// NamesOf returns the names of the nodes in the files of a test.
func NamesOf(nodes []*flow.Node) Names {
	tools, servers := map[string]bool{}, map[string]bool{}
	n := Names{Outputs: map[string]*generable.Type{}, params: map[string][]string{}, listed: true}
	for _, node := range nodes {
		spec := node.Agent()
		if spec == nil {
			if q := node.Question(); q != "" {
				n.questions = append(n.questions, q)
			}
			continue
		}
		n.Outputs[spec.Name] = node.Out()
		for _, t := range spec.AllTools() {
			tools[t.Name] = true
			n.params[t.Name] = append(n.params[t.Name], argumentsOf(t.Parameters())...)
		}
		for _, s := range serversOf(spec) {
			servers[s] = true
		}
		n.listed = n.listed && len(spec.Servers) == 0 && spec.Memory == nil && len(spec.Skills) < 2
	}
	n.Agents, n.tools, n.servers = slices.Sorted(maps.Keys(n.Outputs)), slices.Sorted(maps.Keys(tools)), slices.Sorted(maps.Keys(servers))
	return n
}

func serversOf(spec *agent.Spec) []string {
	var names []string
	for _, s := range spec.Servers {
		names = append(names, s.Name)
	}
	for _, skill := range spec.Skills {
		for _, s := range skill.Servers {
			names = append(names, s.Name)
		}
	}
	return names
}

// AgentName returns the name of the agent that an answer is for. It drops the number that distinguishes agents with the
// same name, and the name of the part that calls a model on behalf of the agent, such as its router. "*" is any agent.
func AgentName(of string) string {
	name, _, _ := strings.Cut(of, "#")
	name, _, _ = strings.Cut(name, ".")
	return name
}

// Agent checks a name as [Test] Reply takes it.
func (n Names) Agent(name string) *engine.Error {
	if name = AgentName(name); name == "*" {
		return nil
	}
	return known("agent", name, n.Agents)
}

// Tool checks the name of a tool, an operation, or a tool of a server.
func (n Names) Tool(name string) *engine.Error {
	if server, _, of := strings.Cut(name, "."); of && slices.Contains(n.servers, server) {
		return nil
	}
	return known("tool or operation", name, slices.Concat(n.tools, capability.Names()))
}

// Decided checks the name of a tool that a person decides about. If the name is a question of the script, or cannot be
// the name of a tool, the test means a question, and questions have no names.
func (n Names) Decided(name string) *engine.Error {
	err := n.Tool(name)
	if err == nil || !slices.Contains(n.questions, name) && strings.IndexFunc(name, notInNames) < 0 {
		return err
	}
	err.Message = fmt.Sprintf("%q is a question of the script, and t.approve takes the name of a tool", name)
	return err.WithHelp("a question is decided without its text: t.approve() for yes, t.approve(None, False) for no; of several, in their order")
}

func notInNames(r rune) bool {
	return r != '_' && r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// Server checks the name of an MCP server.
func (n Names) Server(name string) *engine.Error { return known("MCP server", name, n.servers) }

// Called checks the name of something whose calls the test queries.
func (n Names) Called(name string) *engine.Error {
	tool, isTool := strings.CutPrefix(name, "tool:")
	if !isTool && slices.Contains(n.Agents, name) || n.Tool(tool) == nil {
		return nil
	}
	return known("agent, tool or operation", tool, slices.Concat(n.Agents, n.tools, capability.Names()))
}

// Callable checks the name of a tool that a model calls. offered are the tools that the model has. If offered is nil,
// they are unknown, and a name that resembles no tool in the files may be a tool of a server.
func (n Names) Callable(name string, offered []string) *engine.Error {
	if slices.Contains(n.tools, name) {
		return nil
	}
	if offered != nil {
		return known("tool", name, offered)
	}
	if !n.listed && diag.DidYouMean(name, n.tools) == "" {
		return nil
	}
	return known("tool", name, n.tools)
}

// Argument checks the name of an argument with which a model calls a tool.
func (n Names) Argument(tool, name string) *engine.Error {
	if params, ok := n.params[tool]; ok {
		return unknownArgument(tool, name, params)
	}
	return nil
}

// Takes returns an error if a tool that a model is offered has no argument with the given name. A server's tool may
// take arguments that are not listed, so for it only a name that resembles a listed one is an error.
func Takes(tool *model.ToolDef, name string) *engine.Error {
	err := unknownArgument(tool.Name, name, argumentsOf(tool.Params))
	if tool.Schema != "" && err != nil && diag.DidYouMean(name, argumentsOf(tool.Params)) == "" {
		return nil
	}
	return err
}

// argumentsOf returns the names of a tool's arguments, or nil if it takes any.
func argumentsOf(params *generable.Type) (names []string) {
	if params == nil || params.Kind != generable.RecordType {
		return nil
	}
	names = []string{}
	for _, f := range params.Fields {
		names = append(append(names, f.Name), f.Alias...)
	}
	return names
}

func unknownArgument(tool, name string, params []string) *engine.Error {
	if params == nil {
		return nil
	}
	err := known("argument", name, params)
	if err == nil {
		return nil
	}
	err.Message = fmt.Sprintf("the tool %q has no argument %q", tool, name)
	switch {
	case len(params) == 0:
		err.Help = "it has none"
	case diag.DidYouMean(name, params) == "":
		err.Help = "its arguments are " + strings.Join(slices.Compact(slices.Sorted(slices.Values(params))), ", ")
	}
	return err
}

// known returns an error for a name that is not in all.
func known(what, name string, all []string) *engine.Error {
	if slices.Contains(all, name) {
		return nil
	}
	e := engine.Errorf(engine.KindTest, diag.BadTest, "there is no %s %q", what, name)
	switch e.Help = diag.DidYouMean(name, all); {
	case e.Help != "":
	case len(all) == 0:
		e.Help = "the files of the test have none"
	default:
		e.Help = "there are " + strings.Join(slices.Sorted(slices.Values(all)), ", ")
	}
	return e
}
