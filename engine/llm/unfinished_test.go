package llm_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A call whose answer nobody waited for is charged with its input, so that races and time limits do not evade a budget;
// a call that never reached its provider is not charged.
func TestUnfinishedCallsAreCharged(t *testing.T) {
	req := &model.Request{Model: "acme/x", System: "Answer with forty runes and some more of them.", Messages: []model.Message{model.TextMessage(model.RoleUser, "What is it?")}}
	for name, c := range map[string]struct {
		opts []llm.Option
		kind engine.ErrKind
		want int
	}{
		"cancelled": {nil, engine.KindCancelled, 15},
		"too slow": {[]llm.Option{llm.WithTimeouts(llm.Timeouts{FirstByte: 20 * time.Millisecond}), llm.WithTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done() // however long connecting would take
			return nil, r.Context().Err()
		}))}, engine.KindTimeout, 15},
		"not connected": {[]llm.Option{llm.WithTransport(roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
		}))}, engine.KindTimeout, 0},
		"refused": {[]llm.Option{llm.WithTransport(roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		}))}, engine.KindNetwork, 0},
	} {
		t.Run(name, func(t *testing.T) {
			sent := make(chan struct{}, 10)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // so that it notices when the caller disconnects
				sent <- struct{}{}
				<-r.Context().Done()
			}))
			defer server.Close()
			defer server.CloseClientConnections()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "cancelled" {
				go func() {
					<-sent
					cancel()
				}()
			}
			models := llm.New(append([]llm.Option{llm.WithCompatible("acme", server.URL+"/v1", ""), llm.WithRetry(llm.RetryPolicy{Attempts: 1})}, c.opts...)...)
			out := models.Do(ctx, &engine.Effect{Kind: engine.EffectModel, Name: "acme/x", Agent: "a", Run: "run", At: &engine.Frame{}, Req: req}, nil)
			if out.Err == nil || out.Err.Kind != c.kind || out.Usage.In != c.want || out.Usage.Out != 0 || out.Usage.Estimated != (c.want > 0) {
				t.Errorf("%v, used %+v", out.Err, out.Usage)
			}
		})
	}
}
