// Package double is the contract between a test of a script and the code that runs it. In a test, prepared answers
// replace models, tools, servers and people, and the test can query the calls that were made.
//
// The methods of t in a script map to those of a [Test]. Package agenttest provides a [Test] that answers the effects
// of a run.
package double

import (
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Test is a running test. Its methods are safe for concurrent use.
type Test interface {
	// Name returns the name of the test after those of the tests around it: test_review/empty.
	Name() string
	// Reply adds answers to the calls of an agent's model. They are used in order.
	Reply(agent string, answers ...Answer) *engine.Error
	// Tool adds results of a tool, "search", of an operation, "http.get", or of a tool of a server, "files.read". They
	// are used in order, and the last one is repeated. at is where the test prepares them, here and below.
	Tool(name string, at diag.Pos, results ...Result) *engine.Error
	// Serve sets the tools that an MCP server lists.
	Serve(server string, at diag.Pos, tools []Served) *engine.Error
	// Decide adds decisions about calls of a tool, or about questions of the script if tool is "". They are used in
	// order, and the last one is repeated.
	Decide(tool string, at diag.Pos, decisions ...engine.Decision) *engine.Error
	// Clock sets the time at which the test begins. now() in scripts returns it plus the time of the test that has
	// passed since then.
	Clock(at time.Time)
	// Replay answers from a record what the test does not answer itself.
	Replay(file string) *engine.Error
	// Dir returns a directory that only this test uses and that its run may read and write. It is removed with the
	// test.
	Dir() (string, *engine.Error)

	// Calls lists the calls of an agent, a tool or an operation so far, of type [CallType].
	Calls(of string) (generable.Value, *engine.Error)
	// Order lists those of the given names that were called so far, in the order of their first calls.
	Order(names ...string) ([]string, *engine.Error)
	// Denied counts the calls of a tool, or of a tool of a server by the name that the model knows, that models have
	// requested so far and that were not made: a rule or a person denied them, or their arguments could not be read.
	Denied(tool string) (int, *engine.Error)
	// Events describes the events so far, one line for each start and end of a node, a call and a tool. The lines
	// contain no ids and no times, so they are the same each time.
	Events() []string
	// Spent returns what the run has used so far.
	Spent() model.Usage
	// Snapshot compares a text with the snapshot stored under a name; "" is the next snapshot of the test.
	Snapshot(name, text string) *engine.Error
	// Different describes how two values differ, as lines.
	Different(got, want generable.Value) string

	// Skip marks the test as skipped, with a reason.
	Skip(reason string)
	// Sub begins a test inside this one. It returns false if that test is not selected to run.
	Sub(name string, at diag.Pos) (Test, bool)
	// End ends a test that Sub began. err is nil if the test succeeded.
	End(err error)
}

// Answer is one answer of a model.
type Answer struct {
	Value  generable.Value // a str is sent unchanged, everything else as JSON; null with calls or a failure
	Pieces []string        // the text in the pieces in which it is streamed; nil streams words
	Calls  []ToolCall
	Fail   *Failure
	When   string        // use it only if the last message of the user contains this
	Repeat bool          // it may answer any number of calls, including none
	Delay  time.Duration // before the answer
	At     diag.Pos      // where the test prepares it
}

// ToolCall is a model's call of a tool.
type ToolCall struct {
	Name string
	Args generable.Value // a map
}

// Failure is a failed call.
type Failure struct {
	Kind       engine.ErrKind
	Message    string
	Status     int           // of HTTP, 0 for none
	RetryAfter time.Duration // 0 if the provider sets none
}

// Result is one result of a tool: a value, a failure, or a function of the arguments, which are a map.
type Result struct {
	Value generable.Value
	Fail  *Failure
	Func  func(args generable.Value) (generable.Value, error)
}

// Served is a tool that a server lists.
type Served struct {
	Name, Doc string
	Params    *generable.Type // a record
}

// MessageType is the type of a message of a call.
var MessageType = &generable.Type{Kind: generable.RecordType, Name: "TestMessage", Doc: "A message of a call in a test", Fields: []generable.Field{
	{Name: "role", Type: generable.StrT, Guide: "user, assistant or tool"},
	{Name: "text", Type: generable.StrT, Guide: "what it says; a call of a tool is its name and its arguments as JSON"},
}}

// CallType is the type of a call that was made.
var CallType = &generable.Type{Kind: generable.RecordType, Name: "TestCall", Doc: "A call that was made in a test", Fields: []generable.Field{
	{Name: "name", Type: generable.StrT, Guide: "the agent, tool or operation"},
	{Name: "path", Type: generable.StrT, Guide: "the place in the run"},
	{Name: "model", Type: generable.StrT, Guide: "the model that was asked, empty for a tool"},
	{Name: "system", Type: generable.StrT, Guide: "the system text of a model's call"},
	{Name: "user", Type: generable.StrT, Guide: "the last message of the user"},
	{Name: "messages", Type: generable.ListOfType(MessageType), Guide: "all messages, each with role and text"},
	{Name: "tools", Type: generable.ListOfType(generable.StrT), Guide: "the names of the tools that the model may call"},
	{Name: "args", Type: generable.AnyT, Guide: "the arguments of a tool"},
	{Name: "answer", Type: generable.AnyT, Guide: "the text of the answer, or the result of the tool"},
	{Name: "error", Type: generable.OneOf(generable.StrT, generable.NoneT), Guide: "why it failed, else None"},
	{Name: "tokens", Type: generable.IntT, Guide: "the tokens used, in and out"},
}}

// Assertion returns the failure of an assertion. A flow cannot handle it.
func Assertion(format string, args ...any) *engine.Error {
	return engine.Errorf(engine.KindTest, diag.AssertionFailed, format, args...)
}

// Skipped is the error that ends a skipped test.
func Skipped(reason string) *engine.Error {
	return engine.Errorf(engine.KindTest, diag.AssertionFailed, "skipped: %s", reason)
}
