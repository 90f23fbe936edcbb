// Package term is how a command of this module speaks: the process it is, its exit codes and failures,
// the progress and the JSON lines of a run, and the questions put to a person at the terminal.
//
// A [Console] is one execution of a command. Everything that a verb writes goes through it, so that
// the result goes to stdout alone, and nothing that a model or a tool says can steer a terminal.
package term
