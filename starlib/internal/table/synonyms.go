package table

// synonyms are what other libraries call an argument of ours, by builtin: the argument, or what
// to write instead where no argument is the same.
var synonyms = map[string]map[string]string{
	"agent": {
		"system": "prompt", "system_prompt": "prompt", "system_message": "prompt", "instructions": "prompt", "instruction": "prompt", "backstory": "prompt", "goal": "prompt", "role": "prompt",
		"output_type": "output", "output_schema": "output", "response_format": "output", "response_model": "output", "result_type": "output", "returns": "output", "schema": "output",
		"input_type": "input", "input_schema": "input", "llm": "model", "model_name": "model", "func": "run", "function": "run", "fn": "run", "f": "run", "handler": "run",
		"retries": "repairs", "max_retries": "repairs", "max_output_tokens": "max_tokens", "stop_sequences": "stop", "functions": "tools",
		"max_turns": "write budget = budget(turns = ...)", "max_iterations": "write budget = budget(turns = ...)", "turns": "write budget = budget(turns = ...)",
		"timeout": `write budget = budget(wall = "2m")`, "wall": `write budget = budget(wall = "2m")`,
		"on_limit": `write budget = budget(usd = ..., on_limit = "answer")`,
		"usd":      "write budget = budget(usd = ...)", "max_usd": "write budget = budget(usd = ...)", "cost": "write budget = budget(usd = ...)", "max_cost": "write budget = budget(usd = ...)",
		"tool_calls": "write budget = budget(tool_calls = ...)", "max_tool_calls": "write budget = budget(tool_calls = ...)",
		"model_calls": "write budget = budget(model_calls = ...)", "max_model_calls": "write budget = budget(model_calls = ...)",
		"tokens":      "max_tokens bounds one answer; write budget = budget(tokens = ...) for all of a call",
		"knowledge":   `it belongs to a skill: skills = [skill("name", "what it does", knowledge = {...})]`,
		"description": `say it in prompt, or in a skill: skills = [skill("name", "what it does")]`,
		"doc":         `say it in prompt, or in a skill: skills = [skill("name", "what it does")]`,
		"desc":        `say it in prompt, or in a skill: skills = [skill("name", "what it does")]`,
		"skill":       "write skills = [...]", "tool": "write tools = [...]",
		"deny": "write policy = policy(deny = [...])", "ask": "write policy = policy(ask = [...])", "allow": "write policy = policy(allow = [...])", "rules": "write policy = policy(deny = [...])",
		"on_error": "write on_tool_error = ... of its tools, and fallback(agent, other) of itself", "on_tool_use": "write hooks = hooks(on_tool_use = ...)", "before_tool": "write hooks = hooks(before_tool = ...)",
		"router": "write select = router(...)", "mcp": "write tools = [mcp(...)]", "servers": "write tools = [mcp(...)]", "session": `write memory = memory("notes", scope = "session"), and name the session with --session`,
	},
	"skill": {"description": "doc", "desc": "doc", "prompt": "doc", "func": "run", "function": "run", "f": "run", "output_type": "output", "returns": "output", "input_type": "input"},
	"tool": {
		"description": "write it as the docstring of the function", "desc": "write it as the docstring of the function", "doc": "write it as the docstring of the function",
		"parameters": "params", "args": "params", "input": "params", "schema": "params", "func": "f", "function": "f", "run": "f", "output": "returns", "output_type": "returns", "return_type": "returns",
	},
	"field": {
		"description": "guide", "desc": "guide", "doc": "guide", "help": "guide", "title": "guide",
		"required": "a field is required unless it has default = ... or its type is T | None", "optional": "a field is optional when it has default = ... or its type is T | None", "nullable": "write the type as T | None",
		"minimum": "ge", "min": "ge", "gte": "ge", "maximum": "le", "max": "le", "lte": "le",
		"exclusive_minimum": "gt", "exclusiveMinimum": "gt", "exclusive_maximum": "lt", "exclusiveMaximum": "lt", "multipleOf": "multiple_of", "unique_items": "unique", "uniqueItems": "unique",
		"validator": "check", "validate": "check",
		"min_length": "min_len", "minLength": "min_len", "min_items": "min_len", "minItems": "min_len", "max_length": "max_len", "maxLength": "max_len", "max_items": "max_len", "maxItems": "max_len",
		"regex": "pattern", "aliases": "alias", "example": "examples", "default_factory": "default",
		"enum": `write the type as enum("a", "b", _name = "Name")`, "choices": `write the type as enum("a", "b", _name = "Name")`, "options": `write the type as enum("a", "b", _name = "Name")`, "values": `write the type as enum("a", "b", _name = "Name")`,
	},
	"enum":  {"doc": "_doc", "description": "_doc", "desc": "_doc", "name": "_name"},
	"union": {"name": "_name", "tag": "_tag", "discriminator": "_tag", "doc": `the text goes first: union("doc", A, B)`, "description": `the text goes first: union("doc", A, B)`},
	"loop":  loopSynonyms,
	"each":  limitSynonyms,
	"par":   limitSynonyms,
	"forum": {"max_rounds": "rounds", "turns": "rounds", "max": "rounds", "n": "rounds", "quorum": "consensus", "moderator": "captain", "judge": "captain"},
	"retry": {
		"times": "max", "attempts": "max", "max_attempts": "max", "retries": "max", "n": "max", "condition": "until", "check": "until", "when": "until",
		"feedback": "it is of the node: r = retry(a, feedback = ...) at the top level, and r(x) here",
		"backoff":  "a retry does not wait: how long a provider's calls are spaced out is for the host to say", "delay": "a retry does not wait: how long a provider's calls are spaced out is for the host to say",
	},
	"vote":   {"strategy": "by", "how": "by", "weight": "weights", "field": "key", "score": "key", "min_votes": "quorum"},
	"verify": {"instructions": "prompt", "system": "prompt", "system_prompt": "prompt", "input_type": "input", "llm": "model"},
	"branch": {"default": "otherwise", "fallback": "otherwise", "else_": "otherwise", "cases": "routes"},
	"fn":     {"func": "f", "function": "f", "run": "f", "output_type": "output", "returns": "output", "input_type": "input"},
	"budget": {
		"max_turns": "turns", "iterations": "turns", "calls": "model_calls", "max_tokens": "tokens", "timeout": "wall", "time": "wall", "seconds": "wall", "duration": "wall",
		"max_tool_calls": "tool_calls", "max_usd": "usd", "cost": "usd", "money": "usd", "dollars": "usd", "max_cost": "usd", "max_depth": "depth", "max_same_tool": "same_call",
		"max_steps": "steps", "warn": "warn_at", "thresholds": "warn_at", "max_arg_bytes": "arg_bytes",
	},
	"bounded": {
		"usd": "write bounded(node, budget(usd = ...))", "turns": "write bounded(node, budget(turns = ...))", "tokens": "write bounded(node, budget(tokens = ...))",
		"tool_calls": "write bounded(node, budget(tool_calls = ...))", "model_calls": "write bounded(node, budget(model_calls = ...))", "wall": "write bounded(node, budget(wall = ...))",
	},
	"as_tool":   {"budget": "its agent has the budget: agent(budget = budget(...)), or bounded(node, budget(...)).as_tool(...)", "description": "doc", "desc": "doc", "policy": "its agent has the policy: agent(policy = policy(...))"},
	"run":       {"cwd": "dir", "directory": "dir", "stdin": "input", "args": "the command is a list with its arguments: [\"git\", \"log\"]", "check": "a command that fails is no error: look at out.code", "shell": "no shell reads it: [\"ls\", \"-la\"]", "env": "it gets the variables that --allow-env grants"},
	"post":      {"data": "body", "content": "body", "params": "write them into the URL"},
	"get":       {"params": "write them into the URL"},
	"memory":    {"max": "max_lines", "limit": "max_lines", "kind": "scope"},
	"router":    {"default": "otherwise", "fallback": "otherwise", "confidence": "threshold", "min_confidence": "threshold", "llm": "model", "skills": "the skills belong to the agent: agent(skills = [...], select = router())"},
	"mcp":       {"cmd": "command", "token": "write headers = {\"Authorization\": secret(\"NAME\", prefix = \"Bearer \")}", "transport_type": "transport", "include": "tools", "filter": "tools"},
	"model":     {"model": "name", "max_output_tokens": "max_tokens", "stop_sequences": "stop"},
	"knowledge": {"description": "doc", "text": "content", "file": "content"},
	"template":  {"input_type": "input", "prompt": "text"},
}

var (
	limitSynonyms = map[string]string{"max_concurrency": "limit", "concurrency": "limit", "workers": "limit", "max_workers": "limit", "parallel": "limit", "max": "limit", "n": "limit"}
	loopSynonyms  = map[string]string{
		"times": "max", "max_turns": "max", "max_iterations": "max", "max_iter": "max", "limit": "max", "n": "max", "turns": "max", "rounds": "max",
		"stop": "until", "stop_when": "until", "condition": "until", "when": "until", "while_": "until", "body": "node", "fix": "repair",
	}
)

// synonym gives the parameter that is meant by a name that another library has, and what to write
// instead; "" when it is none.
func (b *Builtin) synonym(name string) (param, help string) {
	meant := synonyms[b.Name][name]
	if meant == "" && name == "budget" && b.Group == GroupCompose && b.Returns == "node" {
		return "", "a budget stands around a node: bounded(node, budget(...))"
	}
	for _, p := range b.Params {
		if p.Name == meant {
			return meant, "the argument is called " + meant
		}
	}
	return "", meant
}
