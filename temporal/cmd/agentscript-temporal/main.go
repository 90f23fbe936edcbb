// Command agentscript-temporal runs scripts of agentscript on a Temporal server. It is also agentscript temporal, where it
// lies beside that command or on the path.
package main

import (
	"os"

	"github.com/agentscript/agentscript/temporal/internal/cli"
)

// version is set by the linker; a module that was built from the proxy knows its own.
var version string

func main() { os.Exit(cli.Main(version)) }
