// Package cover counts which statements of a script run, how often, and which arms of conditions, bodies of lambdas
// and elements of comprehensions.
//
// The interpreter is not modified. While a file is compiled, probes are inserted into its syntax tree. A probe takes
// its own steps off the thread's count at once, so that at every instruction of the script the thread has counted what
// it counts without probes. Budgets are thus checked at the same instructions, and a covered run records what a plain
// run records. Three things make that exact:
//
//   - A probe is two instructions, a push and the call that counts, before anything that the script does. A limit that
//     is reached at one of the two stops the script in the same state as at its own next instruction.
//   - The interpreter leaves out blocks that hold no instruction, such as the body of `if c: break`. A probe in one
//     would move jumps, so pass, break and continue in such a block are counted where its condition is decided.
//   - Probes have the position of the instruction behind them, or none where that has none.
package cover
