// Command agentscript-temporal runs scripts of agentscript on a Temporal server. It is also available as agentscript
// temporal, if it is next to that command or on the path.
package main

import (
	"os"

	"github.com/agentscript/agentscript/temporal/internal/cli"
)

// version is set by the linker. A module that was built from the proxy knows its own version.
var version string

func main() { os.Exit(cli.Main(version)) }
