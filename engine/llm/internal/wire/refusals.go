package wire

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
)

// refusal is a row of a table of providers' refusals and failures. It matches if all of its fields match.
type refusal struct {
	status int    // 0: any
	code   string // one of the codes, types and states in the body, in lower case; "": any
	words  string // a part of the message, in lower case; "": any
	kind   engine.ErrKind
}

// speaker is the table of a provider. Numeric codes have a meaning only for their own provider.
type speaker struct {
	names  []string // the provider's names in calls and records
	relays bool     // it passes on the errors of others
	rows   []refusal
}

// speakers are the tables. Each row has a body in testdata/refusals.jsonl that it matches. Sources: the providers'
// pages of errors, and recorded answers of their servers, November 2026.
var speakers = []speaker{
	{names: []string{"openai", "azure"}, rows: []refusal{
		{0, "context_length_exceeded", "", engine.KindContextLength},
		{0, "string_above_max_length", "", engine.KindContextLength},
		{0, "", "maximum context length", engine.KindContextLength},
		{0, "", "exceeds the context", engine.KindContextLength},
		{0, "", "could not finish the message because max_tokens", engine.KindTruncated},
		{0, "invalid_api_key", "", engine.KindAuth},
		{0, "unsupported_country_region_territory", "", engine.KindAuth},
		{404, "model_not_found", "", engine.KindNotFound},
		{400, "model_not_found", "", engine.KindNotFound}, // of the Responses form
		{0, "unsupported_value", "", engine.KindUnsupported},
		{0, "unsupported_parameter", "", engine.KindUnsupported},
		{0, "", "response_format", engine.KindUnsupported},
		{0, "", "json_schema", engine.KindUnsupported},
		{0, "", "not supported with this model", engine.KindUnsupported},
		{0, "insufficient_quota", "", engine.KindQuota},
		{0, "billing_hard_limit_reached", "", engine.KindQuota},
		{0, "billing_not_active", "", engine.KindQuota},
		{0, "content_filter", "", engine.KindRefused}, // Azure's
		{0, "content_policy_violation", "", engine.KindRefused},
		{0, "invalid_prompt", "", engine.KindRefused},
		{0, "rate_limit_exceeded", "", engine.KindRateLimit},
		{0, "requests", "", engine.KindRateLimit},
		{0, "tokens", "", engine.KindRateLimit},
		{0, "too_many_requests", "", engine.KindRateLimit},
		{503, "server_is_overloaded", "", engine.KindOverloaded},
		{500, "server_error", "", engine.KindServer},
		{500, "internal_server_error", "", engine.KindServer},
	}},
	{names: []string{"anthropic", "claude", "anthropic-vertex", "anthropic-bedrock"}, rows: []refusal{
		{0, "", "prompt is too long", engine.KindContextLength},
		{0, "", "exceed context limit", engine.KindContextLength},
		{0, "request_too_large", "", engine.KindContextLength},
		{0, "authentication_error", "", engine.KindAuth},
		{0, "permission_error", "", engine.KindAuth},
		{404, "not_found_error", "", engine.KindNotFound},
		{0, "billing_error", "", engine.KindQuota},
		{0, "", "credit balance is too low", engine.KindQuota},
		{0, "", "specified api usage limits", engine.KindQuota},
		{0, "rate_limit_error", "", engine.KindRateLimit},
		{0, "overloaded_error", "", engine.KindOverloaded},
		{0, "timeout_error", "", engine.KindTimeout},
		{500, "api_error", "", engine.KindServer},
		{0, "", "not supported for this model", engine.KindUnsupported},
		{0, "", "not supported on this model", engine.KindUnsupported},
		{0, "", "deprecated for this model", engine.KindUnsupported},
		{0, "", "extra inputs are not permitted", engine.KindUnsupported},
		{0, "", "cannot both be specified", engine.KindUnsupported},
		{0, "", "content filtering policy", engine.KindRefused},
	}},
	{names: []string{"google", "googleai", "gemini", "vertex", "vertexai", "google-gla", "google-vertex", "google-cloud"}, rows: []refusal{
		{0, "", "input token count", engine.KindContextLength},
		{0, "api_key_invalid", "", engine.KindAuth},
		{0, "unauthenticated", "", engine.KindAuth},
		{0, "permission_denied", "", engine.KindAuth},
		{0, "", "api key not valid", engine.KindAuth},
		{0, "", "user location is not supported", engine.KindAuth},
		{404, "not_found", "", engine.KindNotFound},
		{0, "", "cannot find field", engine.KindUnsupported},
		{0, "", "is not enabled for", engine.KindUnsupported},
		{0, "prohibited_content", "", engine.KindRefused},
		{0, "resource_exhausted", "", engine.KindRateLimit},
		{0, "unavailable", "", engine.KindOverloaded},
		{0, "deadline_exceeded", "", engine.KindTimeout},
		{500, "internal", "", engine.KindServer},
	}},
	{names: []string{"bedrock", "amazon"}, rows: []refusal{
		{0, "", "input is too long", engine.KindContextLength},
		{0, "", "number of input tokens exceeds", engine.KindContextLength},
		{0, "accessdeniedexception", "", engine.KindAuth},
		{0, "unrecognizedclientexception", "", engine.KindAuth},
		{0, "expiredtokenexception", "", engine.KindAuth},
		{404, "resourcenotfoundexception", "", engine.KindNotFound},
		{0, "", "model identifier is invalid", engine.KindNotFound},
		{0, "", "doesn't support", engine.KindUnsupported},
		{0, "servicequotaexceededexception", "", engine.KindQuota},
		{0, "throttlingexception", "", engine.KindRateLimit},
		{0, "modelnotreadyexception", "", engine.KindOverloaded},
		{0, "serviceunavailableexception", "", engine.KindOverloaded},
		{0, "modeltimeoutexception", "", engine.KindTimeout},
		{500, "internalserverexception", "", engine.KindServer},
	}},
	{names: []string{"mistral"}, rows: []refusal{
		{0, "", "too large for model with", engine.KindContextLength},
		{400, "invalid_model", "", engine.KindNotFound},
		{0, "extra_forbidden", "", engine.KindUnsupported},
	}},
	{names: []string{"deepseek"}, rows: []refusal{
		{0, "", "response_format type is unavailable", engine.KindUnsupported},
	}},
	{names: []string{"openrouter"}, relays: true, rows: []refusal{
		{0, "", "endpoint's maximum context length", engine.KindContextLength},
		{404, "", "no endpoints found that support", engine.KindUnsupported},
	}},
	{names: []string{"ollama"}, rows: []refusal{
		{0, "", "max context length", engine.KindContextLength},
		{0, "", "exceeds the context length", engine.KindContextLength},
		{0, "", "does not support", engine.KindUnsupported},
	}},
	{names: []string{"groq"}, rows: []refusal{
		{400, "model_decommissioned", "", engine.KindNotFound},
		{0, "tool_use_failed", "", engine.KindBadResponse},
		{0, "json_validate_failed", "", engine.KindBadResponse},
		{0, "output_parse_failed", "", engine.KindBadResponse},
	}},
	{names: []string{"zai", "zhipu", "bigmodel"}, rows: []refusal{
		{0, "1261", "", engine.KindContextLength},
		{0, "", "prompt too long", engine.KindContextLength},
		{0, "1000", "", engine.KindAuth},
		{0, "1001", "", engine.KindAuth},
		{0, "1002", "", engine.KindAuth},
		{0, "1211", "", engine.KindNotFound},
		{0, "1113", "", engine.KindQuota},
		{0, "1301", "", engine.KindRefused},
		{0, "1302", "", engine.KindRateLimit},
		{0, "1305", "", engine.KindOverloaded},
	}},
	{names: []string{"moonshot", "kimi"}, rows: []refusal{
		{0, "", "exceeded model token limit", engine.KindContextLength},
		{0, "invalid_authentication_error", "", engine.KindAuth},
		{0, "incorrect_api_key_error", "", engine.KindAuth},
		{0, "permission_denied_error", "", engine.KindAuth},
		{0, "exceeded_current_quota_error", "", engine.KindQuota},
		{0, "rate_limit_reached_error", "", engine.KindRateLimit},
		{0, "engine_overloaded_error", "", engine.KindOverloaded},
	}},
	{names: []string{"perplexity"}, rows: []refusal{
		{0, "too_many_prompt_tokens", "", engine.KindContextLength},
		{0, "", "total length of all messages is too long", engine.KindContextLength},
	}},
	{names: []string{"xai", "grok"}, rows: []refusal{
		{0, "", "maximum prompt length is", engine.KindContextLength},
		{0, "", "incorrect api key", engine.KindAuth},
	}},
	{names: []string{"cohere"}, rows: []refusal{
		{0, "", "too many tokens", engine.KindContextLength},
	}},
	{names: []string{"cerebras"}, rows: []refusal{
		{0, "wrong_api_key", "", engine.KindAuth},
		{0, "payment_required", "", engine.KindQuota},
	}},
	{names: []string{"alibaba", "dashscope", "qwen"}, rows: []refusal{
		{0, "", "range of input length should be", engine.KindContextLength},
		{0, "arrearage", "", engine.KindQuota},
		{0, "data_inspection_failed", "", engine.KindRefused},
	}},
	{names: []string{"together", "huggingface"}, rows: []refusal{
		{0, "", "is longer than the model's context length", engine.KindContextLength},
		{0, "", "`inputs` tokens + `max_new_tokens` must be", engine.KindContextLength},
		{0, "model_not_available", "", engine.KindNotFound},
	}},
	{names: []string{"github", "copilot"}, rows: []refusal{
		{0, "model_max_prompt_tokens_exceeded", "", engine.KindContextLength},
	}},
	{names: []string{"llama.cpp", "llamacpp", "lmstudio"}, rows: []refusal{
		{0, "", "exceeds the available context", engine.KindContextLength},
		{0, "", "greater than the context length", engine.KindContextLength}, // LM Studio's
	}},
	{names: []string{"others"}, rows: []refusal{ // used by many servers, none of which owns it
		{0, "", "context length exceeded", engine.KindContextLength},
		{0, "", "context window", engine.KindContextLength},
		{0, "", "exceeds the maximum allowed input length", engine.KindContextLength},
		{0, "", "exceeds maximum input length", engine.KindContextLength},
		{0, "authentication", "", engine.KindAuth},
		{0, "", "invalid api key", engine.KindAuth},
		{0, "", "is not supported by", engine.KindUnsupported},
		{0, "", "is unsupported", engine.KindUnsupported},
		{0, "insufficient_balance", "", engine.KindQuota},
		{0, "quota_exceeded", "", engine.KindQuota},
		{0, "service_unavailable", "", engine.KindOverloaded},
		{0, "request_timeout", "", engine.KindTimeout},
	}},
}

