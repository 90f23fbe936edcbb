package testcase

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// failures are the kinds of failures that calls of models and tools may have.
var failures = []string{string(engine.KindAuth), string(engine.KindRateLimit), string(engine.KindQuota), string(engine.KindContextLength), string(engine.KindRefused),
	string(engine.KindNotFound), string(engine.KindBadRequest), string(engine.KindUnsupported), string(engine.KindOverloaded), string(engine.KindServer),
	string(engine.KindNetwork), string(engine.KindTimeout), string(engine.KindTruncated), string(engine.KindBadResponse), string(engine.KindTool)}

// timesKind takes the number of answers to prepare at once.
var timesKind = table.Ints(func(_ *table.Param, n int64) []table.Fault {
	return table.FaultIf(n < 1 || n > mostPrepared, "", "want 1 to %d, got %d", mostPrepared, n)
})

const mostPrepared = 10_000

var (
	agentParam = table.Param{Name: "agent", Kind: table.Naming(table.StrKind, table.AgentName), Doc: `the name of the agent, "coder#1" for the second of that name, "*" for any`}
	whenParam  = table.Opt("when", table.StrKind, "None", "answers only if the last user message contains this text")
	delayParam = table.Opt("delay", table.TimeUpTo(24*time.Hour, "a day"), "None", "how long the answer takes, in virtual time, for which the test does not wait")
	toolParam  = table.Param{Name: "name", Kind: table.Naming(table.StrKind, table.ToolName, table.OperationName), Doc: `the name of the tool, "files.read" for a server's tool, or the name of an operation: "sh.run", "http.get", "fs.write"`}
)

// answerRows returns the methods that prepare answers.
func answerRows() []table.Builtin {
	return []table.Builtin{
		row("reply", "None", replyFunc, "Answers calls of an agent's model: the answers are used in order, each once. Unused answers fail the test.",
			agentParam,
			table.Param{Name: "answers", Kind: table.AnyKind, Shape: table.Variadic, Doc: "a str is the text of the answer; t.call(...), or a list of them, are calls of tools; everything else is sent as JSON"},
			whenParam, delayParam),
		row("on", "None", onFunc, "Answers any number of calls of an agent's model.",
			agentParam, table.Param{Name: "answer", Kind: table.AnyKind, Doc: "the answer, as for t.reply"}, whenParam, delayParam),
		row("fail", "None", failFunc, "Makes calls of an agent's model fail.",
			agentParam, table.Param{Name: "kind", Kind: table.OneOf(failures...), Doc: "the kind of the failure"},
			table.Param{Name: "message", Kind: table.StrKind, Default: "None", Doc: "the provider's message"},
			table.Opt("times", timesKind, "1", "how many attempts fail; a call with a transient failure, such as overloaded, is retried, up to four attempts in all"),
			table.Opt("status", table.LeastKind(100, diag.WrongArgument), "None", "the HTTP status"),
			table.Opt("retry_after", table.TimeUpTo(24*time.Hour, "a day"), "None", "how long the provider asks to wait before the next attempt"), whenParam, delayParam),
		row("call", "toolcall", callFunc, "Returns a model's tool call, for t.reply and t.on.",
			table.Param{Name: "name", Kind: table.StrKind, Shape: table.Positional, Doc: "the name of the tool, as the model sees it"},
			table.Param{Name: "args", Kind: table.AnyKind, Shape: table.Keywords, Doc: "its arguments"}),
		row("pieces", "pieces", piecesFunc, "Returns an answer that is streamed in these pieces, for t.reply and t.on.",
			table.Param{Name: "pieces", Kind: table.StrKind, Shape: table.Variadic, Doc: "the parts of the text"}),
		row("tool", "None", toolFunc, "Answers calls of a tool or an operation instead of making them: the results are used in order, and the last one is repeated. Unused results fail the test; a function may stay unused.",
			toolParam, table.Param{Name: "results", Kind: table.AnyKind, Shape: table.Variadic, Doc: "what the calls return; a function takes a dict of the arguments and returns the result"},
			table.Opt("fail", table.StrKind, "None", "the calls fail with this message")),
		row("serve", "None", serveFunc, "Sets the tools that an MCP server lists, so that no server is started. t.tool answers their calls. A list that is never requested fails the test.",
			table.Param{Name: "server", Kind: table.Naming(table.StrKind, table.ServerName), Doc: "the name of the server"},
			table.Param{Name: "tools", Kind: table.DictKind, Doc: `the parameters of each tool, by its name: {"read": {"path": str}}`}),
		row("approve", "None", approveFunc, "Decides in place of a person, about tool calls that need approval by the rules or about approve(...) of the script. Unused decisions fail the test.",
			table.Param{Name: "name", Kind: table.Naming(table.StrKind, table.ToolName), Default: "None", Doc: "the name of the tool; None for the questions of the script"},
			table.Param{Name: "approved", Kind: table.BoolKind, Default: "True", Doc: "whether it is approved"},
			table.Opt("reason", table.StrKind, "None", "why not, or a remark"),
			table.Opt("edit", table.AnyKind, "(none)", "approves it with these arguments, or this value, instead")),
		row("clock", "None", clockFunc, "Sets the time at which the test begins. In scripts, now() returns this time plus the virtual time that has passed since. By default, the time begins in 1970.",
			table.Param{Name: "at", Kind: momentKind, Doc: `the time in RFC 3339: "2026-01-31T09:00:00Z"`}),
		row("replay", "None", replayFunc, "Answers from a record of agentscript run --record everything that the test does not answer itself.",
			table.Param{Name: "file", Kind: table.Naming(table.StrKind, table.RecordPath), Doc: "the record, relative to the test file"}),
		row("dir", "str", dirFunc, "Returns a directory that belongs to this test, and lets its run read and write there."),
	}
}

