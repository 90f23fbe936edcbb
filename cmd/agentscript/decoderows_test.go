package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// answers decodes rows and gives the lines that come out.
func answers(t *testing.T, in io.Reader) []string {
	t.Helper()
	var out bytes.Buffer
	c := &command{state: &state{stdout: &out, stderr: io.Discard}}
	if err := c.decodeRows(in, "stdin", nil, generable.Options{}); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// Whatever the rows are, there is an answer of valid JSON for each line that is not blank.
func FuzzDecodeRows(f *testing.F) {
	f.Add([]byte("{\"id\": 1, \"schema\": {\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"#\"}}}, \"input\": \"{a: {}\"}\n\nx\n"))
	f.Add([]byte(`{"id": [1], "schema": "{\"enum\": [1, \"\"]}", "input": "1", "partial": true, "level": "loose", "max_cost": 1}`))
	f.Add([]byte("{\"input\": \"\xff\"}\r\n{\"input\": 1, \"partial\": 0, \"pick\": null}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		want := 0
		for line := range bytes.SplitSeq(in, []byte{'\n'}) {
			if !blank(line) {
				want++
			}
		}
		got := answers(t, bytes.NewReader(in))
		if want == 0 && got[0] == "" {
			return
		}
		if len(got) != want {
			t.Fatalf("%d answers to %d rows", len(got), want)
		}
		for _, line := range got {
			var a struct {
				OK     *bool
				Errors []json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &a); err != nil || a.OK == nil || (!*a.OK && len(a.Errors) == 0) {
				t.Fatalf("%s: %v", line, err)
			}
		}
	})
}

// An answer comes before the next row is read, and more schemas than are kept change nothing.
func TestDecodeRowsStream(t *testing.T) {
	r, w := io.Pipe()
	back, out := io.Pipe()
	c := &command{state: &state{stdout: out, stderr: io.Discard}}
	done := make(chan error)
	go func() { done <- c.decodeRows(r, "stdin", nil, generable.Options{}) }()
	buf := make([]byte, 1<<12)
	for i := range 2*maxSchemas + 10 {
		fmt.Fprintf(w, `{"id": %d, "schema": {"type": "integer", "minimum": %d}, "input": "%d"}`+"\n", i, i, i)
		n, err := back.Read(buf)
		if want := fmt.Sprintf(`{"id":%d,"ok":true,"value":%d,"errors":[],"repairs":[],"cost":0}`+"\n", i, i); err != nil || string(buf[:n]) != want {
			t.Fatalf("got %s, %v, want %s", buf[:n], err, want)
		}
	}
	w.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
