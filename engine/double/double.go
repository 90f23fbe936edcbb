// Package double is the contract between a test of a script and what runs it. In a test, answers that the test
// prepares stand in for models, tools, servers and people, and the calls that were made can be asked for.
//
// The methods of t in a script translate to those of a [Test]. Package agenttest has one that answers the effects of
// a run.
package double

import (
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Test is one test while it runs. Its methods are safe for concurrent use.
type Test interface {
	// Name is the name of the test, with those of the tests around it: test_review/empty.
	Name() string
	// Reply adds answers to the calls of an agent's model. They answer in order.
	Reply(agent string, answers ...Answer) *engine.Error
	// Tool adds results of a tool, "search", of an operation, "http.get", or of a tool of a server, "files.read".
	// They are used in order; the last one is used again. at is where the test prepares them, as below.
	Tool(name string, at diag.Pos, results ...Result) *engine.Error
	// Serve sets the tools that an MCP server lists: parameters by name of the tool.
	Serve(server string, at diag.Pos, tools []Served) *engine.Error
	// Decide adds decisions about calls of a tool, or about questions of the script for "". They are used in order;
	// the last one is used again.
	Decide(tool string, at diag.Pos, decisions ...engine.Decision) *engine.Error
	// Clock says what the time is when the test begins: now() of scripts returns it, with what has passed since of the
	// time of the test.
	Clock(at time.Time)
	// Replay answers what the test does not answer itself from a record.
	Replay(file string) *engine.Error
	// Dir returns a directory of this test alone, which its run may read and write. It is removed with the test.
	Dir() (string, *engine.Error)

	// Calls lists the calls of an agent, a tool or an operation that were made by now, of type [CallType].
	Calls(of string) (generable.Value, *engine.Error)
	// Order lists those of some names that were called by now, in the order of their first calls.
	Order(names ...string) ([]string, *engine.Error)
	// Denied counts the calls of a tool, or of a tool of a server by the name that the model knows, that models asked
	// for by now and that were not made: a rule or a person denied them, or their arguments could not be read.
	Denied(tool string) (int, *engine.Error)
	// Events describes what happened by now, a line for each start and end of a node, a call and a tool: without ids
	// and times, so that it is the same each time.
	Events() []string
	// Spent is what the run used by now.
	Spent() model.Usage
	// Snapshot compares a text with the stored one of a name; "" is the next one of the test.
	Snapshot(name, text string) *engine.Error
	// Different describes how two values differ, in lines.
	Different(got, want generable.Value) string

	// Skip marks the test as skipped, for a reason.
	Skip(reason string)
	// Sub begins a test inside of this one. It returns false when that is not to run.
	Sub(name string, at diag.Pos) (Test, bool)
	// End ends a test that Sub began, by an error or nil.
	End(err error)
}

// Answer is one answer of a model.
type Answer struct {
	Value  generable.Value // a str is sent as it is, everything else as JSON; null with calls or a failure
	Pieces []string        // of the text as it is streamed; nil streams words
	Calls  []ToolCall
	Fail   *Failure
	When   string        // only if the last message of the user contains it
	Repeat bool          // it answers any number of calls, and none is no failure
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
	RetryAfter time.Duration // 0 if the provider names none
}

// Result is one result of a tool: a value, a failure, or a function of the arguments, which is a map.
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
	{Name: "path", Type: generable.StrT, Guide: "where in the run"},
	{Name: "model", Type: generable.StrT, Guide: "the model that was asked, empty for a tool"},
	{Name: "system", Type: generable.StrT, Guide: "the system text of a model's call"},
	{Name: "user", Type: generable.StrT, Guide: "the last message of the user"},
	{Name: "messages", Type: generable.ListOfType(MessageType), Guide: "all messages, each with role and text"},
	{Name: "tools", Type: generable.ListOfType(generable.StrT), Guide: "the names of the tools that the model may call"},
	{Name: "args", Type: generable.AnyT, Guide: "the arguments of a tool"},
	{Name: "answer", Type: generable.AnyT, Guide: "the text of the answer, or the result of the tool"},
	{Name: "error", Type: generable.OneOf(generable.StrT, generable.NoneT), Guide: "why it failed, else None"},
	{Name: "tokens", Type: generable.IntT, Guide: "that it used, in and out"},
}}

// Assertion returns the failure of an assertion. A flow cannot handle it.
func Assertion(format string, args ...any) *engine.Error {
	return engine.Errorf(engine.KindTest, diag.AssertionFailed, format, args...)
}

// Skipped is the error that ends a skipped test.
func Skipped(reason string) *engine.Error {
	return engine.Errorf(engine.KindTest, diag.AssertionFailed, "skipped: %s", reason)
}
