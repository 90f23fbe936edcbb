// Package tape turns text into a tape: a flat, preorder array of nodes over byte ranges of the text. The [Scanner] is
// an automaton with an explicit stack. Each decision depends on the bytes read so far and never on where a chunk
// ended, so that any chunking of a text yields the same tape. Where a construct is not JSON, the automaton repairs
// it. A step that JSON allows is always taken as JSON, so that valid JSON is never altered.
//
// A few repairs go back: a quote that seemed to close a string turns out to belong to it. Going back is paid from a
// budget proportional to the text read, so the total time stays linear for any input.
package tape
