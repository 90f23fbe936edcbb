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

// Promise 28.19 (reading): on the same generated documents the decoder is ahead of its peers on each family, and
// losses on their own corpora are listed.
func TestPromise_28_19_Peers(t *testing.T) {
	t.Skip("not built: a peer reads more where quotes run behind a text; the table is in docs/decoding.md")
}

// Promise 28.20 (reading): the decoder has at most 10,200 lines of code, is linear on every family, and keeps its
// bars of speed and heap.
func TestPromise_28_20_SmallAndLinear(t *testing.T) {
	t.Skip("not built: the bars of heap of NDJSON and entities, single quotes")
}
