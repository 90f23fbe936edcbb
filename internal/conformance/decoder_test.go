package conformance

import "testing"

// Promise 7.1 (decoder): valid JSON of the right type is decoded without repair, integers of any
// size exactly.
func TestPromise_7_1_ValidJSON(t *testing.T) { t.Skip("not built: generable") }

// Promise 7.2 (decoder): the value is found in fences and in prose.
func TestPromise_7_2_Surroundings(t *testing.T) { t.Skip("not built: generable") }

// Promise 7.3 (decoder): trailing commas and other common malformations are repaired, and each
// repair is reported with its place.
func TestPromise_7_3_Repairs(t *testing.T) { t.Skip("not built: generable") }

// Promise 7.4 (decoder): a union's variant is decided by its tag; without a valid one
// `from_llm_output` gives None and `decode` an error that lists the variants.
func TestPromise_7_4_Discriminators(t *testing.T) { t.Skip("not built: generable") }

// Promise 7.5 (decoder): a missing field with a default gets it; one without is an error.
func TestPromise_7_5_Defaults(t *testing.T) { t.Skip("not built: generable") }

// Promise 7.6 (decoder): coercions lose nothing and are reported.
func TestPromise_7_6_Coercions(t *testing.T) { t.Skip("not built: generable") }

// Promise 7.7 (decoder): all wrong fields are reported at once, each with its path, what was
// expected and what came.
func TestPromise_7_7_FieldErrors(t *testing.T) { t.Skip("not built: generable") }

// Promise 7.8 (decoder): any text ends in a value or in errors, without a panic, in time linear in
// its length.
func TestPromise_7_8_AnyInput(t *testing.T) { t.Skip("not built: generable") }

// Promise 7.9 (decoder): a text decoded in pieces gives the same result as decoded at once.
func TestPromise_7_9_Chunks(t *testing.T) { t.Skip("not built: generable") }
