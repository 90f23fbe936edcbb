// Package testcase is t, which the functions of a test file are called with: the answers that a test prepares, the
// calls that were made, and what it asserts.
package testcase
