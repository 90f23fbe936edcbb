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

// Names are the names that a test may speak of. Each of its methods returns an error for a name that nothing has, with
// the nearest one.
type Names struct {
	Agents  []string
	Outputs map[string]*generable.Type // of agents

	tools, servers []string
	questions      []string            // that steps ask
	params         map[string][]string // of tools; of several of one name, those of all
	listed         bool                // every tool that a model may call is in tools: no agent has servers, notes or skills
}

// NamesOf are the names that the nodes of the files of a test have.
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

// AgentName is the name of the agent that an answer is for: without which one of that name, and without what asks a
// model for the agent, as its router does. It is "*" for any.
func AgentName(of string) string {
	name, _, _ := strings.Cut(of, "#")
	name, _, _ = strings.Cut(name, ".")
	return name
}

// Agent is about a name as [Test] Reply takes it.
func (n Names) Agent(name string) *engine.Error {
	if name = AgentName(name); name == "*" {
		return nil
	}
	return known("agent", name, n.Agents)
}

// Tool is about that of a tool, an operation, or a tool of a server.
func (n Names) Tool(name string) *engine.Error {
	if server, _, of := strings.Cut(name, "."); of && slices.Contains(n.servers, server) {
		return nil
	}
	return known("tool or operation", name, slices.Concat(n.tools, capability.Names()))
}

// Decided is about the name of a tool that a person decides about. A text that is a question of the script, or that no
// tool could have as its name, is meant as one: those have no names.
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

// Server is about that of an MCP server.
func (n Names) Server(name string) *engine.Error { return known("MCP server", name, n.servers) }

// Called is about that of something whose calls are asked for.
func (n Names) Called(name string) *engine.Error {
	tool, isTool := strings.CutPrefix(name, "tool:")
	if !isTool && slices.Contains(n.Agents, name) || n.Tool(tool) == nil {
		return nil
	}
	return known("agent, tool or operation", tool, slices.Concat(n.Agents, n.tools, capability.Names()))
}

// Callable is about that of a tool which a model calls that has those which are offered. Where nil says that this is
// not known, a name that is like none of those in the files may be of a server.
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

// Argument is about that of an argument of a tool, with which a model calls it.
func (n Names) Argument(tool, name string) *engine.Error {
	if params, ok := n.params[tool]; ok {
		return unknownArgument(tool, name, params)
	}
	return nil
}

// Takes returns an error if a tool that a model is offered has no argument of a name. What a server's tool takes besides
// is for the server to say: a name is wrong that is nearly one of those which are listed.
func Takes(tool *model.ToolDef, name string) *engine.Error {
	err := unknownArgument(tool.Name, name, argumentsOf(tool.Params))
	if tool.Schema != "" && err != nil && diag.DidYouMean(name, argumentsOf(tool.Params)) == "" {
		return nil
	}
	return err
}

// argumentsOf lists the names of a tool's arguments, nil for any.
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

// known refuses a name that is not among all.
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
