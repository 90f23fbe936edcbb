// Package starlib is the script language of agentscript: Starlark with types as values,
// agents and compositions.
//
// [Load] executes a script and the files it loads. That composes: builtins and operators
// build typed nodes in one [engine.Session], and what is wrong is reported to it, several
// mistakes in one pass, while stand-ins let the execution go on. When loading has ended, all
// globals are frozen, the session is sealed, and the [Module] can be run any number of times
// at once, each branch of a run on its own Starlark thread.
//
// Every builtin is one row of a declarative table: the same row unpacks arguments, is the
// help text, the entry of the reference and the stub for editors.
package starlib
