// Command agentscript checks, draws, formats and runs agent flows.
//
// The result of a verb goes to stdout, alone; progress and diagnostics go to stderr. The exit
// code says what happened; agentscript run --help lists the codes.
package main

import (
	"os"

	"github.com/agentscript/agentscript/internal/cli"
)

// version is set by the linker; a module that was built from the proxy knows its own.
var version string

func main() { os.Exit(cli.Main(version)) }