// row returns a method of t.
//
//go:noinline
func row(name, returns string, f func(*table.Call, *T) (starlark.Value, error), doc string, params ...table.Param) table.Builtin {
	return table.Builtin{Name: name, Of: "t", Group: table.GroupTests, Params: params, Returns: returns, Doc: doc, Effect: table.Recorded, Look: looks[name], RunOnly: "def test_it(t): t." + name + "(...)",
		Func: func(c *table.Call) (starlark.Value, error) {
			t := c.Receiver.(*T)
			if t.Test == nil {
				return c.Placeholder(), nil
			}
			return f(c, t)
		}}
}

// reported returns the result of a method that returns nothing. A failure gets the position of the call.
func reported(c *table.Call, e *engine.Error) (starlark.Value, error) {
	if e == nil {
		return starlark.None, nil
	}
	if !e.Pos.IsValid() {
		own := *e
		own.Pos = c.FuncSpan().Pos
		e = &own
	}
	return nil, e
}

// answer reads one answer of a model.
func answer(c *table.Call, v starlark.Value) (double.Answer, error) {
	a := double.Answer{When: c.Str("when"), Delay: c.Duration("delay"), At: c.FuncSpan().Pos}
	if seq, ok := v.(*starlark.List); ok && seq.Len() > 0 {
		isCall := func(v starlark.Value) bool {
			_, call := v.(*Call)
			return call
		}
		if slices.ContainsFunc(table.Sequence(seq), isCall) {
			for _, item := range table.Sequence(seq) {
				call, ok := item.(*Call)
				if !ok {
					return a, script.Errorf(diag.WrongArgument, "a list of calls has %s in it", value.Describe(item)).WithHelp("answer with calls only, [t.call(...), t.call(...)], or with data only")
				}
				a.Calls = append(a.Calls, call.Of)
			}
			return a, nil
		}
	}
	switch v := v.(type) {
	case *Call:
		a.Calls = []double.ToolCall{v.Of}
		return a, nil
	case *Pieces:
		a.Pieces, a.Value = v.Of, generable.StrOf(strings.Join(v.Of, ""))
		return a, nil
	}
	data, err := value.ToData(v)
	if err != nil {
		return a, value.Prefixed("the answer", err)
	}
	a.Value = data
	return a, nil
}

