package agents

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func memoryRows() []table.Builtin {
	slot := table.Opt("slot", table.Naming(table.StrKind, table.AgentName), "None", "the agent whose notes to use; by default the script's own, or those of a shared memory")
	method := func(name, returns, doc string, op agent.MemoryOp, params ...table.Param) table.Builtin {
		return table.Builtin{Name: name, Of: "memory", Group: table.GroupAgents, Returns: returns, Effect: table.Recorded, RunOnly: "notes." + name + "(...)", Params: append(params, slot), Doc: doc,
			Func: func(c *table.Call) (starlark.Value, error) { return memoryCall(c, op) }}
	}
	return []table.Builtin{
		{Name: "memory", Group: table.GroupAgents, Aside: "scope max_lines max_tokens shared", Returns: "memory", Effect: table.Compose, AtTop: true, Func: memoryFunc, May: true,
			Params: []table.Param{
				{Name: "name", Kind: table.NameKind, Doc: "its name, unique in a script"},
				table.Opt("scope", table.OneOf("run", "session"), `"run"`, "how long the notes are kept: for the run, or also for later runs of the session"),
				table.Opt("max_lines", table.BoundKind, "None", "keeps only the last lines, at most this many"),
				table.Opt("max_tokens", table.BoundKind, "None", "keeps only the last lines, of about this many tokens together, at 4 characters per token"),
				table.Opt("shared", table.BoolKind, "False", "whether all agents share the same notes, instead of each having its own"),
			},
			Doc: "Makes a store for notes. agent(memory = notes) offers the model memory_read, memory_write, memory_append and memory_search; running functions call its methods."},
		method("read", "str", `Returns the notes, in a running function; "" if there are none.`, agent.MemoryRead),
		method("write", "None", "Replaces the notes.", agent.MemoryWrite, table.Param{Name: "content", Kind: table.StrKind, Doc: "the new notes"}),
		method("append", "None", "Adds lines to the notes.", agent.MemoryAppend, table.Param{Name: "content", Kind: table.StrKind, Doc: "the lines to add"}),
		method("search", "list", "Returns the lines of the notes that contain a text, ignoring case.", agent.MemorySearch, table.Param{Name: "query", Kind: table.StrKind, Doc: "the text to look for"}),
		{Name: "compress", Group: table.GroupAgents, Aside: "after tokens keep how model history", Returns: "history", Effect: table.Compose, Func: compressFunc, May: true,
			Params: []table.Param{
				table.Opt("after", table.BoundKind, "40", "compress if there are more messages than this; if only tokens is set, tokens alone decides"),
				table.Opt("tokens", table.BoundKind, "None", "compress if there are more tokens than about this many, at 4 characters per token"),
				table.Opt("keep", table.BoundKind, "10", "at least this many of the newest messages stay unchanged; fewer if they alone exceed half of tokens, but always the newest"),
				table.Opt("how", table.OneOf("window", "summary"), `"window"`, "\"window\" leaves old messages out, \"summary\" lets a model summarize them"),
				table.Opt("model", table.Naming(table.StrKind, table.ModelName), "None", "the model that summarizes; by default the agent's"),
				table.Opt("history", table.OneOf("shared", "fresh"), `"shared"`, "what to compress: the conversation including the agents before, or only the agent's own turns"),
			},
			Doc: "Keeps a conversation short, for agent(history = ...). The system text and the agent's own input always stay, and a tool call is never separated from its result."},
		{Name: "conversation", Group: table.GroupAgents, Returns: "node", Effect: table.Compose, AtTop: true, Whole: true, Func: conversationFunc, May: true,
			Params: []table.Param{
				{Name: "node", Kind: table.NodeKind, Shape: table.Positional, Doc: "the flow"},
				table.Opt("history", historyKind, `"shared"`, historyDoc),
			},
			Doc: "Puts the agents of a flow into one conversation, except those that set their own history. It returns the flow itself, not another node."},
	}
}

const historyDoc = `what an agent sees of the conversation before it: "fresh" nothing, "shared" the conversation of the agents before it, "summary" the same, summarized when it becomes long, or compress(...)`

type historyValue = value.Opaque[agent.History]

var _ starlark.HasAttrs = (*value.Memory)(nil)

