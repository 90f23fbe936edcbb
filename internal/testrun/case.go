package testrun

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// testCase is a test while it runs, or one inside of another, which has the same world.
type testCase struct {
	*world
	file *File
	name string
	mark int // rows of answers before it began

	mu      sync.Mutex
	skipped *string
	subs    []*Result
	left    []string       // names of those inside of it that were not to run
	names   map[string]int // of tests inside of it and of snapshots, to tell those of one name apart
	result  *Result        // of a test inside of another
	runs    func(name string) bool
	shots   int
}

var _ double.Test = (*testCase)(nil)

func (c *testCase) Name() string { return c.name }

func (c *testCase) Reply(agent string, answers ...double.Answer) *engine.Error {
	name, _, _ := strings.Cut(agent, "#")
	name, _, _ = strings.Cut(name, ".") // what asks a model for an agent, as its router does
	if name != "*" {
		if err := c.known.check("agent", name, c.known.agents); err != nil && diag.DidYouMean(name, c.known.agents) != "" {
			return err // any other may be made by the run
		}
	}
	var rows []scripted.Row
	for _, a := range answers {
		row := scripted.Row{Agent: agent, Match: a.When, Repeat: a.Repeat, Delay: a.Delay, Pieces: a.Pieces, At: a.At}
		switch s, isText := a.Value.AsStr(); {
		case a.Fail != nil:
			row.Error = &scripted.Error{Kind: a.Fail.Kind, Message: cmp.Or(a.Fail.Message, "a failure that the test prepares"), Status: a.Fail.Status, RetryAfter: a.Fail.RetryAfter}
		case a.Calls != nil:
			for _, call := range a.Calls {
				row.Calls = append(row.Calls, scripted.Call{Name: call.Name, Args: json.RawMessage(generable.JSON(call.Args, nil))})
			}
		case isText:
			row.Text = &s
		default:
			row.JSON = json.RawMessage(c.written(name, a.Value))
		}
		rows = append(rows, row)
	}
	c.answers.Append(rows...)
	return nil
}

// written is an answer as the model of an agent would write it: a variant of the agent's union with its tag.
func (c *testCase) written(agent string, v generable.Value) string {
	if out := c.known.outputs[agent]; out != nil {
		if _, isMap := v.AsMap(); !isMap && out.Conforms(v) == nil {
			return generable.JSON(v, out)
		}
	}
	return generable.JSON(v, generable.AnyT)
}

func (c *testCase) Tool(name string, results ...double.Result) *engine.Error {
	if server, _, of := strings.Cut(name, "."); !of || !slices.Contains(c.known.servers, server) {
		if err := c.known.check("tool or operation", name, c.known.tools); err != nil {
			return err
		}
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.tools[name] = &queue[double.Result]{items: results}
	return nil
}

func (c *testCase) Serve(server string, tools []double.Served) *engine.Error {
	if err := c.known.check("MCP server", server, c.known.servers); err != nil {
		return err
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.served[server] = serve(tools)
	return nil
}

func (c *testCase) Decide(tool string, decisions ...engine.Decision) *engine.Error {
	if tool != "" {
		if err := c.known.check("tool", tool, c.known.tools); err != nil {
			return err
		}
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	q := c.decisions[tool]
	if q == nil {
		q = &queue[engine.Decision]{}
		c.decisions[tool] = q
	}
	q.items = append(q.items, decisions...)
	return nil
}

func (c *testCase) Replay(name string) *engine.Error {
	f, err := c.file.fsys.Open(path.Join(path.Dir(c.file.Path), name))
	if err != nil {
		return engine.Errorf(engine.KindTest, diag.BadTest, "the record %q cannot be read: %w", name, err).
			WithHelp("record it: agentscript run FILE --record %s", name)
	}
	defer f.Close()
	r, err := cassette.Replay(f, name, nil)
	if err != nil {
		return engine.AsError(err)
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.replayed = r
	return nil
}

func (c *testCase) Dir() (string, *engine.Error) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if c.dir != "" {
		return c.dir, nil
	}
	dir, err := os.MkdirTemp("", "agentscript-test-")
	if err != nil {
		return "", engine.Errorf(engine.KindTest, diag.BadTest, "no directory can be made: %w", err)
	}
	grants, err := grant.New(grant.FS(dir, grant.ReadWrite))
	if err != nil {
		return "", engine.AsError(err)
	}
	c.dir, c.dirGrants = dir, grants
	return dir, nil
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

// oneWord is a name without spaces and line ends, as a pattern of names and an archive of snapshots hold it.
func oneWord(name string) string { return strings.Join(strings.Fields(name), "_") }

func (c *testCase) Sub(name string, at diag.Pos) (double.Test, bool) {
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
	inner := &testCase{world: c.world, file: c.file, name: whole, mark: c.answers.Len(), runs: c.runs, result: &Result{Name: whole, File: c.file.shown, Pos: at}}
	c.subs = append(c.subs, inner.result)
	return inner, true
}

func (c *testCase) End(err error) {
	c.result.conclude(c, err)
}

// unused is the failure of answers that were left over since the test began.
func (c *testCase) unused() *engine.Error {
	rows := c.answers.UnusedSince(c.mark)
	if len(rows) == 0 {
		return nil
	}
	err := engine.Errorf(engine.KindTest, diag.UnusedAnswer, "%d of the answers that the test prepares were not used", len(rows)).
		WithHelp("leave them out, or find out why the calls are not made; t.on(...) prepares an answer that may be left over")
	if len(rows) == 1 {
		err.Message = fmt.Sprintf("an answer for agent %q was not used", rows[0].Agent)
	}
	err.Pos = rows[0].At
	for i, row := range rows[1:] {
		if i == keptEvents {
			err.Notes = append(err.Notes, fmt.Sprintf("and %d more", len(rows)-1-i))
			break
		}
		err.Notes = append(err.Notes, fmt.Sprintf("for agent %q at %s", row.Agent, row.At))
	}
	return err
}
