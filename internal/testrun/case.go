package testrun

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// testCase is a running test, or one inside another, which has the same world.
type testCase struct {
	*world
	file  *File
	name  string
	outer *testCase   // the test around it, or nil
	begun time.Time   // by the real clock
	spent model.Usage // the usage of its calls; guarded as they are
	from  mark

	mu      sync.Mutex
	skipped *string
	subs    []*Result
	left    []string       // names of tests inside it that were not run
	names   map[string]int // uses of names of tests inside it and of snapshots, to distinguish equal names
	result  *Result        // for a test inside another
	runs    func(name string) bool
	shots   int

	strangers []stranger
}

var _ double.Test = (*testCase)(nil)

func (c *testCase) Name() string { return c.name }

func (c *testCase) Reply(agent string, answers ...double.Answer) *engine.Error {
	if err := c.known.Agent(agent); err != nil {
		if len(answers) == 0 || diag.DidYouMean(double.AgentName(agent), c.known.Agents) != "" {
			return err
		}
		err.Pos = answers[0].At
		c.world.mu.Lock()
		c.strangers = append(c.strangers, stranger{double.AgentName(agent), err})
		c.world.mu.Unlock()
	}
	var rows []scripted.Row
	for _, a := range answers {
		row := scripted.Row{Agent: agent, Match: a.When, Repeat: a.Repeat, Delay: a.Delay, Pieces: a.Pieces, At: a.At}
		switch s, isText := a.Value.AsStr(); {
		case a.Fail != nil:
			row.Error = &scripted.Error{Kind: a.Fail.Kind, Message: cmp.Or(a.Fail.Message, "a failure that the test prepares"), Status: a.Fail.Status, RetryAfter: a.Fail.RetryAfter}
		case a.Calls != nil:
			for _, call := range a.Calls {
				c.calling(call.Name, a.At)
				row.Calls = append(row.Calls, scripted.Call{Name: call.Name, Args: json.RawMessage(generable.JSON(call.Args, nil))})
			}
		case isText:
			row.Text = &s
		default:
			row.JSON = json.RawMessage(c.written(double.AgentName(agent), a.Value))
		}
		rows = append(rows, row)
	}
	c.answers.Append(rows...)
	return nil
}

// written returns an answer as the model of an agent would write it: a variant of the agent's union with its tag.
func (c *testCase) written(agent string, v generable.Value) string {
	if out := c.known.Outputs[agent]; out != nil {
		if _, isMap := v.AsMap(); !isMap && out.Conforms(v) == nil {
			return generable.JSON(generable.Answer(v, out), nil)
		}
	}
	return generable.JSON(v, generable.AnyT)
}

// calling records where a call of a tool is prepared.
func (c *testCase) calling(tool string, at diag.Pos) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.toolCalls[tool] = at
}

func (c *testCase) Tool(name string, at diag.Pos, results ...double.Result) *engine.Error {
	if err := c.known.Tool(name); err != nil {
		return err
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	q := queued(c.tools, name)
	for _, r := range results {
		p := c.prepare(at, "a result of %s", name)
		p.used = r.Func != nil // a function replaces the tool, however often it is called
		q.add(r, p)
	}
	return nil
}

func (c *testCase) Serve(server string, at diag.Pos, tools []double.Served) *engine.Error {
	if err := c.known.Server(server); err != nil {
		return err
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.served[server] = served{serve(tools), c.prepare(at, "the list of tools of the MCP server %s", server)}
	return nil
}

func (c *testCase) Decide(tool string, at diag.Pos, decisions ...engine.Decision) *engine.Error {
	if tool != "" {
		if err := c.known.Decided(tool); err != nil {
			return err
		}
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	q := queued(c.decisions, tool)
	for _, d := range decisions {
		q.add(d, c.prepare(at, "a decision about %s", cmp.Or(tool, "a question of the script")))
	}
	return nil
}

func (c *testCase) Clock(at time.Time) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.began = at.UTC()
}

func (c *testCase) Replay(name string) *engine.Error {
	at := path.Join(path.Dir(c.file.Path), name)
	if !fs.ValidPath(at) {
		return engine.Errorf(engine.KindTest, diag.BadTest, "the record %q is not below the directory of the test file", name)
	}
	data, err := readRegular(c.file.fsys, at)
	if err != nil {
		return engine.Errorf(engine.KindTest, diag.BadTest, "the record %q cannot be read: %w", name, unread(err)).
			WithHelp("record it: agentscript run FILE --record %s", name)
	}
	r, err := cassette.Replay(bytes.NewReader(data), name, nil)
	if err != nil {
		return engine.AsError(err)
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.replayed = r
	return nil
}

func (c *testCase) Spent() model.Usage {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	return c.spent
}

func (c *testCase) Different(got, want generable.Value) string { return difference(got, want) }

func (c *testCase) Skip(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped = &reason
}

// oneWord returns a name without spaces and line ends, as patterns of names and archives of snapshots need it.
func oneWord(name string) string { return strings.Join(strings.Fields(name), "_") }

func (c *testCase) Sub(name string, at diag.Pos) (double.Test, bool) {
	c.ending.Lock()
	defer c.ending.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	name = oneWord(name)
	if n := c.names[name]; n > 0 {
		c.names[name]++
		name = fmt.Sprintf("%s#%d", name, n)
	}
	if c.names == nil {
		c.names = map[string]int{}
	}
	c.names[name]++
	whole := c.name + "/" + name
	if c.runs != nil && !c.runs(whole) {
		c.left = append(c.left, name)
		return nil, false
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	from := c.mark()
	inner := &testCase{world: c.world, file: c.file, name: whole, outer: c, begun: time.Now(), from: from, runs: c.runs, result: &Result{Name: whole, File: c.file.shown, Pos: at, from: from.events}}
	c.subs = append(c.subs, inner.result)
	c.turnTo(inner)
	return inner, true
}

func (c *testCase) End(err error) {
	c.ending.Lock()
	defer c.ending.Unlock()
	if c.over {
		return
	}
	c.result.conclude(c, err)
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.backTo(c.from)
	c.turnTo(c.outer)
}
