package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	repairAlexandre "github.com/RealAlexandreAI/json-repair"
	repairKaptinlin "github.com/kaptinlin/jsonrepair"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// names are the columns of the table, the decoder first. Those of npm have the names of the script.
var names = []string{"agentscript", "jsonrepair", "partial-json", "AI SDK", "jsonrepair for Go", "json_repair for Go"}

// reading is what each reader made of a text, as JSON; nil is a refusal.
type reading map[string]*string

// readAll has all texts read by all readers.
func readAll(texts []text, node string) ([]reading, error) {
	read, err := readInNode(texts, node)
	if err != nil {
		return nil, err
	}
	for i, t := range texts {
		if r := lenient.Decode(nil, t.Text, generable.Options{}); r.OK {
			value := generable.JSON(r.Value, nil)
			read[i]["agentscript"] = &value
		}
		for name, repair := range map[string]func(string) (string, error){
			"jsonrepair for Go": repairKaptinlin.Repair, "json_repair for Go": repairAlexandre.RepairJSON,
		} {
			read[i][name] = repaired(repair, t.Text)
		}
	}
	return read, nil
}

// repaired is the JSON that a repairer makes of a text; nil when it fails, panics, or makes none.
func repaired(repair func(string) (string, error), text string) (value *string) {
	defer func() {
		if recover() != nil {
			value = nil
		}
	}()
	out, err := repair(text)
	if err != nil || !json.Valid([]byte(out)) {
		return nil
	}
	return &out
}

// readInNode installs what the lock file names when it is not there, and runs the script over all texts.
func readInNode(texts []text, dir string) ([]reading, error) {
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "ai")); err != nil {
		install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		install.Dir = dir
		if out, err := install.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("npm ci in %s: %w: %s", dir, err, out)
		}
	}
	var in bytes.Buffer
	lines := json.NewEncoder(&in)
	for _, t := range texts {
		if err := lines.Encode(t); err != nil {
			return nil, err
		}
	}
	script := exec.Command("node", "read.mjs")
	script.Dir, script.Stdin, script.Stderr = dir, &in, os.Stderr
	out, err := script.Output()
	if err != nil {
		return nil, fmt.Errorf("node read.mjs: %w", err)
	}
	read := make([]reading, len(texts))
	answers := json.NewDecoder(bytes.NewReader(out))
	for i := range read {
		if err := answers.Decode(&read[i]); err != nil {
			return nil, fmt.Errorf("answer %d of node: %w", i, err)
		}
	}
	return read, nil
}
