// Command pages writes the generated pages of docs/: the language reference and the editor
// stub from the table of builtins, the list of diagnostics from the table of codes. With
// -check it only compares.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

func main() {
	dir := flag.String("dir", "docs", "where the pages are")
	check := flag.Bool("check", false, "compare instead of writing; fail when a page is stale")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// Pages are the generated files and their contents.
func pages() (map[string][]byte, error) {
	var codes bytes.Buffer
	if err := diag.WriteReference(&codes); err != nil {
		return nil, err
	}
	return map[string][]byte{
		"language.md":     []byte(starlib.Reference()),
		"agentscript.pyi": []byte(starlib.Stub()),
		"diagnostics.md":  codes.Bytes(),
	}, nil
}

func run(dir string, check bool) error {
	all, err := pages()
	if err != nil {
		return err
	}
	for name, text := range all {
		path := filepath.Join(dir, name)
		if !check {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return err
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, text) {
			return fmt.Errorf("%s is stale: run make docs", path)
		}
	}
	return nil
}
