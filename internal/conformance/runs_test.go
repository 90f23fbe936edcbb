package conformance

import "testing"

// Promise 5.1 (runs): every example and test flow gives equal results and equal sets of effect ids
// on goroutines, on seeded cooperative schedules and on replay with handlers that fail if called.
func TestPromise_5_1_ThreeWays(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.2 (runs): an effect's id comes from its position and its request, so that an unrelated
// node inserted before it does not change it, and an edited prompt does.
func TestPromise_5_2_StructuralIDs(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.3 (runs): a second run over the journal of the first calls no handler.
func TestPromise_5_3_Replay(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.4 (runs): a run makes no more model calls than its budget; the call that does not fit is
// refused before it is made.
func TestPromise_5_4_ModelCallBudget(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.5 (runs): a script that never ends is stopped by its step budget.
func TestPromise_5_5_StepBudget(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.6 (runs): a run ends at its wall time, also while a model does not answer.
func TestPromise_5_6_WallTime(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.7 (runs): a failing branch cancels its siblings, and the error of the lowest index is
// reported.
func TestPromise_5_7_SiblingsAreCancelled(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.8 (runs): an error carries the path of its node, the position in the script and its
// chain of causes.
func TestPromise_5_8_ErrorPosition(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.9 (runs): a panic in a host's callback ends in an error of that run.
func TestPromise_5_9_PanicsAreErrors(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.10 (runs): each node and effect is seen to begin and to end, with its path, in one typed
// stream whose slow reader does not stop the run.
func TestPromise_5_10_Events(t *testing.T) { t.Skip("not built: the embedding package") }

// Promise 5.11 (runs): a hundred runs of one loaded module go on at once and do not disturb each
// other.
func TestPromise_5_11_ConcurrentRuns(t *testing.T) { t.Skip("not built: the embedding package") }
