package conformance

import "testing"

// Promise 3.1 (typed graph): the type of each composition follows from the types of its parts, for
// every operator and every pair of operators.
func TestPromise_3_1_TypeAlgebra(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.2 (typed graph): a variant goes where its union is wanted, `T` where `T | None` is,
// lists and dicts by their elements; an int does not pass for a float at a boundary, and the remedy
// is given.
func TestPromise_3_2_Assignability(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.3 (typed graph): a branch handles every variant, value or None that can arrive, or has
// an `otherwise`.
func TestPromise_3_3_ExhaustiveBranches(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.4 (typed graph): a branch key that can never be taken is an error.
func TestPromise_3_4_DeadRoutes(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.5 (typed graph): an agent without a skill that yields its output type is an error.
func TestPromise_3_5_SkillForOutput(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.6 (typed graph): every loop has a limit, 1000 turns by default, and reaching it is an
// error of its own.
func TestPromise_3_6_BoundedLoops(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.7 (typed graph): any node goes wherever a node goes: an agent before a pipeline,
// anything after a forum, a loop in a parallel, a branch over a pipeline.
func TestPromise_3_7_Closed(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.8 (typed graph): a node has one place; a second is an error that names the node, both
// structures and both positions and says how to make another instance.
func TestPromise_3_8_SinglePlacement(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.9 (typed graph): a composition that fails claims none of its parts.
func TestPromise_3_9_AtomicPlacement(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.10 (typed graph): in a forum the participants of a round run on the input and the
// transcript of earlier rounds; the captain runs last, sees all and gives the result.
func TestPromise_3_10_Forum(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.11 (typed graph): a parallel of different outputs is an error with the remedy `output =
// A | B`, unless they are variants of one union.
func TestPromise_3_11_JoinedOutputs(t *testing.T) { t.Skip("not built: starlib") }

// Promise 3.12 (typed graph): in a random well-typed program of which one type is changed, `check`
// finds exactly that one error.
func TestPromise_3_12_OneMutation(t *testing.T) { t.Skip("not built: starlib") }
