// Package testcase implements t, the argument of the functions in a test file: the answers that a test prepares, the
// calls that were made, and the assertions.
package testcase
