package flowjson

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
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

// LoadScript writes the script that loads a flow and runs it: by it a flow is run, checked, drawn, tested and served as
// any other script. The host's tools are local tools of the flow where the options name no script of them.
func LoadScript(file, text string, o LoadOptions, host []string) string {
	var b strings.Builder
	args := []string{strconv.Quote(path.Base(file))}
	f, _ := Parse(file, text, Options{Compat: o.Compat}) // what is wrong is said when it is loaded
	if f != nil {
		args = append(args, f.localTools(&b, o.Tools, host)...)
	}
	if o.Compat != "" {
		args = append(args, "compat = "+strconv.Quote(o.Compat))
	}
	if o.MaxSteps > 0 {
		args = append(args, "max_steps = "+strconv.Itoa(o.MaxSteps))
	}
	b.WriteString("flow = load_flow(" + strings.Join(args, ", ") + ")\n\ndef main(input = \"\"):\n")
	if f != nil && f.spec.Description != "" {
		b.WriteString("    " + strconv.Quote(strings.Join(strings.Fields(f.spec.Description), " ")) + "\n") // it describes no parameters
	}
	b.WriteString("    return flow(input)\n")
	return b.String()
}

// localTools writes the statement that loads the local tools, and returns the argument that names them.
func (f *Flow) localTools(b *strings.Builder, from string, host []string) []string {
	var loaded, tools []string
	for _, t := range f.spec.Tools {
		own := "tool_" + strconv.Itoa(len(tools)+1)
		switch {
		case t.Type != "local":
			continue
		case from != "":
			loaded = append(loaded, own+" = "+strconv.Quote(t.Name))
		case slices.Contains(host, t.Name):
			own = t.Name
		default:
			continue
		}
		tools = append(tools, strconv.Quote(t.Name)+": "+own)
	}
	if len(loaded) > 0 {
		b.WriteString("load(" + strconv.Quote(from) + ", " + strings.Join(loaded, ", ") + ")\n\n")
	}
	if len(tools) == 0 {
		return nil
	}
	return []string{"tools = {" + strings.Join(tools, ", ") + "}"}
}
