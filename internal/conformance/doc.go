// Package conformance holds what agentscript promises to its users, one test per promise.
//
// The tests only use public interfaces: the embedding package, the engine's exported names, the built command. A test's
// comment is the promise, in one sentence that a reader without the code understands; docs/conformance.md is generated
// from it. Promises about the repository itself are in internal/arch, next to the checkers they use.
package conformance
