package llm_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

// An answer that is only a picture is kept, and is not empty.
func TestDrawnAnswers(t *testing.T) {
	png := []model.Image{{URL: "data:image/png;base64,iVBORw0KGgo=", MIME: "image/png"}}
	for name, row := range map[string]struct {
		body string
		want []model.Image
	}{
		"google":           {`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"},"thought":true},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}`, png},
		"google, streamed": {"data: " + `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}}]}` + "\n\ndata: " + `{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}` + "\n\n", png},
		"responses":        {`{"object":"response","status":"completed","output":[{"type":"image_generation_call","id":"ig_1","status":"completed","result":"iVBORw0KGgo=","output_format":"png"}]}`, png},
		"responses, streamed": {"data: " + `{"type":"response.output_item.done","output_index":0,"item":{"type":"image_generation_call","id":"ig_1","status":"completed","result":"iVBORw0KGgo="}}` + "\n\ndata: " +
			`{"type":"response.completed","response":{"object":"response","status":"completed","output":[{"type":"image_generation_call","id":"ig_1","status":"completed","result":"iVBORw0KGgo="}]}}` + "\n\n", png},
		"openrouter":           {`{"choices":[{"message":{"role":"assistant","content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},{"type":"image_url","image_url":{"url":"x"}}]},"finish_reason":"stop"}]}`, []model.Image{{URL: "data:image/png;base64,QUJD"}}},
		"openrouter, streamed": {"data: " + `{"choices":[{"delta":{"role":"assistant","content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", []model.Image{{URL: "data:image/png;base64,QUJD"}}},
	} {
		r, err := llm.DecodeExchange("x", 200, http.Header{}, []byte(row.body))
		if err != nil || !reflect.DeepEqual(r.Pictures(), row.want) || r.Finish != model.FinishStop {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// Spoken output is kept, from documents and streams, and is not empty. Pieces are base64 by themselves, or parts of one
// text that is cut anywhere.
func TestSounds(t *testing.T) {
	for name, row := range map[string]struct {
		body, url, text string
	}{
		"openai":               {`{"choices":[{"message":{"role":"assistant","content":null,"audio":{"id":"audio_1","data":"UklGRiQAAABXQVZF","expires_at":1729018505,"transcript":"Hi there."}},"finish_reason":"stop"}]}`, "data:audio/wav;base64,UklGRiQAAABXQVZF", "Hi there."},
		"openai, sound alone":  {`{"choices":[{"message":{"role":"assistant","content":null,"audio":{"id":"audio_1","data":"SUQzBAA=","expires_at":1729018505,"transcript":""}},"finish_reason":"stop"}]}`, "data:audio/mpeg;base64,SUQzBAA=", ""},
		"openai, streamed":     {"data: " + `{"choices":[{"delta":{"role":"assistant","audio":{"id":"audio_1","transcript":"Hi"}}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"audio":{"data":"AQI="}}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"audio":{"data":"AwQ="}}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"audio":{"expires_at":1729018505}},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", "data:audio/pcm;rate=24000;base64,AQIDBA==", "Hi"},
		"openai, cut anywhere": {"data: " + `{"choices":[{"delta":{"audio":{"data":"AQ"}}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"audio":{"data":"IDBA=="}},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", "data:audio/pcm;rate=24000;base64,AQIDBA==", ""},
		"google":               {`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;codec=pcm;rate=24000","data":"AQIDBA=="}}]},"finishReason":"STOP"}]}`, "data:audio/L16;codec=pcm;rate=24000;base64,AQIDBA==", ""},
		"google, streamed":     {"data: " + `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;rate=24000","data":"AQI="}}]}}]}` + "\n\ndata: " + `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;rate=24000","data":"AwQ="}}]},"finishReason":"STOP"}]}` + "\n\n", "data:audio/L16;rate=24000;base64,AQIDBA==", ""},
		"interactions":         {`{"object":"interaction","status":"completed","steps":[{"type":"model_output","content":[{"type":"audio","mime_type":"audio/wav","data":"UklGRg=="}]}]}`, "data:audio/wav;base64,UklGRg==", ""},
		"interactions, pieces": {"data: " + `{"event_type":"step.start","index":0,"step":{"type":"model_output"}}` + "\n\ndata: " + `{"event_type":"step.delta","index":0,"delta":{"type":"audio","mime_type":"audio/wav","data":"UklG"}}` + "\n\ndata: " + `{"event_type":"step.delta","index":0,"delta":{"type":"audio","mime_type":"audio/wav","data":"Rg=="}}` + "\n\ndata: " + `{"event_type":"interaction.completed","interaction":{"object":"interaction","status":"completed"}}` + "\n\n", "data:audio/wav;base64,UklGRg==", ""},
		"responses, streamed":  {"data: " + `{"type":"response.audio.delta","delta":"AQI="}` + "\n\ndata: " + `{"type":"response.audio.transcript.delta","delta":"Hi "}` + "\n\ndata: " + `{"type":"response.audio.delta","delta":"AwQ="}` + "\n\ndata: " + `{"type":"response.audio.transcript.delta","delta":"you"}` + "\n\ndata: " + `{"type":"response.completed","response":{"object":"response","status":"completed","output":[]}}` + "\n\n", "data:audio/pcm;rate=24000;base64,AQIDBA==", "Hi you"},
	} {
		r, err := llm.DecodeExchange("x", 200, http.Header{}, []byte(row.body))
		if err != nil || r.Finish != model.FinishStop || r.Text() != row.text {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		if got := r.Sounds(); len(got) != 1 || got[0].URL != row.url || !strings.HasPrefix(row.url, "data:"+got[0].MIME+";base64,") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Pictures of interactions are kept, in order with the texts.
func TestPicturesOfInteractions(t *testing.T) {
	body := `{"object":"interaction","status":"completed","steps":[{"type":"model_output","content":[{"type":"text","text":"one"},{"type":"image","mime_type":"image/png","data":"QUJD"},{"type":"text","text":"two"}]}]}`
	r, err := llm.DecodeExchange("google", 200, http.Header{}, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Part{{Kind: model.PartText, Text: "one"}, {Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,QUJD", MIME: "image/png"}}, {Kind: model.PartText, Text: "two"}}
	if !reflect.DeepEqual(r.Parts, want) {
		t.Errorf("%+v", r.Parts)
	}
}

// The format that a request asks for is that of the sound: raw samples may begin like another format.
func TestFormatOfSounds(t *testing.T) {
	s := server(t, llmtest.Reply{Body: `{"choices":[{"message":{"content":null,"audio":{"id":"audio_1","data":"//sAAA==","transcript":""}},"finish_reason":"stop"}]}`, Repeat: true})
	for extra, want := range map[string]string{`{}`: "audio/mpeg", `{"modalities":["text","audio"],"audio":{"voice":"alloy","format":"pcm16"}}`: "audio/pcm;rate=24000"} {
		req := prompt("x")
		req.Params.Extra = json.RawMessage(extra)
		if r := need(t, ask(port(t, s), "openai/gpt-audio", req)); len(r.Sounds()) != 1 || r.Sounds()[0].MIME != want {
			t.Errorf("%s: %+v", extra, r.Sounds())
		}
	}
}
