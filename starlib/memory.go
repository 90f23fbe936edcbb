package starlib

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

func memoryRows() []Builtin {
	opt := func(name string, kind Kind, def, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: def, Doc: doc}
	}
	slot := opt("slot", StrKind, "None", "the agent whose notes these are; else the script's own, or those of a shared memory")
	method := func(name, returns, doc string, op engine.MemoryOp, params ...Param) Builtin {
		return Builtin{Name: name, Of: "memory", Group: GroupAgents, Returns: returns, Effect: Recorded, Params: append(params, slot), Doc: doc,
			Func: func(c *Call) (starlark.Value, error) { return memoryCall(c, op) }}
	}
	return []Builtin{
		{Name: "memory", Group: GroupAgents, Aside: "scope max_lines max_tokens shared", Returns: "memory", Effect: Compose, Func: memoryFunc, May: true,
			Params: []Param{
				{Name: "name", Kind: nameKind, Doc: "its name, the only one in a script"},
				opt("scope", oneOf("run", "session"), `"run"`, "how long the notes are kept: as long as the run, or for the runs of the session that follow"),
				opt("max_lines", boundKind, "None", "keeps the last so many lines"),
				opt("max_tokens", boundKind, "None", "keeps the last lines that have about so many tokens, at 4 characters a token"),
				opt("shared", BoolKind, "False", "whether all agents have the same notes, instead of each its own"),
			},
			Doc: "Makes a place for notes: agent(memory = notes) gives the model memory_read, memory_write, memory_append and memory_search, and functions that run have its methods."},
		method("read", "str", `Gives the notes, in a function that runs; "" when there are none.`, engine.MemoryRead),
		method("write", "None", "Replaces the notes.", engine.MemoryWrite, Param{Name: "content", Kind: StrKind, Doc: "what is kept, instead of all before"}),
		method("append", "None", "Adds lines to the notes.", engine.MemoryAppend, Param{Name: "content", Kind: StrKind, Doc: "what is added"}),
		method("search", "list", "Gives the lines of the notes that hold a text, in upper or lower case.", engine.MemorySearch, Param{Name: "query", Kind: StrKind, Doc: "the text to look for"}),
		{Name: "compress", Group: GroupAgents, Aside: "after tokens keep how model history", Returns: "history", Effect: Compose, Func: compressFunc, May: true,
			Params: []Param{
				opt("after", boundKind, "40", "how many messages are too many; without it tokens alone decide, where they are given"),
				opt("tokens", boundKind, "None", "about how many tokens are too many, at 4 characters a token"),
				opt("keep", boundKind, "10", "at least so many of the newest messages stay as they are"),
				opt("how", oneOf("window", "summary"), `"window"`, "what is old is left out, or a model sums it up"),
				opt("model", StrKind, "None", "the model that sums up; else the agent's"),
				opt("history", oneOf("shared", "fresh"), `"shared"`, "what is kept short: the conversation with the agents before, or the agent's own turns alone"),
			},
			Doc: "Keeps a conversation short, for agent(history = ...). The system text and the agent's own input always stay, and a call of a tool is never parted from its result."},
		{Name: "conversation", Group: GroupAgents, Returns: "node", Effect: Compose, Func: conversationFunc, May: true,
			Params: []Param{
				{Name: "node", Kind: NodeKind, Shape: Positional, Doc: "the flow"},
				opt("history", historyKind, `"shared"`, historyDoc),
			},
			Doc: "Gives the agents of a flow one conversation: all that say nothing of their history themselves. It is the flow itself, and not another node."},
	}
}

const historyDoc = `what an agent sees of what was said before: "fresh" nothing, "shared" the conversation of the agents before it, "summary" the same summed up when it becomes long, or compress(...)`

type (
	memoryValue struct {
		part
		m *engine.MemoryBank
		c *state
	}
	historyValue struct {
		part
		h engine.History
	}
)

var _ starlark.HasAttrs = (*memoryValue)(nil)

func (v *memoryValue) String() string  { return fmt.Sprintf("memory(%q)", v.m.Name) }
func (v *memoryValue) Type() string    { return "memory" }
func (v *historyValue) String() string { return "compress(...)" }
func (v *historyValue) Type() string   { return "history" }

func (v *memoryValue) Attr(name string) (starlark.Value, error) {
	if m := v.c.methods.method("memory", name, v); m != nil {
		return m, nil
	}
	return nil, noAttr("a memory", name, v.AttrNames())
}

func (v *memoryValue) AttrNames() []string { return v.c.methods.methodNames("memory") }

