// Package llm is the engine's model port: it makes model calls over langchaingo's clients and
// sees to it that no call ends in silent success.
//
// # Models
//
// A model is named `provider/model`. The first slash splits; the rest goes to the provider
// as it is, slashes and colons included: `openrouter/meta-llama/llama-3.2-3b-instruct:free`.
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
// Variables are read through [Secrets] when a call needs them and never by a client library.
// A key is sent to its own provider's address only, and redirects are not followed. What a call
// asks for, and whatever a server or a host's model puts into an answer, its tokens, calls, ids and
// finish reason, or into an error or panic, is searched for the values of all providers' key variables,
// as they are and as JSON, URLs, hex and base64 write them, and "[redacted]" replaces them. Values
// of fewer than 8 bytes are not used as keys, see [Registry.Warnings]; a key that comes in part or in any other
// code is not known. A run takes what [Registry.Secrets] returns out of all else.
//
// # Waits
//
// A call waits 10 s for a connection, 120 s for the first byte of the answer, 60 s between
// two pieces of it, and in all as long as its context allows; see [Timeouts]. An answer that
// nobody listens to is not streamed, unless it may be so long that connections are cut on the
// way: its first byte comes when the model is done.
//
// # Errors
//
// Every failure is an *[engine.Error] whose kind says what can be done. It names provider,
// model, cause and remedy, and carries what the provider said: status, code, request id, how
// long to wait, and whether trying again makes sense. An answer that was cut off, is empty or
// malformed, or was refused, is a failure too. Parameters are sent as they are set: a model
// that does not take one refuses the call, and the error names the parameter.
//
// # Attempts
//
// A call that failed by what passes is made again, up to four times at a model, after waits that
// double or that the provider asks for; see [RetryPolicy]. Then, and when a model cannot answer at
// all, the models that the request falls back to are asked in their order; see [WithFallbacks].
// Attempts are counted through, tokens and errors name theirs, and what failed attempts used
// counts. A model whose last five calls all failed is not asked for 30 s.
//
// # Limits
//
// Calls of one provider under one key are held back together, whichever run makes them: eight in
// flight at once, fewer while the provider answers with rate limits, and so many a minute where a
// host says so; see [Limits]. They wait in the order in which they came.
//
// # Usage
//
// An answer without usage, or with counts that no call has (below 0 or above
// [engine.MaxUsage]), has its usage estimated, so that no server can lift a token budget.
package llm