// exceptionStatus maps the exceptions of Amazon's stream to the statuses that they have before a stream begins.
var exceptionStatus = map[string]int{
	"validationException": 400, "modelTimeoutException": 408, "modelStreamErrorException": 424, "throttlingException": 429,
	"internalServerException": 500, "serviceUnavailableException": 503,
}

// Topic is a part of requests that a refusal is about.
type Topic string

// The topics.
const (
	AboutSchema   Topic = "schema"
	AboutJSONMode Topic = "JSON mode"
	AboutTools    Topic = "tools"
	AboutLimit    Topic = "limit of the answer"
)

// topics are the words that servers use for them.
var topics = map[Topic][]string{
	AboutSchema:   {"response_format", "json_schema", "schema", "output_config", "output_format", "grammar", "structured output", "strict"},
	AboutJSONMode: {"json_object", "json mode", "response mime", "format"},
	AboutTools:    {"tool", "function", "strict"},
	AboutLimit:    {"max_tokens", "max_completion_tokens", "maxoutputtokens", "max_output_tokens", "num_predict", "completion tokens", "output tokens", "in the completion", "in the output"},
}

// Speaks reports whether the words of a refusal, in lower case, are about a topic.
func Speaks(words string, topic Topic) bool {
	return slices.ContainsFunc(topics[topic], func(w string) bool { return strings.Contains(words, w) })
}

