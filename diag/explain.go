package diag

import (
	"io"
	"slices"
	"strings"
)

// An Entry explains a code at length.
type Entry struct {
	Code    Code
	Title   string
	Explain string // a few sentences; one paragraph, not wrapped
	Wrong   string // a short script that gets the code; may be empty
	Right   string // the same, accepted; may be empty
}

// Lookup finds the entry of a code: "AS301", in any case, with or without "AS".
func Lookup(code string) (Entry, bool) {
	code = strings.ToUpper(strings.TrimSpace(code))
	if !strings.HasPrefix(code, "AS") {
		code = "AS" + code
	}
	for _, e := range Entries() {
		if string(e.Code) == code {
			return e, true
		}
	}
	return Entry{}, false
}

// Entries gives every entry in the order of the codes.
func Entries() []Entry {
	return slices.Concat(
		syntaxEntries(), nameEntries(), composeEntries(), placementEntries(),
		schemaEntries(), capabilityEntries(), serverEntries(), runEntries(), touchEntries(), serverRunEntries(), flowEntries(),
	)
}

// WriteReference writes all entries as one Markdown page.
func WriteReference(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Diagnostics\n\n")
	b.WriteString("Every message carries a code that never changes its meaning. `agentscript explain AS301` shows one entry of this page.\n")
	family := ""
	for _, e := range Entries() {
		if f := familyOf(e.Code); f != family {
			family = f
			b.WriteString("\n## " + family + "\n")
		}
		b.WriteString("\n### " + string(e.Code) + ": " + e.Title + "\n\n" + e.Markdown())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown gives the explanation and the two scripts, without the title.
func (e Entry) Markdown() string { return e.text("```python\n", "\n```\n") }

// text gives the explanation and the two scripts, each between two marks.
func (e Entry) text(begin, end string) string {
	text := e.Explain + "\n"
	for _, x := range [...]struct{ head, script string }{{"Refused", e.Wrong}, {"Accepted", e.Right}} {
		if x.script != "" {
			text += "\n" + x.head + ":\n\n" + begin + strings.Trim(x.script, "\n") + end
		}
	}
	return text
}

func familyOf(c Code) string {
	names := [...]string{1: "Syntax", 2: "Names and arguments", 3: "Types and composition", 4: "Placement", 5: "Schemas and values", 6: "Capabilities", 7: "Run", 9: "Flow JSON"}
	if len(c) > 2 {
		if i := int(c[2] - '0'); i >= 0 && i < len(names) && names[i] != "" {
			return "AS" + string(c[2]) + "xx: " + names[i]
		}
	}
	return "Other"
}