var (
	memoryKind = &table.Kind{Word: "memory(...)", Stub: "Memory", Accept: value.As[*value.Memory], Hint: func(v starlark.Value) string {
		if s, ok := v.(starlark.String); ok {
			return fmt.Sprintf("notes = memory(%q), and then memory = notes", string(s))
		}
		return `an agent has one memory, made before: notes = memory("notes"), and then memory = notes`
	}}
	historyKind = table.AnyOf(table.OneOf("fresh", "shared", "summary"), &table.Kind{Word: "compress(...)", Stub: "History", Accept: value.As[*historyValue], Hint: func(v starlark.Value) string {
		if b, ok := v.(starlark.Bool); ok {
			return map[bool]string{true: `write history = "shared"`, false: `write history = "fresh"`}[bool(b)]
		}
		if s, ok := v.(starlark.String); ok && (s == "none" || s == "new" || s == "off" || s == "") {
			return `write "fresh": the agent sees nothing of what was said before`
		}
		if s, ok := v.(starlark.String); ok && s == "compress" {
			return `write compress(), or "summary"`
		}
		return `write "shared": the agent sees the conversation of those before it`
	}})
)

func memoryFunc(c *table.Call) (starlark.Value, error) {
	m := agent.MemoryBank{Name: c.Str("name"), Session: c.Str("scope") == "session", Shared: c.Bool("shared", false),
		MaxLines: c.Int("max_lines", 0), MaxTokens: c.Int("max_tokens", 0)}
	if len(c.Problems) > 0 {
		return nil, nil
	}
	return &value.Memory{Bank: c.State.Session.Memory(c.FuncSpan(), m), State: c.State}, nil
}

// memoryCall executes one operation of a script on a memory.
func memoryCall(c *table.Call, op agent.MemoryOp) (starlark.Value, error) {
	v := c.Receiver.(*value.Memory)
	if v.Bank.Shared && c.Has("slot") {
		c.Problemf(diag.WrongArgument, c.ArgSpan("slot"), "memory %q is shared, and has one slot", v.Bank.Name).Help = []string{"leave slot out"}
		return nil, nil
	}
	if err := c.Env.Thread.Settle(); err != nil {
		return nil, err
	}
	text := ""
	if len(c.Row.Params) > 1 {
		text = c.Str(c.Row.Params[0].Name)
	}
	out, err := run.Memory(c.Env.Branch, v.Bank, op, c.Str("slot"), text)
	switch {
	case err != nil:
		return nil, err
	case op == agent.MemoryRead:
		return starlark.String(out), nil
	case op == agent.MemorySearch:
		if out == "" {
			return value.Texts(nil), nil
		}
		return value.Texts(strings.Split(out, "\n")), nil
	}
	return starlark.None, nil
}

func compressFunc(c *table.Call) (starlark.Value, error) {
	h := agent.History{Shared: c.Str("history") != "fresh", Compress: &agent.Compression{
		How: agent.CompressHow(c.StrOr("how", string(agent.CompressWindow))), Keep: c.Int("keep", agent.DefaultCompressKeep), Model: c.Str("model"), Tokens: c.Int("tokens", 0)}}
	if c.Has("after") || !c.Has("tokens") {
		h.Compress.After = c.Int("after", agent.DefaultCompressAfter)
	}
	if h.Compress.After > 0 && h.Compress.Keep >= h.Compress.After {
		c.Problemf(diag.WrongArgument, c.ArgSpan("keep"), "keep = %d leaves nothing to shorten after %d messages", h.Compress.Keep, h.Compress.After).Help =
			[]string{"let keep be less than after"}
	}
	if h.Compress.Model != "" && h.Compress.How != agent.CompressSummary {
		c.Problemf(diag.WrongArgument, c.ArgSpan("model"), "no model is asked to leave messages out").Help = []string{`how = "summary" summarizes them`}
	}
	return &historyValue{Kind: "history", Text: "compress(...)", Of: h}, nil
}

// history reads the history parameter of an agent or a flow. It returns nil if it was not given.
func history(c *table.Call) *agent.History {
	switch v := c.Arg("history").(type) {
	case *historyValue:
		return &v.Of
	case starlark.String:
		h := agent.History{Shared: v != "fresh"}
		if v == "summary" {
			h.Compress = &agent.Compression{After: agent.DefaultCompressAfter, Keep: agent.DefaultCompressKeep, How: agent.CompressSummary}
		}
		return &h
	}
	return nil
}

func conversationFunc(c *table.Call) (starlark.Value, error) {
	n := c.Arg("node").(*value.Node)
	h := history(c)
	if h == nil {
		h = &agent.History{Shared: true}
	}
	c.State.Session.WithHistory(c.FuncSpan(), n.Node, h)
	return n, nil
}
