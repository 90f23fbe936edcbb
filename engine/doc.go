// Package engine defines the contract between a run and its host: what a run asks for, what it reports, and what
// bounds it.
//
// A run has two sides. On the composition side agents, functions and budgets decide what happens next; nothing there
// touches the world. Everything that does is an [Effect]: data that says what to do, with an ID derived from its
// position in the run and its request. A [Handler] carries it out and returns an [Outcome]; a [Journal] stores the
// outcome under the ID. The same script and input ask for the same effects, in whatever order these end, so that a
// run can be resumed or replayed from its record.
//
// Most hosts implement a Handler and read two more types: an [Event] reports what happens during a run, and an
// [Error] says why it failed. [Limits] bound a run, [Approvals] let a person decide about a call, and a
// [SessionStore] keeps what outlives a run. A [Func] is host code that the composition side calls on a [Branch].
// Another runtime implements [Sched], the composition side's only access to time and concurrency.
//
// Flows are declared and composed in packages agent and flow, started by package run, and watched through the types
// of package event. This package knows neither a script language nor any provider of models.
package engine
