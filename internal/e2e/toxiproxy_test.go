//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
)

// toxic is a network between the port and the mock that can be disturbed.
type toxic struct{ api, base string }

func toxiproxy(t *testing.T) *toxic {
	t.Helper()
	bin := installed(t, "bin", "toxiproxy-server")
	upstream := mock(t)
	apiPort, proxyPort := freePort(t), freePort(t)
	x := &toxic{fmt.Sprintf("http://127.0.0.1:%d", apiPort), fmt.Sprintf("http://127.0.0.1:%d", proxyPort)}
	start(t, x.api+"/version", exec.Command(bin, "-host", "127.0.0.1", "-port", fmt.Sprint(apiPort)))
	post(t, x.api+"/proxies", fmt.Sprintf(`{"name":"llm","listen":"127.0.0.1:%d","upstream":%q,"enabled":true}`, proxyPort, strings.TrimPrefix(upstream, "http://")))
	return x
}

// with disturbs the network in one way until the returned function restores it.
func (x *toxic) with(t *testing.T, kind, attributes string) {
	t.Helper()
	post(t, x.api+"/proxies/llm/toxics", fmt.Sprintf(`{"name":"x","type":%q,"stream":"downstream","attributes":%s}`, kind, attributes))
}

func (x *toxic) mend(t *testing.T) {
	t.Helper()
	post(t, x.api+"/reset", "")
}

// TestToxiproxy checks that whatever the network does, a call returns the complete answer or an error of the right
// kind, and that the next call works again.
func TestToxiproxy(t *testing.T) {
	x := toxiproxy(t)
	const want = "Hello, Grüße & 日本語 — all of it."
	limits := llm.Timeouts{Connect: 5 * time.Second, FirstByte: 3 * time.Second, Idle: 3 * time.Second}
	for _, row := range []struct {
		name, kind, attributes string
		errors                 []engine.ErrKind // none: it only takes longer
	}{
		{"latency", "latency", `{"latency":200,"jitter":50}`, nil},
		{"small pieces", "slicer", `{"average_size":7,"size_variation":3,"delay":10}`, nil},
		{"slow", "bandwidth", `{"rate":2}`, nil},
		{"reset", "reset_peer", `{"timeout":0}`, []engine.ErrKind{engine.KindNetwork, engine.KindTruncated}},
		{"cut after the headers", "limit_data", `{"bytes":300}`, []engine.ErrKind{engine.KindTruncated, engine.KindNetwork, engine.KindBadResponse}},
		{"cut within the headers", "limit_data", `{"bytes":20}`, []engine.ErrKind{engine.KindNetwork, engine.KindTruncated}},
		{"stall", "timeout", `{"timeout":0}`, []engine.ErrKind{engine.KindTimeout, engine.KindNetwork}},
	} {
		t.Run(row.name, func(t *testing.T) {
			each(t, func(t *testing.T, model string, stream bool) {
				x.with(t, row.kind, row.attributes)
				out, _ := ask(t, port(t, x.base, append(quick(), llm.WithTimeouts(limits))...), model, prompt("say hello"), stream)
				x.mend(t)
				switch {
				case out.Err == nil && out.Response.Text() != want:
					t.Errorf("got %q", out.Response.Text())
				case out.Err == nil && row.errors == nil:
				case out.Err == nil && row.name != "cut after the headers": // a short answer may not reach it
					t.Error("no error")
				case out.Err != nil && !slices.Contains(row.errors, out.Err.Kind):
					t.Errorf("%v (%s)", out.Err, out.Err.Kind)
				}
			})
			out, _ := ask(t, port(t, x.base), speakers[0], prompt("say hello"), true)
			if out.Err != nil {
				t.Errorf("afterwards: %v", out.Err)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		post(t, x.api+"/proxies/llm", `{"enabled":false}`)
		each(t, func(t *testing.T, model string, stream bool) {
			out, _ := ask(t, port(t, x.base, quick()...), model, prompt("say hello"), stream)
			if out.Err == nil || out.Err.Kind != engine.KindNetwork {
				t.Errorf("%v", out.Err)
			}
		})
	})
	// A network that recovers is noticed: the default policy retries.
	t.Run("mended in time", func(t *testing.T) {
		go func() {
			time.Sleep(300 * time.Millisecond)
			if res, err := http.Post(x.api+"/reset", "application/json", nil); err == nil {
				res.Body.Close()
			}
		}()
		out, _ := ask(t, port(t, x.base, llm.WithRetry(llm.RetryPolicy{Attempts: 50, First: 50 * time.Millisecond, Most: 100 * time.Millisecond})), speakers[0], prompt("say hello"), true)
		if out.Err != nil || out.Response.Text() != want {
			t.Errorf("%v after %d attempts", out.Err, out.Attempt)
		}
	})
}
