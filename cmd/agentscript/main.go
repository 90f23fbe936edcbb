// Command agentscript checks, draws, formats and runs agent flows.
//
// The result of a verb, and nothing else, goes to stdout; progress and diagnostics go to stderr. The exit code reports
// the kind of the result; agentscript run --help lists the codes.
package main

import (
	"os"

	"github.com/agentscript/agentscript/internal/cli"
)

// version is set by the linker. A module built from the module proxy knows its own version.
var version string

func main() { os.Exit(cli.Main(version)) }
