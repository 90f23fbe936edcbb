package conformance

import "testing"

// Promise 30.1 (durable): one suite holds every store to the contract, and says what is promised at a loss of power;
// the stores in memory and in SQLite pass it.
func TestPromise_30_1_StoreSuite(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.2 (durable): a run has one owner: a second process is refused while the first lives, takes over when it
// has died or its lease has ended, and what the first still writes changes nothing and ends it.
func TestPromise_30_2_Fencing(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.3 (durable): rows become durable in the order in which they were committed: what reads is not waited
// for, and nothing later survives without it.
func TestPromise_30_3_CommitOrder(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.4 (durable): a store whose log is cut off at any of 500 places holds a prefix of what was committed, and
// is sound.
func TestPromise_30_4_PowerLoss(t *testing.T) {
	t.Skip("not built: it has no test yet")
}

// Promise 30.5 (durable): what was acknowledged is found after the process was killed, in 20 kills over 16 runs.
func TestPromise_30_5_AcknowledgedIsKept(t *testing.T) {
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
