package broken

import "testing"

// Promise 7.1 (decoder): it compiles.
func TestPromise_7_1_Compiles(t *testing.T) { missing() }
