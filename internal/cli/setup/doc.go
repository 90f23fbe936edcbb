// Package setup makes a run from a command line: it loads the script, reads the input and the parameters of main, and
// determines the models, grants, servers, sessions and limits. Its flag groups are structs that add themselves to a
// flag set, so that every command has the same flags.
//
// Everything that cannot be set up is a [term.Failure] with its exit code.
package setup
