// Package starlib is the script language of agentscript: Starlark with types as values, agents and compositions.
//
// [Load] executes a script and the files it loads. Executing composes the graph: builtins and operators build typed
// nodes in one [engine.Session] and report mistakes to it. Stand-ins replace what could not be built, so that one pass
// reports several mistakes. When loading has ended, all globals are frozen, the session is sealed, and any number of
// runs of the [Module] can execute concurrently, each branch of a run on its own Starlark thread.
//
// Every builtin is one row of a declarative table. The row unpacks arguments and is the source of the help text, the
// entry in the reference and the stub for editors.
package starlib
