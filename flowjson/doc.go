// Package flowjson reads flows that are written as JSON: the `agents-protocol` of koog, in both of
// its dialects. It reports all errors in one at once, each with its place in the file, its JSON
// pointer and a remedy.
package flowjson
