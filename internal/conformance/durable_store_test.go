package conformance

import "testing"

// Promise 30.2 (durable): a run has one owner: a second process is refused while the first lives, takes over when it
// has died or its lease has ended, and what the first still writes changes nothing and ends it.
func TestPromise_30_2_Fencing(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.6 (durable): sessions that were kept as files are taken over once; --session-store DIR means a runs.db
// there.
func TestPromise_30_6_SessionsTakenOver(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.7 (durable): a resumed run finds its session as it was recorded and saves once; a fork reads it and
// saves only with --session.
func TestPromise_30_7_SessionOfAResumedRun(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.8 (durable): a damaged file, one of something else and one of a newer version are refused by a clear
// error before the first effect.
func TestPromise_30_8_DamagedAndNewer(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.9 (durable): runs rm and gc leave no bytes behind, in the file nor in its log.
func TestPromise_30_9_BytesAreGone(t *testing.T) {
	t.Skip("not built: it has no test yet")
}
