// Package docs holds the pages of the documentation that the command prints.
package docs

import _ "embed"

// LLM is llm.md: the language on one page, at most 16 KiB of Markdown, written for models and people who write
// flows by it alone.
//
//go:embed llm.md
var LLM string
