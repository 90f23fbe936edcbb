package sdks

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

// framed encodes a message with Amazon's encoder.
func framed(t *testing.T, kind, name, payload string) []byte {
	t.Helper()
	m := eventstream.Message{Payload: []byte(payload)}
	m.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
	m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	m.Headers.Set(":message-type", eventstream.StringValue(kind))
	m.Headers.Set("n", eventstream.Int32Value(7))
	m.Headers.Set("b", eventstream.BoolValue(true))
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var converseEvents = [][2]string{
	{"messageStart", `{"role":"assistant","p":"abc"}`},
	{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"let me "}}}`},
	{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"see"}}}`},
	{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`},
	{"contentBlockStop", `{"contentBlockIndex":0}`},
	{"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"größer "}}`},
	{"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"日本"}}`},
	{"contentBlockStop", `{"contentBlockIndex":1}`},
	{"contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t1","name":"look"}}}`},
	{"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"a\":"}}}`},
	{"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"[1]}"}}}`},
	{"contentBlockStop", `{"contentBlockIndex":2}`},
	{"messageStop", `{"stopReason":"tool_use"}`},
	{"metadata", `{"usage":{"inputTokens":3,"outputTokens":9,"totalTokens":12},"metrics":{"latencyMs":5}}`},
}

// bedrock returns Amazon's client for a server that answers every request with body.
func bedrock(t *testing.T, body []byte) *bedrockruntime.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: &s.URL, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	})
}

func converse(t *testing.T, body []byte) (read, error) {
	t.Helper()
	out, err := bedrock(t, body).ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m")})
	if err != nil {
		t.Fatal(err)
	}
	stream := out.GetStream()
	defer stream.Close()
	var r read
	for e := range stream.Events() {
		switch e := e.(type) {
		case *types.ConverseStreamOutputMemberContentBlockStart:
			call := e.Value.Start.(*types.ContentBlockStartMemberToolUse).Value
			r.calls = append(r.calls, [3]string{*call.ToolUseId, *call.Name, ""})
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			switch d := e.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				r.text += d.Value
			case *types.ContentBlockDeltaMemberToolUse:
				r.calls[len(r.calls)-1][2] += *d.Value.Input
			case *types.ContentBlockDeltaMemberReasoningContent:
				switch d := d.Value.(type) {
				case *types.ReasoningContentBlockDeltaMemberText:
					r.thoughts += d.Value
				case *types.ReasoningContentBlockDeltaMemberSignature:
					r.signature += d.Value
				}
			}
		case *types.ConverseStreamOutputMemberMessageStop:
			r.finish = string(e.Value.StopReason)
		case *types.ConverseStreamOutputMemberMetadata:
			r.in, r.out = int(*e.Value.Usage.InputTokens), int(*e.Value.Usage.OutputTokens)
		}
	}
	return r, stream.Err()
}

// TestBedrockStream checks that Amazon's client and this module read the same stream alike.
func TestBedrockStream(t *testing.T) {
	var body []byte
	for _, e := range converseEvents {
		body = append(body, framed(t, "event", e[0], e[1])...)
	}
	want, err := converse(t, body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := llm.DecodeExchange("bedrock", 200, nil, body)
	if err != nil {
		t.Fatal(err)
	}
	got := readOf(r)
	for _, p := range r.Parts {
		if p.Kind == model.PartReasoning && p.Opaque != nil {
			got.signature = p.Opaque.Data
		}
	}
	if !reflect.DeepEqual(got, want) || want.text == "" || len(want.calls) == 0 {
		t.Errorf("got %+v\nthe client reads %+v", got, want)
	}
	damaged := bytes.Clone(body)
	damaged[len(damaged)-20] ^= 1
	for name, broken := range map[string][]byte{
		"damaged":      damaged,
		"an exception": append(framed(t, "event", "messageStart", `{"role":"assistant"}`), framed(t, "exception", "throttlingException", `{"message":"slow down"}`)...),
	} {
		_, clientErr := converse(t, broken)
		_, err := llm.DecodeExchange("bedrock", 200, nil, broken)
		var e *engine.Error
		if clientErr == nil || !errors.As(err, &e) {
			t.Errorf("%s: %v, the client says %v", name, err, clientErr)
			continue
		}
		var throttled *types.ThrottlingException
		if errors.As(clientErr, &throttled) != (e.Kind == engine.KindRateLimit) {
			t.Errorf("%s: %v, the client says %v", name, err, clientErr)
		}
	}
	for n := range body { // the client ignores that a stream is cut off
		if r, err := llm.DecodeExchange("bedrock", 200, nil, body[:n]); err == nil && (r.Text() != want.text || len(r.Calls()) != len(want.calls)) {
			t.Fatalf("cut after %d bytes it is %+v", n, r)
		}
	}
}

// TestBedrockChunks checks the events of a model that has its own format: they are wrapped in chunks.
func TestBedrockChunks(t *testing.T) {
	var body []byte
	for _, e := range []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","model":"c","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"yes"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`,
		`{"type":"message_stop"}`,
	} {
		body = append(body, framed(t, "event", "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(e))+`"}`)...)
	}
	out, err := bedrock(t, body).InvokeModelWithResponseStream(t.Context(), &bedrockruntime.InvokeModelWithResponseStreamInput{ModelId: aws.String("m"), Body: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	stream := out.GetStream()
	defer stream.Close()
	var text strings.Builder // the same events as the model's own API would send them
	for e := range stream.Events() {
		text.WriteString("data: " + string(e.(*types.ResponseStreamMemberChunk).Value.Bytes) + "\n\n")
	}
	want, err := llm.DecodeExchange("anthropic", 200, nil, []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	got, err := llm.DecodeExchange("bedrock", 200, nil, body)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) || got.Text() != "yes" || got.Usage.Out != 7 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
