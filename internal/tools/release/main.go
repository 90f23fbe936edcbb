// Command release writes the modules of this repository as a module proxy serves them, each as one version: the main
// module, temporal and temporal/devserver.
//
//	go run ./internal/tools/release -version v0.1.0 -out DIR
//
// The files of a module are those that git knows, as they are in the tree, without those of the modules below it. If a
// go.mod replaces a module by one of this repository, the replacement is dropped and the written version is required
// instead: go install accepts no command of a module with replacements.
//
//	GOPROXY=file://DIR,$(go env GOPROXY) GONOSUMDB=github.com/agentscript/* \
//		go install github.com/agentscript/agentscript/temporal/cmd/agentscript-temporal@v0.1.0
//
// installs from there, which shows that the tree can be released. A release itself is a tag for each module, as git has
// them, on a commit with these go.mod files.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/agentscript/agentscript/internal/arch"
)

// modules are the directories of the released modules; those of benchmarks are not released.
var modules = []string{".", "temporal", "temporal/devserver"}

func main() {
	version := flag.String("version", "", "the version that is written, as v0.1.0")
	out := flag.String("out", "", "the directory of the proxy's files")
	flag.Parse()
	if *version == "" || *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	root, err := arch.Root()
	if err == nil {
		err = write(root, *out, *version, modules)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
