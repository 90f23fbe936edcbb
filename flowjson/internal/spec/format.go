package spec

import (
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// field is a member that an object may have. The tables of fields define both how a file is read and the schema for
// editors.
type field struct {
	name   string
	kinds  []tree.Kind // nil for any
	needed bool
	doc    string
	words  []string // for a text: the allowed words; nil for any
	of     []field  // the members of an object, or of the objects of a list
}

func word(name, doc string) field {
	return field{name: name, doc: doc, kinds: []tree.Kind{tree.String}}
}

func number(name, doc string) field {
	return field{name: name, doc: doc, kinds: []tree.Kind{tree.Number}}
}

func list(name, doc string, of ...field) field {
	return field{name: name, doc: doc, kinds: []tree.Kind{tree.Array}, of: of}
}

func object(name, doc string, of ...field) field {
	return field{name: name, doc: doc, kinds: []tree.Kind{tree.Object}, of: of}
}

func needed(f field) field {
	f.needed = true
	return f
}

func oneOf(f field, words []string) field {
	f.words = words
	return f
}

// The objects of a flow. A description is allowed everywhere: it is for people.
var (
	flowFields = []field{
		needed(word("id", "Names the flow.")),
		needed(word("version", "The version of the flow, for people.")),
		word("defaultModel", "provider/model of the agents that name none."),
		list("agents", "The steps of the flow."),
		list("tools", "The servers and functions whose tools agents may call."),
		list("transitions", "What leads from one agent to the next. Without any, the agents run one after the other."),
	}
	agentFields = []field{
		needed(word("name", "Names the agent for transitions. No two agents have the same name.")),
		needed(oneOf(word("type", "What the agent does: task has a model do something, verify has it judge, transform takes a part of what arrives, parallel runs agents at once, react has a model think between its calls of tools."), agentTypes)),
		word("model", "provider/model; the flow's defaultModel when it is left out."),
		word("runtime", "What carries the agent out: koog, or what the host registered."),
		object("config", "Parameters of the agent's model.", configFields...),
		object("prompt", "The prompts.", promptFields...),
		object("params", "What the agent does, by its type."),
		object("output", "What the agent returns, for people.", outputFields...),
	}
	configFields = []field{
		number("temperature", "0 to 2; the provider's default when it is left out."),
		number("maxIterations", "How often the agent's model is asked in one execution, at most."),
		number("maxTokens", "The most tokens of one answer."),
		number("topP", "0 to 1; the provider's default when it is left out."),
		{name: "toolChoice", kinds: []tree.Kind{tree.String, tree.Object}, doc: "auto, required, none or the name of a tool: what the first answer must do."},
		word("speculation", "A text that the answer is likely to repeat, for providers that can use it."),
	}
	promptFields = []field{
		needed(word("system", "The system text.")),
		word("user", "A text of the user, before the task."),
	}
	outputFields    = []field{{name: "schema", kinds: []tree.Kind{tree.String, tree.Object}, doc: "A schema, for people."}}
	toolFields      = []field{needed(word("name", "Names the server, or the local tool.")), needed(word("type", "mcp or local.")), needed(object("parameters", "How the tool is reached."))}
	conditionFields = []field{
		needed(word("variable", "output, or output.success and output.feedback of a verify; of a merge results.<index>.<output, input or name>.")),
		needed(word("operation", "How the variable is compared with the value.")),
		{name: "value", kinds: []tree.Kind{tree.String, tree.Number, tree.Bool, tree.Object}, needed: true, doc: "A text, a number, true or false; or {\"type\": ..., \"data\": ...}."},
	}
	valueFields = []field{needed(word("value", "input.success or input.feedback of a verdict; input for all."))}
	edgeFields  = []field{
		needed(word("from", "The agent that it leaves.")),
		needed(word("to", "The agent that it leads to, or __finish__.")),
		object("condition", "What it takes; everything without one. The first transition that takes the output is followed.", conditionFields...),
		object("transformation", "What it takes of a verdict on the way.", valueFields...),
	}

	task      = field{name: "task", kinds: []tree.Kind{tree.String, tree.Number, tree.Bool}, doc: "What the model is to do with what arrives."}
	toolNames = list("toolNames", "The tools that it may call; all when it is left out.")

	paramFields = map[string][]field{
		Task:      {task, toolNames},
		Verify:    {task, toolNames},
		React:     {task, toolNames, number("reasoningInterval", "It thinks after so many rounds of tools.")},
		Transform: {list("transformations", "One at most: what it takes of what arrives.", valueFields...)},
		Parallel: {needed(list("agents", "The names of the agents that run at once.")),
			object("merge", "Which result is returned, where the condition holds of it; all results without one.", conditionFields...)},
	}
	localFields     = []field{needed(word("path", "Where the function is, for people: it is found by the tool's name."))}
	transportFields = map[string][]field{
		"stdio": {word("transport", "How the server is spoken to."), needed(word("command", "What starts the server.")), list("args", "Arguments of the command."), object("env", "Variables of the process.")},
		"sse":   {word("transport", "How the server is spoken to."), needed(word("url", "Where the server is.")), object("headers", "Headers of every request.")},
		"http":  {word("transport", "How the server is spoken to."), needed(word("url", "Where the server is.")), object("headers", "Headers of every request.")},
	}
)
