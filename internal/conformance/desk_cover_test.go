package conformance

import "testing"

// Promise 27.50 (desk): coverage counts each statement, lambda body and arm of a condition exactly, as a corpus
// marked by hand says.
func TestPromise_27_50_Statements(t *testing.T) { t.Skip("not built: cover") }

// Promise 27.52 (desk): coverage is reported as text with the uncovered lines, JSON and LCOV, merged over tests,
// failed ones included; thresholds outside 0 to 100 are errors.
func TestPromise_27_52_Reports(t *testing.T) { t.Skip("not built: cover") }

// Promise 27.53 (desk): a covered run has the digests, results and steps of a plain run.
func TestPromise_27_53_SameRun(t *testing.T) { t.Skip("not built: cover") }

// Promise 27.54 (desk): a plain run carries no probe; a covered tight loop costs at most 1.7 times the plain one.
func TestPromise_27_54_Cost(t *testing.T) { t.Skip("not built: cover") }

// Promise 27.55 (desk): `--repeat N` runs each test on N seeds; one whose verdict or events differ is flaky, with
// both seeds and the first event that differs, and `--seed` repeats it.
func TestPromise_27_55_Flakes(t *testing.T) { t.Skip("not built: cover") }
