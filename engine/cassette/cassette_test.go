package cassette_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
)

// A damaged or forged record is refused when it is read, and a cache with such a row asks again: neither makes a run
// panic or lifts its budgets.
func TestForgedRows(t *testing.T) {
	text, _ := recorded(t, []*engine.Effect{effect("openai/gpt-5", typed("one"))}, nil)
	head, good, _ := strings.Cut(text, "\n")
	for name, change := range map[string][2]string{
		"a call without one": {`"call":{`, `"lost":{`},
		"tokens below 0":     {`"in":5`, `"in":-5`},
		"of the attempts":    {`"in":9`, `"in":-9000000`},
		"of another version": {`{"id"`, `{"v":7,"id"`},
		"no key":             {`"key":"`, `"no":"`},
		"no object":          {good, "[]"},
		"null":               {good, "null"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing is changed in %s", name, good)
		}
		if _, err := cassette.Replay(strings.NewReader(head+"\n"+bad), "calls.jsonl", nil); err == nil || !strings.Contains(err.Error(), "calls.jsonl:2: ") {
			t.Errorf("%s: %v", name, err)
		}
		dir, models := t.TempDir(), &counted{}
		call := func() engine.Outcome {
			c, err := cassette.NewCache(dir, models, nil)
			if err != nil {
				t.Fatal(err)
			}
			return c.Do(t.Context(), effect("openai/gpt-5", typed("one")), nil)
		}
		if out := call(); out.Err != nil {
			t.Fatalf("%s: %v", name, out.Err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v %v", files, err)
		}
		if err := os.WriteFile(files[0], []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := call(); out.Err != nil {
			t.Fatalf("%s: %v", name, out.Err)
		}
		if out := call(); out.Err != nil {
			t.Fatalf("%s: %v", name, out.Err)
		}
		if models.calls != 2 {
			t.Errorf("%s: the model was asked %d times", name, models.calls)
		}
	}
}
