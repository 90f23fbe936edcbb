package conformance

import "testing"

// Promise 27.55 (desk): `--repeat N` runs each test on N seeds; one whose verdict or events differ is flaky, with
// both seeds and the first event that differs, and `--seed` repeats it.
func TestPromise_27_55_Flakes(t *testing.T) { t.Skip("not built: cover") }
