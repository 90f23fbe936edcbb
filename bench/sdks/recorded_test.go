package sdks

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
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
