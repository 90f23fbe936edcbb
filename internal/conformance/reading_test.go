package conformance

import "testing"

// Promise 28.9 (reading): the rules of a type are written once: at every byte a snapshot equals the reading of the
// same prefix with --partial, and settled fields equal the final ones.
func TestPromise_28_9_OneRule(t *testing.T) {
	t.Skip("not built: the rules are driven three times")
}

// Promise 28.10 (reading): done, not_null and with_state rule classes and elements of lists in streams as they rule
// fields.
func TestPromise_28_10_StreamPolicies(t *testing.T) {
	t.Skip("not built: all of it")
}
