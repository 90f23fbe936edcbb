package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	repairAlexandre "github.com/RealAlexandreAI/json-repair"
	repairKaptinlin "github.com/kaptinlin/jsonrepair"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// names are the columns of the table, with the decoder first. Readers from npm have the same names as in the script.
var names = []string{"agentscript", "BAML", "jsonrepair", "partial-json", "AI SDK", "best-effort", "jsonrepair for Go", "json_repair for Go"}

// packages are the npm packages of those readers.
var packages = []string{"@boundaryml/baml", "jsonrepair", "partial-json", "ai", "best-effort-json-parser"}

// versions returns all peers with their versions.
func versions(node string) ([]string, error) {
	var all []string
	for _, name := range packages {
		var about struct{ Version string }
		b, err := os.ReadFile(filepath.Join(node, "node_modules", name, "package.json"))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, &about); err != nil {
			return nil, err
		}
		all = append(all, name+" "+about.Version)
	}
	for _, name := range modules {
		version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", name).Output()
		if err != nil {
			return nil, fmt.Errorf("go list -m %s: %w", name, err)
		}
		all = append(all, name+" "+strings.TrimPrefix(strings.TrimSpace(string(version)), "v"))
	}
	return all, nil
}

// reading holds the result of each reader for a text, as JSON; nil means that the reader refused it.
type reading map[string]*string

// readAll reads all texts with all readers.
func readAll(texts []text, node string) ([]reading, error) {
	read, err := readInNode(texts, node)
	if err != nil {
		return nil, err
	}
	for i, t := range texts {
		if r := lenient.Decode(nil, t.Text, generable.Options{Partial: t.cut}); r.OK {
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

// repaired returns the JSON that a repairer makes of a text. It returns nil if the repairer fails, panics, or returns
// invalid JSON.
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

// install makes npm install the packages of the lock file if they are missing.
func install(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "node_modules", packages[0])); err == nil {
		return nil
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w: %s", dir, err, out)
	}
	return nil
}

// runNode runs the script and returns its output.
func runNode(dir string, in io.Reader, args ...string) ([]byte, error) {
	script := exec.Command("node", append([]string{"read.mjs"}, args...)...)
	var said bytes.Buffer // readers also write to it about each text that they refuse
	script.Dir, script.Stdin, script.Stderr = dir, in, &said
	out, err := script.Output()
	if err != nil {
		return nil, fmt.Errorf("node read.mjs: %w: %s", err, said.Bytes())
	}
	return out, nil
}

// readInNode reads all texts with the script.
func readInNode(texts []text, dir string) ([]reading, error) {
	var in bytes.Buffer
	lines := json.NewEncoder(&in)
	for _, t := range texts {
		if err := lines.Encode(t); err != nil {
			return nil, err
		}
	}
	out, err := runNode(dir, &in)
	if err != nil {
		return nil, err
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
