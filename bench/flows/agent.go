package main

import "strings"

// All engines hold the same conversation of an agent: its model is a fake that calls a tool until the run has had its
// turns, and then returns a report.

// findings is the type of the answer.
type findings struct {
	Summary string   `json:"summary" describe:"In one sentence"`
	Score   int      `json:"score" describe:"0 to 100"`
	Files   []string `json:"files" describe:"What was looked at"`
}

// lookInput holds the arguments of the tool.
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

// prompt has 1.2 KB. With the schema and the tool, the first request stays below 2 KB.
var prompt = "Look for mistakes in the code." + strings.Repeat(" Name the line, say what to do about it. Be exact.", 24)

// look implements the tool.
func look(in lookInput) string {
	if in.Lines != 40 {
		return "that is not what was asked for"
	}
	return in.Path + ": nothing special"
}

// seen is the result of the tool. A fake model counts the results to know which turn it is.
const seen = "engine/frame.go: nothing special"

// calls reports whether the next turn calls the tool. Each call has been answered when the next turn comes.
func calls(answered, turns int) bool { return answered < turns-1 }
