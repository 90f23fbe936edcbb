//go:build e2e

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

// endpoints are the two endpoints of Ollama that the port uses, by provider.
var endpoints = []string{"ollama", "compat"}

// window is the number of tokens that the models here read and write in total.
const window = 2048

// serveOllama runs Ollama with its own models and returns its address.
func serveOllama(t *testing.T, env ...string) string {
	t.Helper()
	bin, home := installed(t, "bin", "ollama"), t.TempDir()
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	cmd := exec.Command(bin, "serve")
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "OLLAMA_MODELS=" + home, "OLLAMA_HOST=" + address, "OLLAMA_NO_CLOUD=1",
		"OLLAMA_NUM_PARALLEL=4", "OLLAMA_KEEP_ALIVE=30m",
	}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it starts a process for each model
	start(t, "http://"+address+"/api/version", cmd)
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // it may have ended already
	return "http://" + address
}

// The template of a model with random weights.
const anyTemplate = `{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}<|assistant|>`

// create makes a model from a file. One thread suffices, and more would wait for each other.
func create(t *testing.T, base, name string, file []byte, template string) {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(file))
	res, err := http.Post(base+"/api/blobs/"+digest, "application/octet-stream", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("the server takes no file: %s %s %v", res.Status, said, err)
	}
	body, err := json.Marshal(map[string]any{
		"model": name, "stream": false, "files": map[string]string{name + ".gguf": digest}, "template": template,
		"parameters": map[string]any{"num_thread": 1, "num_ctx": window},
	})
	if err != nil {
		t.Fatal(err)
	}
	post(t, base+"/api/create", string(body))
}

// randomModel runs Ollama with a model with random weights, named "random".
func randomModel(t *testing.T, env ...string) string {
	t.Helper()
	base := serveOllama(t, env...)
	create(t, base, "random", randomGGUF(1), anyTemplate)
	return base
}

// talker runs Ollama with a model that says what the chains say, named "talker".
func talker(t *testing.T, template string, chains ...[]string) string {
	t.Helper()
	file, err := scriptedGGUF(chains...)
	if err != nil {
		t.Fatal(err)
	}
	base := serveOllama(t)
	create(t, base, "talker", file, template)
	return base
}

// local returns a port to Ollama at base, by its own endpoint and by that of chat completions. It makes four concurrent
// calls, as the server does.
func local(t *testing.T, base string, opts ...llm.Option) *llm.Registry {
	t.Helper()
	slow := llm.Timeouts{Connect: 10 * time.Second, FirstByte: 5 * time.Minute, Idle: 5 * time.Minute}
	return port(t, base, append([]llm.Option{
		llm.WithBaseURL("compat", base+"/v1"), llm.WithTimeouts(slow), llm.WithLimits("", llm.Limits{InFlight: 4}),
	}, opts...)...)
}

// seeded returns a request for a different answer with every seed.
func seeded(seed int) *model.Request {
	req := prompt(fmt.Sprintf("write as JSON, please, number %d", seed))
	most := window / 2
	req.Params = model.Params{Seed: &seed, MaxTokens: &most}
	return req
}

// across calls f with 0 to n-1, four concurrently.
func across(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range 4 {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// bothWays runs f at each endpoint, plain and as a stream.
func bothWays(t *testing.T, model string, f func(t *testing.T, model string, stream bool)) {
	for _, provider := range endpoints {
		for _, stream := range []bool{false, true} {
			name := provider + "/plain"
			if stream {
				name = provider + "/stream"
			}
			t.Run(name, func(t *testing.T) { f(t, provider+"/"+model, stream) })
		}
	}
}

// TestOllamaText checks that the text of a model with random weights arrives completely, from either endpoint, streamed
// or not, and that the same seed returns the same text.
func TestOllamaText(t *testing.T) {
	base := randomModel(t)
	said := map[string]int{}
	bothWays(t, "random", func(t *testing.T, m string, stream bool) {
		r := local(t, base)
		for seed := range 10 {
			out, s := ask(t, r, m, seeded(seed), stream)
			if out.Err != nil && out.Err.Kind == engine.KindBadResponse { // it may have nothing to say
				continue
			}
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			got, u := out.Response.Text(), out.Response.Usage
			if stream && s.text != got {
				t.Errorf("streamed %q of %q", s.text, got)
			}
			if u.Estimated || u.In < 20 || u.Out < 1 || out.Response.Finish != model.FinishStop {
				t.Errorf("%q: %+v, %s", got, u, out.Response.Finish)
			}
			said[got]++
		}
	})
	for text, times := range said {
		if times%len(endpoints) != 0 {
			t.Errorf("%q was said %d times", text, times)
		}
	}
	if len(said) < 5 {
		t.Errorf("ten seeds say %d texts", len(said))
	}
}
