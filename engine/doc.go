// Package engine is the contract between a run and its host: what a run asks for, what it tells, and what
// bounds it.
//
// A run has two sides. On the composition side agents, functions and budgets decide what happens next;
// nothing there touches the world. Whatever does is an [Effect]: data that says what to do, with an ID made of
// its position in the run and its request. A [Handler] carries it out and returns an [Outcome]; a [Journal]
// remembers the outcome under the ID. The same script and input ask for the same effects, whichever of them
// end first, so that a run can be resumed or replayed from its record.
//
// Most hosts implement a Handler and read two more types: an [Event] tells what happens while a run goes on,
// an [Error] why it failed. [Limits] bound a run, [Approvals] let a person decide about a call, and a
// [SessionStore] keeps what outlives a run. A [Func] is host code that the composition side calls on a
// [Branch]. Who brings another runtime implements [Sched], its only door to time and concurrency.
//
// Flows are declared and composed in packages agent and flow, started by package run, and watched through
// the types of package event. This package knows neither a script language nor any provider of models.
package engine