// meanings describes the kinds of failure in plain words, before the provider's own.
var meanings = map[engine.ErrKind]string{
	engine.KindContextLength: "the request is longer than the model's context window",
	engine.KindTruncated:     "the token limit was used up before the answer ended",
	engine.KindAuth:          "the provider refused the credentials",
	engine.KindNotFound:      "the provider knows no such model",
	engine.KindUnsupported:   "the model does not take a part of the request",
	engine.KindQuota:         "the account's quota is used up",
	engine.KindRefused:       "the provider's content filter refused the request",
	engine.KindRateLimit:     "the rate limit is reached",
	engine.KindOverloaded:    "the provider is overloaded",
	engine.KindServer:        "the provider failed",
	engine.KindTimeout:       "the provider gave up waiting",
	engine.KindBadRequest:    "the provider does not accept the request",
	engine.KindBadResponse:   "the server answered with something else than an answer",
}

// rowsFor calls do with the rows of a provider, then with those of the others, until it returns true. Servers copy each
// other's words, but a numeric code has a meaning only for its own provider. Numeric codes of other providers count
// only for a server that may be any of them.
func rowsFor(provider string, do func(*refusal) bool) {
	own := slices.IndexFunc(speakers, func(s speaker) bool { return slices.Contains(s.names, strings.ToLower(provider)) })
	anyone := own < 0 || speakers[own].relays
	if own >= 0 {
		for i := range speakers[own].rows {
			if do(&speakers[own].rows[i]) {
				return
			}
		}
	}
	for i := range speakers {
		for j := range speakers[i].rows {
			row := &speakers[i].rows[j]
			number := row.code != "" && row.code[0] >= '0' && row.code[0] <= '9'
			if i != own && (anyone || !number) && do(row) {
				return
			}
		}
	}
}

// refusalOf finds the row for an error, nil if there is none. Words that show that a request is too long come first,
// since they also occur with less specific codes. Codes come before all other words. Words count only for an error that
// the request caused, and not for a rate limit: a rate limit that counts tokens does not mean that the request is too
// long.
func refusalOf(provider string, e *errorBody, status int) (found *refusal) {
	message := strings.ToLower(e.message)
	first := func(holds func(*refusal) bool) *refusal {
		rowsFor(provider, func(row *refusal) bool {
			if (row.status == 0 || status == 0 || row.status == status) && strings.Contains(message, row.words) && holds(row) {
				found = row
			}
			return found != nil
		})
		return found
	}
	clientError := status == 0 || status >= 400 && status < 500 && status != 401 && status != 429
	if clientError && first(func(row *refusal) bool { return row.code == "" && row.kind == engine.KindContextLength }) != nil {
		return found
	}
	for _, code := range append([]string{e.code}, e.kinds...) {
		code = strings.ToLower(code)
		if first(func(row *refusal) bool { return row.code != "" && row.code == code }) != nil {
			return found
		}
	}
	if clientError {
		first(func(row *refusal) bool { return row.code == "" })
	}
	return found
}
