package llm_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

// recording is the content of one exchange that langchaingo's authors recorded with a real provider, read from the
// record by a program that shares no code with this package.
type recording struct {
	File   string      `json:"file"` // in langchaingo's module
	N      int         `json:"n"`    // index of the exchange in the file
	Status int         `json:"status"`
	Error  bool        `json:"error"`
	Kind   string      `json:"kind"` // of the error, rate_limit if omitted
	Model  string      `json:"model"`
	Runes  int         `json:"runes"`
	SHA    string      `json:"sha"` // of the text, 16 digits
	Finish string      `json:"finish"`
	Usage  [2]int      `json:"usage"`
	Calls  [][3]string `json:"calls"` // id, name, arguments
}

// TestRecordings decodes all exchanges in langchaingo whose dialects this package speaks.
func TestRecordings(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tmc/langchaingo").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Skip("SKIPPED: langchaingo's sources, which hold the recordings, are not on this machine:", err)
	}
	data, err := os.ReadFile("testdata/recordings.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	files := map[string][]exchange{}
	for dec := json.NewDecoder(bytes.NewReader(data)); dec.More(); {
		var want recording
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if files[want.File] == nil {
			files[want.File] = readTrace(t, filepath.Join(dir, want.File))
		}
		t.Run(fmt.Sprintf("%s/%d", strings.TrimSuffix(filepath.Base(want.File), ".httprr"), want.N), func(t *testing.T) {
			checkRecording(t, want, files[want.File][want.N])
		})
		seen++
	}
	if seen < 100 {
		t.Errorf("only %d recordings", seen)
	}
}

func checkRecording(t *testing.T, want recording, x exchange) {
	provider := "openai"
	if strings.HasSuffix(x.path, "/api/chat") {
		provider = "ollama"
	} else if strings.Contains(x.host, "openrouter") {
		provider = "openrouter"
	} else if strings.Contains(x.host, "anthropic") {
		provider = "anthropic"
	} else if strings.Contains(x.host, "googleapis") {
		provider = "google"
	}
	r, err := llm.DecodeExchange(provider, x.status, x.header, x.body)
	if want.Error {
		var e *engine.Error
		kind := engine.KindRateLimit
		if want.Kind != "" {
			kind = engine.ErrKind(want.Kind)
		}
		if !errors.As(err, &e) || e.Model.Status != want.Status || e.Kind != kind || e.Model.Retryable != (kind == engine.KindRateLimit) {
			t.Errorf("error %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	text := r.Text()
	sum := sha256.Sum256([]byte(text))
	if got := hex.EncodeToString(sum[:8]); got != want.SHA || utf8.RuneCountInString(text) != want.Runes {
		t.Errorf("text of %d runes: %q", utf8.RuneCountInString(text), text)
	}
	if r.RawFinish != want.Finish || r.Finish != map[string]model.Finish{"stop": model.FinishStop, "length": model.FinishLength, "tool_calls": model.FinishCalls, "function_call": model.FinishCalls, "end_turn": model.FinishStop, "max_tokens": model.FinishLength, "STOP": model.FinishStop}[want.Finish] &&
		!(len(want.Calls) > 0 && r.Finish == model.FinishCalls) {
		t.Errorf("finish %s (%s), want %s", r.Finish, r.RawFinish, want.Finish)
	}
	if r.Usage.In != want.Usage[0] || r.Usage.Out != want.Usage[1] || r.Usage.Estimated {
		t.Errorf("usage %+v, want %v", r.Usage, want.Usage)
	}
	if r.Model != want.Model {
		t.Errorf("model %q", r.Model)
	}
	if id := x.header.Get("X-Request-Id") + x.header.Get("Request-Id"); id != "" && r.RequestID != id {
		t.Errorf("request id %q, want %q", r.RequestID, id)
	}
	calls := r.Calls()
	if len(calls) != len(want.Calls) {
		t.Fatalf("%d calls, want %d", len(calls), len(want.Calls))
	}
	for i, c := range calls {
		if [3]string{c.ID, c.Name, c.Args} != want.Calls[i] {
			t.Errorf("call %+v, want %v", *c, want.Calls[i])
		}
	}
}

type exchange struct {
	host, path string
	request    []byte
	status     int
	header     http.Header
	body       []byte
}

// readTrace reads a file of recorded exchanges: after the first line, the lengths of request and response and both as
// sent over the wire.
func readTrace(t *testing.T, path string) []exchange {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	var out []exchange
	for len(rest) > 0 {
		line, tail, _ := bytes.Cut(rest, []byte("\n"))
		var a, b int
		if _, err := fmt.Sscanf(string(line), "%d %d", &a, &b); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(tail[:a])))
		if err != nil {
			t.Fatal(err)
		}
		request, err := io.ReadAll(req.Body)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(tail[a:a+b])), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, exchange{req.Host, req.URL.Path, request, res.StatusCode, res.Header, body})
		rest = tail[a+b:]
	}
	return out
}
