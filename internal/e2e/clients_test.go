//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// requests are where the requests that the engine sends are recorded.
const requests = "../../engine/llm/testdata/requests"

// TestMistralRequests has the provider's own client make the recorded requests: a member that it
// does not know, or knows in another form, would be lost, changed or refused.
func TestMistralRequests(t *testing.T) {
	held := againstClient(t, "mistral", "@mistralai/mistralai", func(file string, got, _ map[string]any) bool {
		eachMember(got["messages"], func(m map[string]any) { // what the client adds by itself
			delete(m, "prefix")
			eachMember(m["tool_calls"], func(c map[string]any) { delete(c, "index") })
		})
		return file == "mistral_extra.json" // members of the caller's own
	})
	if held < 21 {
		t.Errorf("only %d requests are held", held)
	}
}

// TestDeepSeekRequests has a client of another project make the recorded requests from the same
// conversation.
func TestDeepSeekRequests(t *testing.T) {
	held := againstClient(t, "deepseek", "@ai-sdk/deepseek", func(file string, got, want map[string]any) bool {
		delete(want, "stream_options") // sent by the method for streams
		if messages, _ := got["messages"].([]any); got["response_format"] != nil && len(messages) > 0 {
			got["messages"] = messages[1:] // the client's own line on JSON
		}
		switch _, scenario, _ := strings.Cut(file, "_"); scenario {
		case "extra.json", // members of the caller's own
			"broken_args.json": // arguments that are no JSON, which that client does not keep
			return true
		case "sampling.json", "temperature.json": // which a model that thinks is sent, and passes over: the client does not send it
			return strings.HasPrefix(file, "deepseek4")
		}
		return false
	})
	if held < 24 {
		t.Errorf("only %d requests are held", held)
	}
}

// againstClient compares the recorded requests to a provider with what a client sends. level
// evens out what is known to differ, and reports whether a file is to be passed over.
func againstClient(t *testing.T, provider, client string, level func(file string, got, want map[string]any) bool) (held int) {
	t.Helper()
	pkg := installed(t, append([]string{"node_modules"}, strings.Split(client, "/")...)...)
	dir := filepath.Dir(filepath.Dir(filepath.Dir(pkg)))
	cmd := exec.Command("node", "testdata/clients.mjs", provider, requests, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var made struct {
			File, Error string
			Body        map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &made); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		data, err := os.ReadFile(filepath.Join(requests, made.File))
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		delete(want, "stream") // added by the method that is called
		delete(made.Body, "stream")
		if level(made.File, made.Body, want) {
			continue
		}
		held++
		if !reflect.DeepEqual(made.Body, want) {
			again, _ := json.Marshal(made.Body) // it was JSON
			t.Errorf("%s: the client sends\n%s%s\nnot\n%s", made.File, again, made.Error, data)
		}
	}
	return held
}

// eachMember calls f with the objects of a list.
func eachMember(list any, f func(map[string]any)) {
	items, _ := list.([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			f(m)
		}
	}
}
