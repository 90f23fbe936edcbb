// Command agentscript checks, draws, formats and runs agent flows.
//
// The result of a verb goes to stdout, alone; progress and diagnostics go to stderr. The exit
// code says what happened, see the constants in exit.go.
package main

import "os"

func main() { os.Exit(execute(osState())) }
