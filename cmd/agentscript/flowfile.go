package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson"
)

// isFlow reports whether a file is a flow written as JSON: by its name or, where that tells nothing,
// by how it begins.
func isFlow(file string) bool {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json", ".jsonc":
		return true
	case ".star":
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false // who reads it tells
	}
	defer f.Close()
	head, err := bufio.NewReader(f).Peek(512)
	if err != nil && err != io.EOF {
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"), []byte("{"))
}

// checkFlow tells what is wrong with a flow that is written as JSON.
func checkFlow(file string) (diag.List, diag.Sources, *failure) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, usagef("", "%s: %s", file, fileProblem(err))
	}
	_, found := flowjson.Check(file, string(text))
	return found, diag.SourceMap{file: strings.TrimPrefix(string(text), "\ufeff")}, nil
}

// flowOnlyChecked refuses to do with a flow what is done with scripts.
func flowOnlyChecked(file string) *failure {
	return &failure{code: exitUsage, found: diag.List{{Code: diag.FlowNotRun, Span: diag.Span{Pos: diag.Pos{File: file}},
		Message: "this is a flow as JSON, which can be checked and not yet run",
		Help:    []string{"agentscript check " + file + " tells what is wrong with it", "write it as a script to run it: graph(start, [edge(a, b, when = eq(\"success\", True))]) does what its transitions say"}}}}
}
