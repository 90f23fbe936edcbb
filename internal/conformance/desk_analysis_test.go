package conformance

import "testing"

// Promise 27.71 (desk): check, the prompt and the test runner report the same findings for every file of the tests.
func TestPromise_27_71_OneAnalysis(t *testing.T) {
	t.Skip("not built: Analyse reports what loading does; the prompt checks one statement at a time, without what a whole file shows, and the test runner is not compared")
}
