package conformance

import "testing"

// Promise 27.52 (desk): coverage is reported as text with the uncovered lines, JSON and LCOV, merged over tests,
// failed ones included; thresholds outside 0 to 100 are errors.
func TestPromise_27_52_Reports(t *testing.T) { t.Skip("not built: cover") }

// Promise 27.55 (desk): `--repeat N` runs each test on N seeds; one whose verdict or events differ is flaky, with
// both seeds and the first event that differs, and `--seed` repeats it.
func TestPromise_27_55_Flakes(t *testing.T) { t.Skip("not built: cover") }
