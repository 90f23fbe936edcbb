// Package term is the user interface of a command of this module: its process, its exit codes and failures, the
// progress and the JSON lines of a run, and the questions to a person at the terminal.
//
// A [Console] is one execution of a command. Everything that a verb writes goes through it, so that stdout receives
// only the result, and no output of a model or a tool can control the terminal.
package term
