package llm_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

// An answer that is a picture alone is kept, and is not empty.
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
