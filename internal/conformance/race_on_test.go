//go:build race

package conformance

// raced reports that the race detector is on: it allocates, and its stacks are larger.
const raced = true
