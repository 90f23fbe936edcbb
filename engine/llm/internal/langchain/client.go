// Package langchain is the part of the model port that depends on langchaingo: the clients of providers, and the host's
// own models. No other package imports its clients.
package langchain

import (
	"context"
	"net/http"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
)

// Send makes one request of a model through langchaingo, which chooses address and headers. The transport below it
// finds the call's plan in the context, writes the body and keeps the answer. The client therefore only receives a
// placeholder for the conversation, and no key. Its error says why no request was made; otherwise the result is in the
// exchange of the context.
type Send = func(ctx context.Context, model string) error

// unset is a placeholder for values that the clients require and the transport replaces: keys and models.
const unset = "unset"

// OpenAI returns a client for chat completions below base. It sets every option that langchaingo would otherwise read
// from the environment: it would send OPENAI_API_KEY and OPENAI_ORGANIZATION to any address.
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
