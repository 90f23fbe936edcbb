// Package engine composes typed nodes into graphs, checks them, and runs them.
//
// Composing and running are two phases. A [Session] builds nodes, gives each its one place and
// reports every mistake with its position; sealing it ends composing. A sound node compiles to
// an immutable plan, and [Exec] interprets plans, any number at once.
//
// A run has two sides. The composition side, nodes, callbacks, budgets and positions, runs on a
// [Sched] and touches nothing outside. Everything else is an [Effect], data that a [Handler]
// carries out and a [Journal] remembers under an id made of its position and its request: so
// the same script and input ask for the same effects in any order of completion, and a run can
// be answered from the record of another.
//
// The package knows neither the script language nor any provider of models.
package engine
