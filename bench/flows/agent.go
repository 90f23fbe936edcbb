package main

import "strings"

// The conversation of an agent that all engines hold: its model is a fake that calls a tool until
// the run has had its turns, and then gives a report.

// findings is the answer, typed.
type findings struct {
	Summary string   `json:"summary" describe:"In one sentence"`
	Score   int      `json:"score" describe:"0 to 100"`
	Files   []string `json:"files" describe:"What was looked at"`
}

// lookInput is what the tool is called with.
type lookInput struct {
	Path  string `json:"path" jsonschema:"description=Which file"`
	Lines int    `json:"lines" jsonschema:"description=How many lines"`
}

const (
	toolName = "look"
	toolDoc  = "Looks into a file."
	toolArgs = `{"path": "engine/frame.go", "lines": 40}`
	question = "What is wrong with engine/frame.go?"
	answer   = `{"summary": "Small and clear. Say what the index means when it is -1, and where it is set.", "score": 92, "files": ["engine/frame.go", "engine/branch.go"]}`
)

// prompt has 1.2 KB: with the schema and the tool, the first request stays below 2 KB.
var prompt = "Look for mistakes in the code." + strings.Repeat(" Name the line, say what to do about it. Be exact.", 24)

// look is the tool.
func look(in lookInput) string {
	if in.Lines != 40 {
		return "that is not what was asked for"
	}
	return in.Path + ": nothing special"
}

// seen is what the tool gives; a fake model counts it, and so knows which turn it is.
const seen = "engine/frame.go: nothing special"

// calls reports whether turn is one of those that call the tool. Each of them has been answered
// when the next one comes.
func calls(answered, turns int) bool { return answered < turns-1 }
