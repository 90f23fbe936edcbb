package doc

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed examples.txt
var exampleLines string

// examples holds the lines of examples.txt by the qualified names of rows. Each is a statement; its value follows after
// two blanks and #, as repr writes it.
var examples = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(exampleLines) {
		name, code, _ := strings.Cut(strings.TrimSpace(line), ": ")
		out[name] = code
	}
	return out
})

// Example returns the line that shows how a builtin is used. It returns "" for one that has none, such as a host's own.
func Example(qualifiedName string) string { return examples()[qualifiedName] }
