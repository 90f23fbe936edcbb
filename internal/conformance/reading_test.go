package conformance

import "testing"

// Promise 28.1 (reading): text dropped inside of the chosen value, or right behind it in its structure, is a repair
// with a cost, and at safe an answer whose list or object visibly held more is not ok; nothing there that holds a
// key, a value or an item is prose.
func TestPromise_28_1_Losses(t *testing.T) {
	t.Skip("not built: the search for silent losses over the families of malformations")
}

// Promise 28.2 (reading): choosing among whole values is no loss: what was not chosen is a record of cost 0 with its
// place; untyped values with only separators or blanks between them are a list.
func TestPromise_28_2_Choosing(t *testing.T) {
	t.Skip("not built: the promise's test; rows are in generable/lenient/losses_test.go")
}

// Promise 28.3 (reading): a quote or closer inside an open string ends it only where what follows can stand there.
func TestPromise_28_3_StructureInStrings(t *testing.T) {
	t.Skip("not built: the promise's test; rows are in generable/lenient/testdata/corpus/inside.jsonl")
}

// Promise 28.4 (reading): unquoted values keep balanced brackets, paragraphs, lines and version-like numbers up to
// the next key that the type knows.
func TestPromise_28_4_BareValues(t *testing.T) {
	t.Skip("not built: up to the next key that the type knows; today any name before a colon ends a value")
}

// Promise 28.5 (reading): where a text is wanted, a fence is a text to its closing ticks, whatever it holds, several
// in one object and in lists.
func TestPromise_28_5_FencesAsValues(t *testing.T) {
	t.Skip("not built: the promise's test; rows are in generable/lenient/testdata/typed/fences.jsonl")
}

// Promise 28.6 (reading): missing commas, doubled and single quotes, wrong and surplus closers lose no member and no
// item.
func TestPromise_28_6_MissingCommas(t *testing.T) {
	t.Skip("not built: most of the families")
}

// Promise 28.7 (reading): flat objects for a class with a wrapped field, and a number for a class of one float at
// loose, are read.
func TestPromise_28_7_ImpliedStructure(t *testing.T) {
	t.Skip("not built: all of it")
}

// Promise 28.8 (reading): strict refuses what RFC 8259 refuses, bad escapes among it, and messages show what was
// read.
func TestPromise_28_8_Strict(t *testing.T) {
	t.Skip("not built: values behind each other, comments and a trailing NUL are still read")
}

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

// Promise 28.11 (reading): x-alias, x-enum, x-constraints and x-stream are read and written in JSON Schema; an alias
// may rule the real name out, and code blocks are dedented on demand.
func TestPromise_28_11_WordsOfJSONSchema(t *testing.T) {
	t.Skip("not built: all of it")
}

// Promise 28.12 (reading): decode --explain prints what was chosen, dropped and repaired, and why.
func TestPromise_28_12_ExplainedDecodings(t *testing.T) {
	t.Skip("not built: all of it")
}

// Promise 28.18 (reading): of generated malformations at most 0.3 % of singles and 1 % of pairs are misread, and none
// is wrong with ok and cost 0.
func TestPromise_28_18_Malformations(t *testing.T) {
	t.Skip("not built: pairs, of which 2.7 % are misread, 7 of them without a cost; singles are in generable/lenient")
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
