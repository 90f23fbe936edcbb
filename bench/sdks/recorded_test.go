package sdks

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
	"google.golang.org/genai/interactions/models/interactions"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

// heldRequests reads the recorded requests into a client's type T and writes them again: a member that T does not know,
// or represents differently, would be lost or changed. same removes from both sides what the client represents
// elsewhere. There must be at least least requests.
func heldRequests[T any](t *testing.T, pattern string, least int, same func(file string, got, want map[string]any)) {
	t.Helper()
	files, err := filepath.Glob("../../engine/llm/testdata/requests/" + pattern)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte("{")) || strings.HasSuffix(file, "_extra.json") {
			continue // an error instead of a request, or members that the caller added
		}
		var params T
		if err := json.Unmarshal(data, &params); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		again, err := json.Marshal(params)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var want, got map[string]any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &got); err != nil {
			t.Fatal(err)
		}
		same(filepath.Base(file), got, want)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the client writes\n%s\nnot\n%s", filepath.Base(file), again, data)
		}
		held++
	}
	if held < least {
		t.Errorf("only %d requests are held", held)
	}
}

// citedFile reads an answer from the tests of citations, and what this module reads from it.
func citedFile(t *testing.T, provider string) ([]byte, []model.Citation) {
	t.Helper()
	data, err := os.ReadFile("../../engine/llm/testdata/citations/" + provider + ".json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := llm.DecodeExchange(provider, 200, http.Header{}, data)
	if err != nil {
		t.Fatal(err)
	}
	return data, r.Citations
}

// TestCitations checks that the clients and this module read the same citations from the same answers: the clients know
// every member that is read, under the name that it has in the answers.
func TestCitations(t *testing.T) {
	for provider, read := range map[string]func([]byte) ([]model.Citation, error){
		"anthropic": anthropicCites, "openai": openAICites, "responses": responsesCites, "google": geminiCites,
	} {
		data, got := citedFile(t, provider)
		want, err := read(data)
		if err != nil || len(want) < 1 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%+v\nthe client reads\n%+v", provider, err, got, want)
		}
	}
}

func anthropicCites(data []byte) (out []model.Citation, err error) {
	var m anthropic.Message
	err = json.Unmarshal(data, &m)
	for _, block := range m.Content {
		for _, c := range block.Citations {
			out = append(out, model.Citation{URL: c.URL, Title: c.DocumentTitle + c.Title, Source: c.FileID + c.Source, Quote: c.CitedText, Text: block.Text})
		}
	}
	return out, err
}

func openAICites(data []byte) (out []model.Citation, err error) {
	var c openai.ChatCompletion
	err = json.Unmarshal(data, &c)
	for _, a := range c.Choices[0].Message.Annotations {
		of := []rune(c.Choices[0].Message.Content)
		page := a.URLCitation
		out = append(out, model.Citation{URL: page.URL, Title: page.Title, Text: string(of[page.StartIndex:page.EndIndex])})
	}
	return out, err
}

func responsesCites(data []byte) (out []model.Citation, err error) {
	var r responses.Response
	err = json.Unmarshal(data, &r)
	for _, item := range r.Output {
		for _, part := range item.Content {
			for _, a := range part.Annotations {
				c := model.Citation{URL: a.URL, Title: a.Title + a.Filename, Source: a.FileID}
				if a.EndIndex > 0 {
					c.Text = string([]rune(part.Text)[a.StartIndex:a.EndIndex])
				}
				out = append(out, c)
			}
		}
	}
	return out, err
}

func geminiCites(data []byte) (out []model.Citation, err error) {
	var r genai.GenerateContentResponse
	err = json.Unmarshal(data, &r)
	g := r.Candidates[0].GroundingMetadata
	cite := func(i int32, text string) {
		c := model.Citation{Text: text}
		if w := g.GroundingChunks[i].Web; w != nil {
			c.URL, c.Title = w.URI, w.Title
		}
		if d := g.GroundingChunks[i].RetrievedContext; d != nil {
			c.URL, c.Title, c.Quote = d.URI, d.Title, d.Text
		}
		out = append(out, c)
	}
	used := map[int32]bool{}
	for _, s := range g.GroundingSupports {
		for _, i := range s.GroundingChunkIndices {
			used[i] = true
			cite(i, s.Segment.Text)
		}
	}
	for i := range g.GroundingChunks {
		if !used[int32(i)] {
			cite(int32(i), "")
		}
	}
	return out, err
}

