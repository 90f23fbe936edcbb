// Package cover counts which statements of a script run and how often, and which arms of conditions, bodies of lambdas
// and elements of comprehensions do.
//
// The interpreter is not modified. While a file is compiled, probes are inserted into its syntax tree. A probe
// subtracts its own steps from the thread's count at once, so that at every instruction of the script the count is the
// same as without probes. Budgets are therefore checked at the same instructions, and a covered run records what a
// plain run records. Three properties make that exact:
//
//   - A probe is two instructions, a push and the call that counts, before anything that the script does. A limit that
//     is reached at one of the two stops the script in the same state as at its own next instruction.
//   - The interpreter omits blocks without instructions, such as the body of `if c: break`. A probe in one
//     would move jumps, so pass, break and continue in such a block are counted where its condition is decided.
//   - Probes have the position of the next instruction, or none if that has none.
package cover
