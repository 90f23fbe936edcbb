package llm_test

import (
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

// cited are the citations of the answers in testdata/citations. bench/sdks checks what the providers' clients read from
// them.
var cited = map[string][]model.Citation{
	"anthropic": {
		{Title: "Colors", Source: "file_1", Quote: "The grass is green.", Text: "the grass is green"},
		{URL: "https://example.org/shannon", Title: "Claude Shannon", Quote: "Claude Shannon (April 30, 1916)", Text: " and Shannon was born in 1916."},
		{Title: "Note 7", Source: "https://example.com/kb/7", Quote: "born 1916", Text: " and Shannon was born in 1916."},
	},
	"openai": {{URL: "https://example.org/a", Title: "A page", Text: "Größe: 3 km."}},
	"perplexity": {
		{URL: "https://example.org/a", Title: "A page", Quote: "The words of A."},
		{URL: "https://example.org/b"},
	},
	"mistral": {{Source: "0"}, {Source: "doc-2"}},
	"responses": {
		{URL: "https://example.org/a", Title: "A page", Text: "It is so."},
		{Title: "notes.pdf", Source: "file-1"},
	},
	"google": {
		{URL: "https://example.org/a", Title: "example.org", Text: "Spain won Euro 2024."},
		{URL: "https://example.org/a", Title: "example.org", Text: "It beat England."},
		{URL: "gs://b/c.pdf", Title: "c.pdf", Quote: "England lost.", Text: "It beat England."},
		{URL: "https://example.org/unused", Title: "unused"},
	},
	"cohere": {
		{URL: "https://example.org/p", Title: "Tall penguins", Source: "doc:0", Quote: "Emperor penguins are the tallest.", Text: "Emperor penguins"},
		{Source: "t:1", Text: "Emperor penguins"},
	},
	"bedrock": {{URL: "https://example.org/g", Title: "Colors", Quote: "The grass is green.", Text: "The grass is green"}},
}

// Citations of answers are kept, the same for streams and documents.
func TestCitations(t *testing.T) {
	files, err := filepath.Glob("testdata/citations/*")
	if err != nil || len(files) != 15 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		r, err := llm.DecodeExchange(name, 200, http.Header{}, body)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if !reflect.DeepEqual(r.Citations, cited[name]) {
			t.Errorf("%s:\n%+v\nwant\n%+v", file, r.Citations, cited[name])
		}
	}
}

// Citations in an unknown form do not break an answer.
func TestBrokenCitations(t *testing.T) {
	for _, broken := range []string{`7`, `"x"`, `{}`, `[]`, `[7,null,"",{"url":7,"start_index":"a"},[1]]`, `{"url_citation":7}`, `[{"url_citation":{"url":"u","start_index":-1,"end_index":99}}]`, `null`} {
		for _, body := range []string{
			`{"choices":[{"message":{"content":"hi","annotations":X},"finish_reason":"stop"}],"citations":X,"search_results":X}`,
			`{"type":"message","content":[{"type":"text","text":"hi","citations":X}],"stop_reason":"end_turn"}`,
			`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP","groundingMetadata":X,"citationMetadata":X,"urlContextMetadata":X}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP","groundingMetadata":{"groundingChunks":X,"groundingSupports":X}}]}`,
			`{"id":"c","message":{"content":[{"type":"text","text":"hi"}],"citations":X},"finish_reason":"COMPLETE"}`,
			`{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":X}]}]}`,
			`{"output":{"message":{"content":[{"citationsContent":{"content":[{"text":"hi"}],"citations":X}}]}},"stopReason":"end_turn"}`,
		} {
			r, err := llm.DecodeExchange("x", 200, http.Header{}, []byte(strings.ReplaceAll(body, "X", broken)))
			if err != nil || r.Text() != "hi" {
				t.Errorf("%s in %s: %v", broken, body, err)
			}
		}
	}
}
