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

// requests is the directory of the engine's recorded requests.
const requests = "../../engine/llm/testdata/requests"

// TestMistralRequests makes the provider's own client send the recorded requests: a member that it does not know, or
// knows in another form, would be lost, changed or rejected.
func TestMistralRequests(t *testing.T) {
	held := againstClient(t, "mistral", "@mistralai/mistralai", func(file string, got, _ map[string]any) bool {
		eachMember(got["messages"], func(m map[string]any) { // what the client adds itself
			delete(m, "prefix")
			eachMember(m["tool_calls"], func(c map[string]any) { delete(c, "index") })
		})
		return file == "mistral_extra.json" // the caller's own members
	})
	if held < 21 {
		t.Errorf("only %d requests are held", held)
	}
}

// TestDeepSeekRequests makes a third-party client send the recorded requests for the same conversation.
func TestDeepSeekRequests(t *testing.T) {
	held := againstClient(t, "deepseek", "@ai-sdk/deepseek", func(file string, got, want map[string]any) bool {
		delete(want, "stream_options") // sent by the method for streams
		if messages, _ := got["messages"].([]any); got["response_format"] != nil && len(messages) > 0 {
			got["messages"] = messages[1:] // the client's own line about JSON
		}
		switch _, scenario, _ := strings.Cut(file, "_"); scenario {
		case "extra.json", // the caller's own members
			"broken_args.json": // arguments that are not JSON, which that client does not keep
			return true
		case "sampling.json", "temperature.json": // a model that thinks ignores it, and the client does not send it
			return strings.HasPrefix(file, "deepseek4")
		}
		return false
	})
	if held < 24 {
		t.Errorf("only %d requests are held", held)
	}
}

// againstClient compares the recorded requests to a provider with what a client sends. level removes known differences,
// and reports whether to skip a file.
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
