// Package llm is the engine's model port: it makes model calls through langchaingo's clients and ensures that no call
// fails silently.
//
// # Models
//
// A model is named `provider/model`. The first slash separates them; the rest is passed to the provider unchanged,
// including slashes and colons: `openrouter/meta-llama/llama-3.2-3b-instruct:free`.
//
//	openai      OPENAI_API_KEY; OPENAI_BASE_URL for another endpoint of the same API
//	anthropic   ANTHROPIC_API_KEY; ANTHROPIC_BASE_URL, with or without its /v1
//	ollama      no key; OLLAMA_BASE_URL, else OLLAMA_HOST, else http://127.0.0.1:11434;
//	            OLLAMA_API_KEY is sent when it is set and the URL is https
//	google      GEMINI_API_KEY, else GOOGLE_API_KEY; GEMINI_BASE_URL, else
//	            GOOGLE_GEMINI_BASE_URL; also under the names googleai and gemini
//	deepseek    DEEPSEEK_API_KEY, DEEPSEEK_BASE_URL
//	mistral     MISTRAL_API_KEY, MISTRAL_BASE_URL
//	openrouter  OPENROUTER_API_KEY, OPENROUTER_BASE_URL
//	compat      any server that speaks OpenAI's chat completions, such as vLLM, llama.cpp or
//	            LM Studio: AGENTSCRIPT_COMPAT_URL (with its /v1), AGENTSCRIPT_COMPAT_API_KEY
//	            if the server wants one. `compat/qwen3` asks it for qwen3.
//
// A host adds more with [WithCompatible] (a server of that kind under its own name),
// [WithProvider] and [WithModel] (any langchaingo model).
//
// # Keys
//
// Variables are read through [Secrets] when a call needs them, never by a client library. A key is only sent to its own
// provider's address, and redirects are not followed. The values of all providers' key variables are replaced by
// "[redacted]" in each request, in everything that a server or a host's model puts into an answer (text, calls, ids,
// finish reason), and in errors and panics. They are found verbatim and as JSON, URLs, hex and base64 write them.
// Values of fewer than 8 bytes are not used as keys, see [Registry.Warnings]. A partial key, or one in another
// encoding, is not recognized. A run removes what [Registry.Secrets] returns from everything else.
//
// # Waits
//
// A call waits 10 s for a connection, 120 s for the first byte of the answer and 60 s between two pieces of it. In all
// it may take as long as its context allows; see [Timeouts]. An answer that nobody listens to is not streamed, so that
// its first byte arrives when the model is done. The exception is an answer that may be so long that idle connections
// are cut on the way.
//
// # Errors
//
// Every failure is an *[engine.Error] whose kind says what can be done. It names provider, model, cause and remedy, and
// contains what the provider reported: status, code, request id, how long to wait, and whether a retry makes sense. An
// answer that was cut off, is empty or malformed, or was refused, is also a failure. Parameters are sent as set: a
// model that does not accept one refuses the call, and the error names the parameter.
//
// # Attempts
//
// A call with a transient failure is repeated, up to four attempts at a model, after waits that double or that the
// provider requests; see [RetryPolicy]. After that, or if a model cannot answer at all, the request's fallback models
// are asked in order; see [WithFallbacks]. Attempts are numbered across models, tokens and errors name theirs, and the
// usage of failed attempts counts. A model whose last five calls all failed is not asked for 30 s.
//
// # Limits
//
// Calls of one provider under one key share limits across all runs: eight calls in flight, fewer while the provider
// answers with rate limits, and a number per minute if the host sets one; see [Limits]. Waiting calls are served in the
// order of arrival.
//
// # Usage
//
// An answer without usage, or with impossible counts (below 0 or above [engine.MaxUsage]), gets an estimated usage, so
// that no server can evade a token budget.
package llm
