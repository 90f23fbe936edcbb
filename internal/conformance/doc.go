// Package conformance holds what agentscript promises to its users, one test a promise.
//
// The tests use public faces alone: the embedding package, the engine's exported names, the built
// command. A test's comment is the promise, in one sentence that a reader without the code
// understands; docs/conformance.md is generated from it. Promises about the repository itself stand
// in internal/arch, beside the checkers they use.
package conformance
