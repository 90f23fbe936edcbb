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

// IsFlow reports whether a file is a flow written as JSON, by its name or, if that is not conclusive, by its first
// bytes.
func IsFlow(name string, head []byte) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".jsonc":
		return true
	case ".star":
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"), []byte("{"))
}

// LoadOptions set how a flow is loaded like a script.
type LoadOptions struct {
	Tools    string // the path of a script that holds the local tools of the flow, as functions; "" if there is none
	Compat   string // [Upstream], or ""
	MaxSteps int    // bounds the agents that a run executes; 0 is the default of a graph
}

// Entry is a flow that is loaded like a script.
type Entry struct {
	// Script makes the flow the node main, which is also named flow. Through it, a flow is run, checked, drawn, tested
	// and served like any other script.
	Script string
	// Doc is the flow's description.
	Doc string

	o     LoadOptions
	flow  *Flow
	found diag.List
	at    diag.Span // position of the flow
	said  []said
}

// said maps a part of the script to its origin in the file.
type said struct {
	line, from, to int // columns count characters
	at             diag.Span
}

// Load reads a flow once, and writes the script that loads it. [Entry.Flow] reports what is wrong. If the options name
// no script of local tools, the host's tools are the local tools of the flow.
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

// part is a part of a line that comes from a tool of the file.
type part struct {
	text string
	at   diag.Span
}

// write adds a line, and records where its parts come from.
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

// Place returns the origin in the flow's file of a position in the script.
func (e *Entry) Place(line, col int) diag.Span {
	for _, s := range e.said {
		if s.line == line && s.from <= col && col < s.to {
			return s.at
		}
	}
	return e.at
}

// Flow returns the flow with tools and a name, and the findings. It returns false if the options read the flow
// differently.
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
		doc = "    " + strconv.Quote(strings.Join(strings.Fields(e.Doc), " ")) + "\n" // it declares no parameters
	}
	return strings.TrimSuffix(e.Script, "main = flow\n") + "\ndef main(input = \"\"):\n" + doc + "    return flow(input)\n"
}

// localTools returns the names to load for the local tools of a flow, and the entries that pass the tools to the flow.
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
