// Package langchain is the part of the model port that knows langchaingo: the clients of providers,
// and the models that a host makes of it. No other package imports its clients.
package langchain

import (
	"context"
	"net/http"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
)

// Send makes one request of a model through langchaingo, which chooses address and headers. The body is
// written below it, by the transport that finds the call's plan in the context and keeps the answer, so
// that the client is given a placeholder for the conversation, and no key. Its error says why no request
// was made; the result of one that was made is in the exchange of the context.
type Send = func(ctx context.Context, model string) error

// unset stands for what the clients insist on and the transport replaces: keys and models.
const unset = "unset"

// OpenAI returns a client for chat completions below base. It leaves nothing for langchaingo to read
// from the environment, which would send OPENAI_API_KEY and OPENAI_ORGANIZATION to any address.
func OpenAI(base string, c *http.Client) (Send, error) {
	m, err := openai.New(openai.WithToken(unset), openai.WithBaseURL(base), openai.WithOrganization(""), openai.WithModel(unset), openai.WithHTTPClient(c))
	return through(m), err
}

// Anthropic returns a client for Anthropic's messages below base.
func Anthropic(base string, c *http.Client) (Send, error) {
	m, err := anthropic.New(anthropic.WithToken(unset), anthropic.WithBaseURL(base), anthropic.WithModel(unset), anthropic.WithHTTPClient(c))
	return through(m), err
}

// Ollama returns a client for Ollama's chat below base.
func Ollama(base string, c *http.Client) (Send, error) {
	m, err := ollama.New(ollama.WithServerURL(base), ollama.WithHTTPClient(c), ollama.WithModel(unset))
	return through(m), err
}

func through(m llms.Model) Send {
	return func(ctx context.Context, model string) error {
		_, err := m.GenerateContent(ctx, []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "-")}, llms.WithModel(model))
		return err
	}
}
