package conformance

import "testing"

// Promise 27.13 (desk): completion offers names, keyword arguments, fields of schemas, strings of enums, agents,
// files and commands, each with a line of documentation.
func TestPromise_27_13_Completion(t *testing.T) {
	t.Skip("not built: names inside of half-typed functions, strings of enums of builtins, agents in strings; a line about files")
}