// TestSounds checks that the clients and this module read the same audio and transcripts from the same answers.
func TestSounds(t *testing.T) {
	const data = "UklGRiQAAABXQVZF"
	for name, row := range map[string]struct {
		body string
		read func([]byte) (mime, data, transcript string, err error)
	}{
		"openai": {
			`{"id":"c","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":null,"audio":{"id":"audio_1","data":"` + data + `","expires_at":1729018505,"transcript":"Good day."}}}]}`,
			func(body []byte) (string, string, string, error) {
				var c openai.ChatCompletion
				err := json.Unmarshal(body, &c)
				aloud := c.Choices[0].Message.Audio
				return "audio/wav", aloud.Data, aloud.Transcript, err // the format is not in the answer but in the request
			},
		},
		"google": {
			`{"candidates":[{"content":{"role":"model","parts":[{"inlineData":{"mimeType":"audio/wav","data":"` + data + `"}}]},"finishReason":"STOP"}]}`,
			func(body []byte) (string, string, string, error) {
				var r genai.GenerateContentResponse
				err := json.Unmarshal(body, &r)
				blob := r.Candidates[0].Content.Parts[0].InlineData
				return blob.MIMEType, base64.StdEncoding.EncodeToString(blob.Data), "", err
			},
		},
		"interactions": {
			`{"object":"interaction","status":"completed","steps":[{"type":"model_output","content":[{"type":"audio","mime_type":"audio/wav","data":"` + data + `"}]}]}`,
			func(body []byte) (string, string, string, error) {
				var top struct {
					Steps []struct {
						Content []interactions.AudioContent `json:"content"`
					} `json:"steps"`
				}
				err := json.Unmarshal(body, &top)
				c := top.Steps[0].Content[0]
				return string(*c.MimeType), *c.Data, "", err
			},
		},
		"responses": {
			"data: " + `{"type":"response.audio.delta","sequence_number":1,"delta":"` + data + `"}` + "\n\ndata: " + `{"type":"response.audio.transcript.delta","sequence_number":2,"delta":"Good day."}` + "\n\ndata: " +
				`{"type":"response.completed","sequence_number":3,"response":{"object":"response","status":"completed","output":[]}}` + "\n\n",
			func(body []byte) (mime, data, transcript string, err error) {
				for line := range strings.Lines(string(body)) {
					var e responses.ResponseStreamEventUnion
					if event, ok := strings.CutPrefix(line, "data: "); ok && err == nil {
						err = json.Unmarshal([]byte(event), &e)
					}
					switch e := e.AsAny().(type) {
					case responses.ResponseAudioDeltaEvent:
						data += e.Delta
					case responses.ResponseAudioTranscriptDeltaEvent:
						transcript += e.Delta
					}
				}
				return "audio/wav", data, transcript, err
			},
		},
	} {
		mime, aloud, transcript, err := row.read([]byte(row.body))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := llm.DecodeExchange(name, 200, http.Header{}, []byte(row.body))
		if err != nil || aloud != data || r.Text() != transcript || !reflect.DeepEqual(r.Sounds(), []model.Audio{{URL: "data:" + mime + ";base64," + aloud, MIME: mime}}) {
			t.Errorf("%s: %+v, %v; the client reads %s of %s and %q", name, r, err, aloud, mime, transcript)
		}
	}
}

// TestErrorBodies checks that the clients can read the error bodies of their providers: they have the provider's
// format.
func TestErrorBodies(t *testing.T) {
	file, err := os.ReadFile("../../engine/llm/testdata/refusals.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for line := range strings.Lines(string(file)) {
		var row struct {
			Provider, Body string
			Status         int
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Provider != "openai" && row.Provider != "anthropic" {
			continue
		}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(row.Status)
			_, _ = w.Write([]byte(row.Body))
		}))
		_, own := llm.DecodeExchange(row.Provider, row.Status, http.Header{}, []byte(row.Body))
		var e *engine.Error
		if !errors.As(own, &e) {
			t.Fatalf("%s: %v", row.Body, own)
		}
		switch row.Provider {
		case "openai":
			client := openai.NewClient(openaioption.WithBaseURL(s.URL+"/v1"), openaioption.WithAPIKey(key), openaioption.WithMaxRetries(0))
			_, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "gpt-5", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("x")}})
			var theirs *openai.Error
			if !errors.As(err, &theirs) || theirs.StatusCode != e.Model.Status || cmp.Or(theirs.Code, theirs.Type) != e.Model.Code || !strings.Contains(e.Message, theirs.Message) {
				t.Errorf("%s: %v; the client reads %v", row.Body, e, err)
			}
		case "anthropic":
			client := anthropic.NewClient(anthropicoption.WithBaseURL(s.URL), anthropicoption.WithAPIKey(key), anthropicoption.WithMaxRetries(0))
			_, err := client.Messages.New(t.Context(), anthropic.MessageNewParams{Model: "claude-sonnet-4-6", MaxTokens: 10, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("x"))}})
			var theirs *anthropic.Error
			if !errors.As(err, &theirs) || theirs.StatusCode != e.Model.Status || string(theirs.Type()) != e.Model.Code {
				t.Errorf("%s: %v; the client reads %v of type %q", row.Body, e, err, theirs.Type())
			}
		}
		s.Close()
		read++
	}
	if read < 40 {
		t.Errorf("only %d bodies", read)
	}
}
