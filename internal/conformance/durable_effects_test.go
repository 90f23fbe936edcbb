package conformance

import "testing"

// Promise 30.10 (durable): an effect of class once whose process died between intent and result is not carried out
// again: the run parks, and goes on by a result, a failure, or again.
func TestPromise_30_10_UnknownIsAsked(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.11 (durable): on_unknown of a tool, a server or the run says ask, fail, retry or a function, and each
// does so.
func TestPromise_30_11_OnUnknown(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.12 (durable): an equal second answer changes nothing, another one is an error that names who answered
// what and when; a prompt and runs answer compete by the first commit.
func TestPromise_30_12_SameAnswerTwice(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.13 (durable): models and tools that may be repeated are called again under the same key, which reaches
// requests, tools and servers.
func TestPromise_30_13_IdempotencyKeys(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.14 (durable): a failure that the script went on from is an answer on resume; the one that ended the run
// is asked again, with raised limits too.
func TestPromise_30_14_CaughtFailures(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.15 (durable): the row of a model holds the decoded value beside the raw answer, and a resumed run takes
// that.
func TestPromise_30_15_ValueBesideText(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.16 (durable): rows with fields that this version does not know are read.
func TestPromise_30_16_NewerRows(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.17 (durable): no secret is in the bytes of the store, of its log and of its exports.
func TestPromise_30_17_NoSecrets(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.18 (durable): a limit of tokens that a budget sets goes on the wire alone, and changes no id.
func TestPromise_30_18_LimitOutsideDigest(t *testing.T) {
	t.Skip("not built: it has no test yet")
}
