// Package flowjson reads flows that are written as JSON: the `agents-protocol` of koog, in both of
// its dialects. It tells all that is wrong with one at once, each with its place in the file, its
// JSON pointer and a remedy.
//
// Reading goes in three steps: [Parse] makes a tree of the text that keeps order, positions and
// what is given twice; [Read] makes a [Spec] of the tree; [Spec.Check] looks at the graph.
// [Check] does all three.
package flowjson

import "github.com/agentscript/agentscript/diag"

// Check reads a flow and tells what is wrong with it, in the order of the file. The flow is nil when
// the text is no JSON at all.
func Check(file, text string) (*Spec, diag.List) {
	tree, found := Parse(file, text)
	if tree == nil {
		return nil, found
	}
	spec, more := Read(tree)
	found = append(found, more...)
	if spec != nil {
		found = append(found, spec.Check()...)
	}
	found.Sort()
	return spec, found
}
