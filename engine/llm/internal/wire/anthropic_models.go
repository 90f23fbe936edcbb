package wire

import (
	"slices"
	"strings"
)

// Claude describes what one of Anthropic's models accepts in a request. The provider refuses a request with anything
// else with status 400.
type Claude struct {
	name      string // part of the model's ids
	MaxTokens int    // the maximum max_tokens
	Schema    bool   // output_config.format and strict tools
	sampling  bool   // temperature and top_p
	budget    bool   // thinking with a number of tokens
	adaptive  bool   // thinking as much as the model decides
	off       string // the type of thinking that turns it off; "" if it is off by default
	efforts   []string
	free      bool // cannot be made to call a tool
}

// claudeAlways is the off of a model that always thinks.
const claudeAlways = "always"

// The words for effort, in increasing order.
var (
	threeEfforts = []string{"low", "medium", "high"}
	fourEfforts  = []string{"low", "medium", "high", "max"}
	allEfforts   = []string{"low", "medium", "high", "xhigh", "max"}
)

// claudes are the known models. A longer name comes before a shorter one that it starts with. Sources: the provider's
// Go SDK 1.84 (ids, types of thinking, words for effort), the tables of the AI SDK 3.0.138 and of models.dev, November
// 2026; where they differ on a limit, the lower one.
var claudes = []Claude{
	{name: "sonnet-5-5", MaxTokens: 128_000, Schema: true, adaptive: true, off: "between_tools", efforts: allEfforts, free: true},
	{name: "opus-5-5", MaxTokens: 128_000, Schema: true, adaptive: true, off: claudeAlways, efforts: allEfforts, free: true},
	{name: "haiku-5-5", MaxTokens: 128_000, Schema: true, adaptive: true, off: "disabled", efforts: allEfforts},
	{name: "fable-5-1", MaxTokens: 128_000, Schema: true, adaptive: true, off: claudeAlways, efforts: allEfforts, free: true},
	{name: "mythos-5-1", MaxTokens: 128_000, Schema: true, adaptive: true, off: claudeAlways, efforts: allEfforts, free: true},
	{name: "fable-5", MaxTokens: 128_000, Schema: true, adaptive: true, off: claudeAlways, efforts: allEfforts},
	{name: "mythos-5", MaxTokens: 128_000, Schema: true, adaptive: true, off: claudeAlways, efforts: allEfforts},
	{name: "opus-5", MaxTokens: 128_000, Schema: true, adaptive: true, off: "disabled", efforts: allEfforts},
	{name: "sonnet-5", MaxTokens: 128_000, Schema: true, adaptive: true, off: "disabled", efforts: allEfforts},
	{name: "mythos-preview", MaxTokens: 128_000, Schema: true, adaptive: true, off: claudeAlways, efforts: fourEfforts},
	{name: "opus-4-8", MaxTokens: 128_000, Schema: true, adaptive: true, efforts: allEfforts},
	{name: "opus-4-7", MaxTokens: 128_000, Schema: true, adaptive: true, efforts: allEfforts},
	{name: "opus-4-6", MaxTokens: 128_000, Schema: true, sampling: true, budget: true, adaptive: true, efforts: fourEfforts},
	{name: "sonnet-4-6", MaxTokens: 64_000, Schema: true, sampling: true, budget: true, adaptive: true, efforts: fourEfforts},
	{name: "opus-4-5", MaxTokens: 64_000, Schema: true, sampling: true, budget: true, efforts: threeEfforts},
	{name: "sonnet-4-5", MaxTokens: 64_000, Schema: true, sampling: true, budget: true},
	{name: "haiku-4-5", MaxTokens: 64_000, Schema: true, sampling: true, budget: true},
	{name: "opus-4-1", MaxTokens: 32_000, Schema: true, sampling: true, budget: true},
	{name: "sonnet-4", MaxTokens: 64_000, sampling: true, budget: true},
	{name: "4-sonnet", MaxTokens: 64_000, sampling: true, budget: true},
	{name: "opus-4", MaxTokens: 32_000, sampling: true, budget: true},
	{name: "4-opus", MaxTokens: 32_000, sampling: true, budget: true},
	{name: "3-7-sonnet", MaxTokens: 64_000, sampling: true, budget: true},
	{name: "3-5", MaxTokens: 8192, sampling: true},
	{name: "claude-3", MaxTokens: 4096, sampling: true},
	{name: "claude-2", MaxTokens: 4096, sampling: true},
	{name: "claude-instant", MaxTokens: 4096, sampling: true},
}

// ClaudeOf looks up a model by its id, with or without a date and other text around its name. An unknown Claude is
// treated like the newest known one. For other models behind an address that speaks this dialect, nothing is requested
// that only some models support.
func ClaudeOf(model string) Claude {
	id := strings.ReplaceAll(strings.ToLower(model), ".", "-")
	if !strings.Contains(id, "claude") {
		return Claude{MaxTokens: 4096, sampling: true, budget: true}
	}
	for _, c := range claudes {
		if strings.Contains(id, c.name) {
			return c
		}
	}
	return Claude{MaxTokens: 64_000, Schema: true, adaptive: true, off: "disabled", efforts: allEfforts}
}

// effort returns the model's word for an effort: the next lower one that it has.
func (c *Claude) effort(word string) string {
	if word == "minimal" {
		word = "low"
	}
	best := ""
	for _, e := range c.efforts {
		if slices.Index(allEfforts, e) <= slices.Index(allEfforts, word) {
			best = e
		}
	}
	return best
}
