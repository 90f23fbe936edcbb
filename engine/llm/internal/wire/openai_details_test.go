package wire

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/model"
)

// TestReasoningDetails: the pieces of a detail are joined, whatever other members they have, and their text is
// reasoning if the server sends it nowhere else.
func TestReasoningDetails(t *testing.T) {
	for _, row := range []struct{ name, body, reasoning, details string }{
		{
			"streamed",
			`data: {"choices":[{"index":0,"delta":{"reasoning":"Let ","reasoning_details":[{"type":"reasoning.text","text":"Let ","index":0,"format":"a-v1"}]}}]}
data: {"choices":[{"index":0,"delta":{"reasoning":"us","reasoning_details":[{"type":"reasoning.text","text":"us","index":0}]}}]}
data: {"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"sig","index":0,"text":null}]}}]}
data: {"choices":[{"index":0,"delta":{"content":"5","reasoning_details":[{"type":"reasoning.encrypted","data":"xyz","index":1}]},"finish_reason":"stop"}]}
data: [DONE]
`,
			"Let us", `[{"type":"reasoning.text","text":"Let us","index":0,"format":"a-v1","signature":"sig"},{"type":"reasoning.encrypted","data":"xyz","index":1}]`,
		},
		{
			"whole",
			`{"choices":[{"index":0,"message":{"content":"5","reasoning_details":[{"type":"reasoning.summary","summary":"Thought."}]},"finish_reason":"stop"}]}`,
			"Thought.", `[{"type":"reasoning.summary","summary":"Thought."}]`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := planFor("openai")
			body := strings.ReplaceAll(row.body, "\ndata", "\n\ndata")
			r, err := p.Decode(200, http.Header{}, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			part := r.Parts[0]
			if part.Kind != model.PartReasoning || part.Text != row.reasoning || part.Opaque == nil || part.Opaque.Data != row.details {
				t.Errorf("got %+v %+v", part, part.Opaque)
			}
			if r.Text() != "5" {
				t.Errorf("text %q", r.Text())
			}
		})
	}
}

func TestDataURL(t *testing.T) {
	for url, want := range map[string][2]string{
		"data:image/png;base64,AAAA": {"image/png", "AAAA"},
		"data:,a%20b":                {"text/plain", "YSBi"},
		"data:text/html,<b>":         {"text/html", "PGI+"},
	} {
		if mime, data, ok := DataURL(url); !ok || mime != want[0] || data != want[1] {
			t.Errorf("%s: %q %q %v", url, mime, data, ok)
		}
	}
	for _, url := range []string{"", "data:", "https://x/y.png", "data:image/png;base64,?", "data:,%zz"} {
		if _, _, ok := DataURL(url); ok {
			t.Errorf("%q is no data URL", url)
		}
	}
}