func replyFunc(c *table.Call, t *T) (starlark.Value, error) {
	rest := c.Rest()
	if len(rest) == 0 {
		return nil, script.Errorf(diag.MissingArgument, "t.reply has no answer").WithHelp(`write it after the agent: t.reply("%s", "the answer")`, c.Str("agent"))
	}
	var all []double.Answer
	for _, v := range rest {
		a, err := answer(c, v)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return reported(c, t.Test.Reply(c.Str("agent"), all...))
}

func onFunc(c *table.Call, t *T) (starlark.Value, error) {
	a, err := answer(c, c.Arg("answer"))
	if err != nil {
		return nil, err
	}
	a.Repeat = true
	return reported(c, t.Test.Reply(c.Str("agent"), a))
}

func failFunc(c *table.Call, t *T) (starlark.Value, error) {
	f := &double.Failure{Kind: engine.ErrKind(c.Str("kind")), Message: c.Str("message"), Status: c.Int("status", 0), RetryAfter: c.Duration("retry_after")}
	a := double.Answer{Fail: f, When: c.Str("when"), Delay: c.Duration("delay"), At: c.FuncSpan().Pos}
	return reported(c, t.Test.Reply(c.Str("agent"), slices.Repeat([]double.Answer{a}, c.Int("times", 1))...))
}

func callFunc(c *table.Call, _ *T) (starlark.Value, error) {
	args := generable.NewMap(len(c.Kwargs))
	for _, kw := range c.Kwargs {
		name, _ := starlark.AsString(kw[0])
		v, err := value.ToData(kw[1])
		if err != nil {
			return nil, value.Prefixed(name, err)
		}
		args.Set(name, v)
	}
	name := c.Str("name")
	return &Call{Kind: "toolcall", Text: fmt.Sprintf("t.call(%q)", name), Of: double.ToolCall{Name: name, Args: args.Value()}}, nil
}

func piecesFunc(c *table.Call, _ *T) (starlark.Value, error) {
	p := &Pieces{Kind: "pieces", Text: "t.pieces(...)"}
	for _, v := range c.Rest() {
		piece, _ := starlark.AsString(v)
		p.Of = append(p.Of, piece)
	}
	return p, nil
}

func toolFunc(c *table.Call, t *T) (starlark.Value, error) {
	var results []double.Result
	if c.Has("fail") {
		if len(c.Rest()) > 0 {
			return nil, script.Errorf(diag.WrongArgument, "t.tool has results and fail").WithHelp("call it twice: first with the results, then with fail")
		}
		results = append(results, double.Result{Fail: &double.Failure{Kind: engine.KindTool, Message: c.Str("fail")}})
	}
	for _, v := range c.Rest() {
		if fn, ok := v.(*starlark.Function); ok {
			results = append(results, double.Result{Func: thread.Beside(c.State, fn)})
			continue
		}
		data, err := value.ToData(v)
		if err != nil {
			return nil, value.Prefixed("the result", err)
		}
		results = append(results, double.Result{Value: data})
	}
	if len(results) == 0 {
		results = append(results, double.Result{})
	}
	return reported(c, t.Test.Tool(c.Str("name"), c.FuncSpan().Pos, results...))
}

func serveFunc(c *table.Call, t *T) (starlark.Value, error) {
	var tools []double.Served
	for _, item := range c.Arg("tools").(*starlark.Dict).Items() {
		name, ok := starlark.AsString(item[0])
		params, isDict := item[1].(*starlark.Dict)
		if !ok || !isDict {
			return nil, script.Errorf(diag.WrongArgument, "a tool of t.serve is %s: %s", value.Describe(item[0]), value.Describe(item[1])).WithHelp(`write its parameters by name: {"read": {"path": str}}`)
		}
		record := &generable.Type{Kind: generable.RecordType, Name: name}
		for _, p := range params.Items() {
			field, ok := starlark.AsString(p[0])
			typ := value.TypeOf(p[1])
			if accepted, is := value.AcceptType(p[1]); is {
				typ = value.TypeOf(accepted)
			}
			if !ok || typ == nil {
				return nil, script.Errorf(diag.WrongArgument, "a parameter of %s is %s: %s", name, value.Describe(p[0]), value.Describe(p[1])).WithHelp(`write its type: {"path": str}`)
			}
			record.Fields = append(record.Fields, generable.Field{Name: field, Type: typ})
		}
		tools = append(tools, double.Served{Name: name, Doc: strings.ReplaceAll(name, "_", " "), Params: record})
	}
	return reported(c, t.Test.Serve(c.Str("server"), c.FuncSpan().Pos, tools))
}

func approveFunc(c *table.Call, t *T) (starlark.Value, error) {
	d := engine.Decision{Approved: c.Bool("approved", true), Reason: c.Str("reason")}
	if c.Has("edit") {
		if !d.Approved {
			return nil, script.Errorf(diag.WrongArgument, "t.approve denies and edits").WithHelp("leave approved out: an edited call is made")
		}
		v, err := c.Value("edit")
		if err != nil {
			return nil, err
		}
		d.Data = &v
	}
	return reported(c, t.Test.Decide(c.Str("name"), c.FuncSpan().Pos, d))
}

// momentKind takes a time.
var momentKind = table.Texts(func(_ *table.Param, s string) []table.Fault {
	_, err := time.Parse(time.RFC3339Nano, s)
	return table.FaultIf(err != nil, `write a date, T, a time and Z: "2026-01-31T09:00:00Z"`, "want a time in RFC 3339, got %q", s)
})

func clockFunc(c *table.Call, t *T) (starlark.Value, error) {
	at, _ := time.Parse(time.RFC3339Nano, c.Str("at"))
	t.Test.Clock(at)
	return starlark.None, nil
}

func replayFunc(c *table.Call, t *T) (starlark.Value, error) {
	return reported(c, t.Test.Replay(c.Str("file")))
}

func dirFunc(c *table.Call, t *T) (starlark.Value, error) {
	dir, e := t.Test.Dir()
	if e != nil {
		return reported(c, e)
	}
	return starlark.String(dir), nil
}
