package conformance

import "testing"

// Promise 27.71 (desk): check, the prompt and the test runner report the same findings for every file of the tests.
func TestPromise_27_71_OneAnalysis(t *testing.T) { t.Skip("not built: analysis") }

// Promise 27.72 (desk): nothing that a model, a tool or a script says reaches a terminal unescaped.
func TestPromise_27_72_Escaped(t *testing.T) { t.Skip("not built: analysis") }
