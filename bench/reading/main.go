// Command reading compares how the decoder and its peers read the same broken JSON: generated documents with known
// values, by the kind of fault, and the texts in the tests of those peers that publish them.
//
//	go run ./reading -documents FILE [-page FILE] [-node DIR]
//
// FILE has lines of {"family", "text", "want"}. The command replaces the section "Beside its peers" of the page.
// Without a page it prints the section to the standard output. The result is the same in every run.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
)

// text is a text to read, with the value that it represents.
type text struct {
	Family string          `json:"family"`
	Text   string          `json:"text"`
	Want   json.RawMessage `json:"want"`
	cut    bool            // it may end anywhere, and its value is what is known of it
}

func main() {
	documents := flag.String("documents", "", "file of the generated documents")
	page := flag.String("page", "", "page whose section is replaced")
	node := flag.String("node", "node", "directory of the script for Node")
	flag.Parse()
	if err := run(*documents, *page, *node); err != nil {
		fmt.Fprintln(os.Stderr, "reading:", err)
		os.Exit(1)
	}
}

func run(documents, page, node string) error {
	texts, hash, err := readTexts(documents)
	if err != nil {
		return err
	}
	if err := install(node); err != nil {
		return err
	}
	others, err := published(node)
	if err != nil {
		return err
	}
	read, err := readAll(append(texts, others...), node)
	if err != nil {
		return err
	}
	about, err := versions(node)
	if err != nil {
		return err
	}
	section := fmt.Sprintf(intro, strings.Join(about, ",\n"), hash) + families(texts, read[:len(texts)]) + losses(others, read[len(texts):])
	if page == "" {
		fmt.Print(section)
		return nil
	}
	return replace(page, section)
}

// readTexts reads the documents and returns them with their hash: the page says which documents its table is about.
func readTexts(file string) (texts []text, hash string, err error) {
	all, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	lines := json.NewDecoder(bytes.NewReader(all))
	for lines.More() {
		var t text
		if err := lines.Decode(&t); err != nil {
			return nil, "", err
		}
		texts = append(texts, t)
	}
	return texts, fmt.Sprintf("%x", sha256.Sum256(all)), nil
}

// same reports whether two JSON texts have the same value.
func same(a, b string) bool {
	var v, w any
	return json.Unmarshal([]byte(a), &v) == nil && json.Unmarshal([]byte(b), &w) == nil && reflect.DeepEqual(v, w)
}

// heading is the heading of the section, which ends at the next heading of the same level.
const heading = "## Beside its peers\n"

func replace(page, section string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	front, rest, ok := strings.Cut(string(old), heading)
	if !ok {
		return fmt.Errorf("%s has no section %q", page, strings.TrimSpace(heading))
	}
	_, behind, ok := strings.Cut(rest, "\n## ")
	if ok {
		behind = "\n## " + behind
	}
	return os.WriteFile(page, []byte(front+heading+"\n"+section+behind), 0o666)
}
