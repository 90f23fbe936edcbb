package flowjson

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
)

// IsFlow reports whether a file is a flow that is written as JSON: by its name or, where that says nothing, by
// how it begins.
func IsFlow(name string, head []byte) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".jsonc":
		return true
	case ".star":
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"), []byte("{"))
}

// LoadOptions say how a file is loaded as a script is.
type LoadOptions struct {
	Tools    string // the path of a script that holds the local tools of the flow, as functions; "" when none does
	Compat   string // [Upstream], or ""
	MaxSteps int    // how many agents a run executes at most; 0 is the default of a graph
}

// Entry is a flow that is loaded as a script is.
type Entry struct {
	// Script makes the flow the node main, under the name flow as well. By it a flow is run, checked, drawn, tested and served as
	// any other script.
	Script string
	// Doc is what the flow says about itself.
	Doc string

	o     LoadOptions
	flow  *Flow
	found diag.List
	at    diag.Span // of the flow
	said  []said
}

// said is where in the file a part of the script comes from.
type said struct {
	line, from, to int // columns count characters
	at             diag.Span
}

// Load reads a flow, once, and writes the script that loads it. What is wrong is reported by [Entry.Flow]. The host's tools are local
// tools of the flow where the options name no script of them.
func Load(file, text string, o LoadOptions, host []string) *Entry {
	e := &Entry{o: o, at: diag.Span{Pos: diag.Pos{File: file, Line: 1, Col: 1}, Len: 1}}
	e.flow, e.found = Parse(file, text, Options{Compat: o.Compat, MaxSteps: o.MaxSteps})
	var b strings.Builder
	line := 1
	var loaded, given []part
	if e.flow != nil {
		loaded, given = e.flow.localTools(o.Tools, host)
		e.Doc = e.flow.spec.Description
	}
	if len(loaded) > 0 {
		e.write(&b, line, "load("+strconv.Quote(o.Tools)+", ", loaded, ")\n\n")
		line = 3
	}
	begin, end := "flow = load_flow("+strconv.Quote(path.Base(file)), ""
	if len(given) > 0 {
		begin, end = begin+", tools = {", "}"
	}
	if o.Compat != "" {
		end += ", compat = " + strconv.Quote(o.Compat)
	}
	if o.MaxSteps > 0 {
		end += ", max_steps = " + strconv.Itoa(o.MaxSteps)
	}
	e.write(&b, line, begin, given, end+")\nmain = flow\n")
	e.Script = b.String()
	return e
}

// part is a part of a line that a tool of the file is the reason for.
type part struct {
	text string
	at   diag.Span
}

// write adds a line, and remembers where its parts come from.
func (e *Entry) write(b *strings.Builder, line int, begin string, parts []part, end string) {
	b.WriteString(begin)
	col := 1 + utf8.RuneCountInString(begin)
	for i, p := range parts {
		if i > 0 {
			b.WriteString(", ")
			col += 2
		}
		b.WriteString(p.text)
		to := col + utf8.RuneCountInString(p.text)
		e.said = append(e.said, said{line, col, to, p.at})
		col = to
	}
	b.WriteString(end)
}

// Place returns what in the flow's file is the reason for what stands in the script at a place.
func (e *Entry) Place(line, col int) diag.Span {
	for _, s := range e.said {
		if s.line == line && s.from <= col && col < s.to {
			return s.at
		}
	}
	return e.at
}

// Flow returns the flow with tools and a name, and what was found. It is false where the options read the flow in another way.
func (e *Entry) Flow(o Options) (*Flow, diag.List, bool) {
	if o.Compat != e.o.Compat || o.MaxSteps != e.o.MaxSteps || len(o.Runtimes) > 0 {
		return nil, nil, false
	}
	if e.flow == nil {
		return nil, e.found, true
	}
	f := *e.flow
	f.o = o
	return &f, e.found, true
}

// LoadScript writes the statements that load a flow and a function main that runs it, for a prompt.
func LoadScript(file, text string, o LoadOptions, host []string) string {
	e := Load(file, text, o, host)
	doc := ""
	if e.Doc != "" {
		doc = "    " + strconv.Quote(strings.Join(strings.Fields(e.Doc), " ")) + "\n" // it describes no parameters
	}
	return strings.TrimSuffix(e.Script, "main = flow\n") + "\ndef main(input = \"\"):\n" + doc + "    return flow(input)\n"
}

// localTools returns what loads the local tools of a flow from a script, and what gives them to the flow.
func (f *Flow) localTools(from string, host []string) (loaded, given []part) {
	for _, t := range f.spec.Tools {
		own := "tool_" + strconv.Itoa(len(given)+1)
		at := t.NameAt.Span
		switch {
		case t.Type != "local":
			continue
		case from != "":
			loaded = append(loaded, part{own + " = " + strconv.Quote(t.Name), at})
		case slices.Contains(host, t.Name):
			own = t.Name
		default:
			continue
		}
		given = append(given, part{strconv.Quote(t.Name) + ": " + own, at})
	}
	return loaded, given
}
