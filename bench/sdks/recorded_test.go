package sdks

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

// heldRequests reads the recorded requests into a client's own type T and writes them again: a member
// that it does not know, or knows in another form, would be lost or changed. same takes out of both what
// the client has in a place of its own. There are at least so many.
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
			continue // an error instead of a request; members of the caller's own
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

// citedFile reads an answer of the tests of citations, with what this module reads of it.
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

// TestCitations has the clients and this module read the citations of the same answers: the clients know every member that
// is read, by the name that the answers have for it.
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
