// Command notices writes THIRD_PARTY_NOTICES: name, version and licence texts of every module that
// the command links on any platform, taken from the modules themselves.
//
//	go run ./internal/tools/notices           write the file
//	go run ./internal/tools/notices -check    compare: 1 if it is stale
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentscript/agentscript/internal/arch"
)

const (
	target  = "THIRD_PARTY_NOTICES"
	product = "./cmd/agentscript"
)

func main() {
	check := flag.Bool("check", false, "compare the file with the modules instead of writing it")
	pkg := flag.String("package", product, "the package whose modules are listed, below the module's root")
	flag.Parse()
	root, err := arch.Root()
	if err == nil {
		err = work(root, *pkg, *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func work(root, pkg string, check bool) error {
	modules, err := linked(root, pkg)
	if err != nil {
		return err
	}
	var made bytes.Buffer
	if err := write(&made, modules); err != nil {
		return err
	}
	file := filepath.Join(root, target)
	if !check {
		return os.WriteFile(file, made.Bytes(), 0o644)
	}
	stands, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(stands, made.Bytes()) {
		return errors.New(target + " is not what the command links; run make notices")
	}
	return nil
}