var (
	memoryKind = Kind{Word: "memory(...)", Stub: "Memory", accept: as[*memoryValue], hint: func(v starlark.Value) string {
		if s, ok := v.(starlark.String); ok {
			return fmt.Sprintf("notes = memory(%q), and then memory = notes", string(s))
		}
		return "an agent has one memory: memory = notes"
	}}
	historyKind = anyOf(oneOf("fresh", "shared", "summary"), Kind{Word: "compress(...)", Stub: "History", accept: as[*historyValue], hint: func(v starlark.Value) string {
		if b, ok := v.(starlark.Bool); ok {
			return map[bool]string{true: `write history = "shared"`, false: `write history = "fresh"`}[bool(b)]
		}
		return ""
	}})
)

func memoryFunc(c *Call) (starlark.Value, error) {
	if c.composing() != nil {
		return nil, errorf(diag.ComposedWhileRunning, "memory composes while the flow runs").WithHelp(memoryAtTop)
	}
	m := engine.MemoryBank{Name: c.Str("name"), Session: c.Str("scope") == "session", Shared: c.Bool("shared", false)}
	for _, r := range []struct {
		name string
		to   *int
	}{{"max_lines", &m.MaxLines}, {"max_tokens", &m.MaxTokens}} {
		if c.Has(r.name) {
			*r.to = c.Int(r.name, 1)
		}
	}
	if len(c.wrong) > 0 {
		return nil, nil
	}
	return &memoryValue{m: c.state.session.Memory(c.fnSpan(), m), c: c.state}, nil
}

// memoryCall is one operation of a script on a memory.
func memoryCall(c *Call, op engine.MemoryOp) (starlark.Value, error) {
	v := c.recv.(*memoryValue)
	if !c.inRun("notes." + c.row.Name + "(...)") {
		return nil, nil
	}
	if v.m.Shared && c.Has("slot") {
		c.complain(diag.WrongArgument, c.spanOf("slot"), "memory %q is shared, and has one slot", v.m.Name).Help = []string{"leave slot out"}
		return nil, nil
	}
	if err := c.env.strand.settle(); err != nil {
		return nil, err
	}
	text := ""
	if len(c.row.Params) > 1 {
		text = c.Str(c.row.Params[0].Name)
	}
	out, err := engine.Memory(c.env.branch, v.m, op, c.Str("slot"), text)
	switch {
	case err != nil:
		return nil, err
	case op == engine.MemoryRead:
		return starlark.String(out), nil
	case op == engine.MemorySearch:
		return foundLines(out), nil
	}
	return starlark.None, nil
}

// foundLines is the list of lines of a text, empty for none.
func foundLines(text string) starlark.Value {
	var items []starlark.Value
	if text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			items = append(items, starlark.String(line))
		}
	}
	return starlark.NewList(items)
}

func compressFunc(c *Call) (starlark.Value, error) {
	h := engine.History{Shared: c.Str("history") != "fresh", Compress: &engine.Compression{
		How: engine.CompressWindow, Keep: c.Int("keep", engine.DefaultCompressKeep), Model: c.Str("model")}}
	if c.Has("how") {
		h.Compress.How = engine.CompressHow(c.Str("how"))
	}
	if c.Has("tokens") {
		h.Compress.Tokens = c.Int("tokens", 1)
	}
	if c.Has("after") || !c.Has("tokens") {
		h.Compress.After = c.Int("after", engine.DefaultCompressAfter)
	}
	if h.Compress.After > 0 && h.Compress.Keep >= h.Compress.After {
		c.complain(diag.WrongArgument, c.spanOf("keep"), "keep = %d leaves nothing to shorten after %d messages", h.Compress.Keep, h.Compress.After).Help =
			[]string{"let keep be less than after"}
	}
	if h.Compress.Model != "" && h.Compress.How != engine.CompressSummary {
		c.complain(diag.WrongArgument, c.spanOf("model"), "no model is asked to leave messages out").Help = []string{`how = "summary" sums them up`}
	}
	return &historyValue{h: h}, nil
}

// history reads what an agent or a flow says of its history, nil when it says nothing.
func (c *Call) history() *engine.History {
	switch v := c.Arg("history").(type) {
	case *historyValue:
		return &v.h
	case starlark.String:
		h := engine.History{Shared: v != "fresh"}
		if v == "summary" {
			h.Compress = &engine.Compression{After: engine.DefaultCompressAfter, Keep: engine.DefaultCompressKeep, How: engine.CompressSummary}
		}
		return &h
	}
	return nil
}

func conversationFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	n, ok := c.Arg("node").(*nodeValue)
	if !ok || c.stood {
		return c.standIn(), nil
	}
	h := c.history()
	if h == nil {
		h = &engine.History{Shared: true}
	}
	c.state.session.WithHistory(c.fnSpan(), n.n, h)
	return n, nil
}
