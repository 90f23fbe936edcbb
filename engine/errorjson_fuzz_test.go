package engine_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/agentscript/agentscript/engine"
)

// Whatever is read as a recorded error says something, has causes that end, and is written
// again as what it was read from.
func FuzzErrorJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"kind":"tool","code":"AS713","message":"x","usage":{"in":1,"out":2}}`,
		`{"kind":"tool","message":"x","partial":{"a":[1,2.5,"é"]},"pos":{"file":"a","line":1},"trace":[{"name":"f","line":2}]}`,
		`{"cause":{"text":"a","causes":[{"is":"io.EOF"},{"error":{"kind":"auth"}}],"joined":true}}`,
		`{"cause":{"text":"a","causes":[{"text":"b","causes":[{}]}]}}`, `{"cause":{"is":"nothing"}}`, `{"partial":1e999}`, `{"cause":{"error":{"cause":{"error":{}}}}}`, `null`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e engine.Error
		if json.Unmarshal(text, &e) != nil {
			return
		}
		_ = e.Error()
		for err, n := error(&e), 0; err != nil; err, n = errors.Unwrap(err), n+1 {
			if n > len(text) {
				t.Fatal("the causes do not end")
			}
			_ = err.Error()
		}
		errors.Is(&e, engine.ErrTool)
		once, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		var again engine.Error
		if err := json.Unmarshal(once, &again); err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		twice, err := json.Marshal(&again)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%v\n%s\nis written again as\n%s", err, once, twice)
		}
	})
}
