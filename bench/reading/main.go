// Command reading compares what the decoder and its peers make of the same broken JSON: of generated documents, whose
// value is known, by the kind of what was broken, and of the texts in the tests of the peers that publish them.
//
//	go run ./reading -documents FILE [-page FILE] [-node DIR]
//
// FILE has lines of {"family", "text", "want"}. The page has its section "Beside its peers" replaced; without a page
// the section goes to the standard output. It is the same in every run.
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

// text is one text to be read, with the value that it stands for.
type text struct {
	Family string          `json:"family"`
	Text   string          `json:"text"`
	Want   json.RawMessage `json:"want"`
	cut    bool            // it may end anywhere, and what is known of it is its value
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

// readTexts reads the documents, and returns their hash beside them: the page says which documents its table is of.
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

// same reports whether two texts of JSON are the same value.
func same(a, b string) bool {
	var v, w any
	return json.Unmarshal([]byte(a), &v) == nil && json.Unmarshal([]byte(b), &w) == nil && reflect.DeepEqual(v, w)
}

// heading begins the section, which the next heading of its level ends.
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
