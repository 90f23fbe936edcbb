// Package flowjson reads flows that are written as JSON: the `agents-protocol` of koog, in both of
// its dialects. It reports all errors in one at once, each with its place in the file, its JSON
// pointer and a remedy.
package flowjson

import "github.com/agentscript/agentscript/diag"

// Check reads a flow and reports its errors, in the order of the file. The flow is nil when the text
// is not JSON at all.
//
// It goes in three steps: a tree of the text, which keeps order, positions and what is given twice;
// the flow that the tree declares; its graph.
func Check(file, text string) (*Spec, diag.List) {
	tree, found := parse(file, text)
	if tree == nil {
		return nil, found
	}
	spec, more := read(tree)
	found = append(found, more...)
	if spec != nil {
		found = append(found, spec.check()...)
	}
	found.Sort()
	return spec, found
}
