// Package possible represents the possible values of an expression, as far as they are known without running
// it: a set of alternatives, each of one type of the language, and the results of operations on them.
//
// The rules of the language are not modelled a second time. The interpreter itself tries an operation on a
// sample of each type; the operation fails for a type if it fails for the sample.
package possible
