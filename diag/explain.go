package diag

import (
	"embed"
	"strings"
)

// An Entry explains a code at length.
type Entry struct {
	Code    Code
	Title   string
	Explain string // a few sentences: paragraphs, not wrapped, and between them command lines, indented by 4 blanks
	Wrong   string // a short script that causes the code; may be empty
	Finding string // the finding in Wrong, as [List.Error] words it
	Right   string // the fixed script; empty if Wrong is
}

// explanations holds a file for each code: the title, an empty line and the text, then the scripts and
// the finding as files of a txtar archive.
//
//go:embed explain/AS*.txtar
var explanations embed.FS

// Lookup returns the entry of a code: "AS301", in any case, with or without "AS".
func Lookup(code string) (Entry, bool) {
	code = strings.ToUpper(strings.TrimSpace(code))
	if !strings.HasPrefix(code, "AS") {
		code = "AS" + code
	}
	return entry(code + ".txtar")
}

// Entries returns every entry, in the order of the codes.
func Entries() []Entry {
	files, err := explanations.ReadDir("explain") // sorted by name
	if err != nil {
		panic(err) // the directory is embedded
	}
	entries := make([]Entry, 0, len(files))
	for _, f := range files {
		e, _ := entry(f.Name())
		entries = append(entries, e)
	}
	return entries
}

// entry reads the explanation in an embedded file, and reports whether it exists.
func entry(file string) (Entry, bool) {
	data, err := explanations.ReadFile("explain/" + file)
	if err != nil {
		return Entry{}, false
	}
	parts := strings.Split("\n"+string(data), "\n-- ")
	title, about, _ := strings.Cut(strings.TrimLeft(parts[0], "\n"), "\n\n")
	e := Entry{Code: Code(strings.TrimSuffix(file, ".txtar")), Title: title, Explain: unwrapped(about)}
	for _, part := range parts[1:] {
		name, body, _ := strings.Cut(strings.TrimSuffix(part, "\n"), " --\n")
		switch name {
		case "wrong.star":
			e.Wrong = body + "\n"
		case "finding":
			e.Finding = body
		case "right.star":
			e.Right = body + "\n"
		}
	}
	return e, true
}

// unwrapped returns each paragraph as one line. Indented lines are kept unchanged.
func unwrapped(about string) string {
	blocks := strings.Split(strings.Trim(about, "\n"), "\n\n")
	for i, block := range blocks {
		if !strings.HasPrefix(block, "    ") {
			blocks[i] = strings.Join(strings.Fields(block), " ")
		}
	}
	return strings.Join(blocks, "\n\n")
}

// Markdown returns the explanation and the two scripts, without the title.
func (e Entry) Markdown() string { return e.text("```python\n", "\n```\n") }

// text returns the explanation and the two scripts, each script between two marks.
func (e Entry) text(begin, end string) string {
	text := e.Explain + "\n"
	for _, x := range [...]struct{ head, script string }{{"Refused", e.Wrong}, {"Accepted", e.Right}} {
		if x.script != "" {
			text += "\n" + x.head + ":\n\n" + begin + strings.Trim(x.script, "\n") + end
		}
	}
	return text
}
