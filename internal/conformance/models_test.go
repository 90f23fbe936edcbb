package conformance

import "testing"

// Promise 6.1 (models): `openai` and any server that speaks its protocol get the system and user
// messages and the parameters the script set, and no others; the answer's text and usage come back.
func TestPromise_6_1_OpenAI(t *testing.T) { t.Skip("not built: engine/llm") }

// Promise 6.2 (models): so does `ollama`, at the address its variables name.
func TestPromise_6_2_Ollama(t *testing.T) { t.Skip("not built: engine/llm") }

// Promise 6.3 (models): a host's own model is used under the provider name it was registered with.
func TestPromise_6_3_OwnModel(t *testing.T) { t.Skip("not built: engine/llm") }

// Promise 6.4 (models): a scripted model answers by agent name from a file or a list, and says so
// loudly when it runs out or is not used up.
func TestPromise_6_4_Scripted(t *testing.T) { t.Skip("not built: engine/llm") }

// Promise 6.5 (models): wrong keys, rate limits, overlong contexts, refusals and timeouts are told
// apart.
func TestPromise_6_5_TypedErrors(t *testing.T) { t.Skip("not built: engine/llm") }

// Promise 6.6 (models): a model's tool calls are made and answered until it gives its result, within
// the turns allowed.
func TestPromise_6_6_ToolLoop(t *testing.T) { t.Skip("not built: engine/llm") }

// Promise 6.7 (models): a provider's key reaches no other provider's host.
func TestPromise_6_7_KeysStay(t *testing.T) { t.Skip("not built: engine/llm") }

// Promise 6.8 (models): cancelling a run cancels the request in flight.
func TestPromise_6_8_CancelInFlight(t *testing.T) { t.Skip("not built: engine/llm") }
