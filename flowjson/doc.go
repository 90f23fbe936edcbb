// Package flowjson runs flows written as JSON: the `agents-protocol` of koog, in both of its dialects.
//
// [Parse] reads a flow and reports all its errors at once, each with its position in the file, its JSON pointer and a
// remedy. A [Flow] becomes a node like those of a script, or the script itself; [Export] writes a node as JSON.
package flowjson
