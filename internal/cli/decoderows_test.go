package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// answers decodes rows and returns the output lines.
func answers(t *testing.T, in io.Reader) []string {
	t.Helper()
	var out bytes.Buffer
	c := &term.Console{Process: &term.Process{Stdout: &out, Stderr: io.Discard}}
	if err := decodeRows(c, in, "stdin", nil, generable.Options{}); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// For any rows, there is an answer of valid JSON for each line that is not blank.
func FuzzDecodeRows(f *testing.F) {
	f.Add([]byte("{\"id\": 1, \"schema\": {\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"#\"}}}, \"input\": \"{a: {}\"}\n\nx\n"))
	f.Add([]byte(`{"id": [1], "schema": "{\"enum\": [1, \"\"]}", "input": "1", "partial": true, "level": "loose", "max_cost": 1}`))
	f.Add([]byte("{\"input\": \"\xff\"}\r\n{\"input\": 1, \"partial\": 0, \"pick\": null}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		want := 0
		var rows [][]byte
		for line := range bytes.SplitSeq(in, []byte{'\n'}) {
			if len(bytes.Trim(line, " \t\r")) > 0 {
				want++
				rows = append(rows, line)
			}
		}
		got := answers(t, bytes.NewReader(in))
		if want == 0 && got[0] == "" {
			return
		}
		if len(got) != want {
			t.Fatalf("%d answers to %d rows", len(got), want)
		}
		for i, line := range got {
			var a struct {
				ID     json.RawMessage
				OK     *bool
				Errors []json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &a); err != nil || a.OK == nil || (!*a.OK && len(a.Errors) == 0) {
				t.Fatalf("%s: %v", line, err)
			}
			row := rows[i]
			if i == 0 {
				row = bytes.TrimPrefix(row, []byte("\ufeff"))
			}
			var members map[string]json.RawMessage
			if err := json.Unmarshal(row, &members); err != nil {
				if *a.OK {
					t.Fatalf("%s answers %s: %v", line, row, err)
				}
				continue
			}
			id := string(members["id"])
			if id == "" {
				id = "null"
			}
			if id = strings.ToValidUTF8(strings.ReplaceAll(id, "\r", " "), "\ufffd"); string(a.ID) != id {
				t.Fatalf("the id %s comes back as %s", id, a.ID)
			}
		}
	})
}

// An answer is written before the next row is read, and more schemas than are kept change nothing.
func TestDecodeRowsStream(t *testing.T) {
	r, w := io.Pipe()
	back, out := io.Pipe()
	c := &term.Console{Process: &term.Process{Stdout: out, Stderr: io.Discard}}
	done := make(chan error)
	go func() { done <- decodeRows(c, r, "stdin", nil, generable.Options{}) }()
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

// A row is one JSON object on its line: anything after it is reported, and its id comes back as it was written.
func TestDecodeRowsAreOneObject(t *testing.T) {
	const plain = `"ok":true,"value":1,"errors":[],"repairs":[],"cost":0}`
	bad := func(want, got string, offset, line, col int) string {
		return fmt.Sprintf(`"expected":%q,"got":%s,"hint":"the row is no JSON","offset":%d,"line":%d,"column":%d,`, want, got, offset, line, col)
	}
	const one = "one JSON value on the line"
	rows := []struct{ row, id, want string }{
		{"\ufeff" + `{"id":1,"input":"1"}`, `1`, plain},
		{`{"id":17,"input":"1"}{"id":18,"input":"2"}`, `17`, bad(one, `"more after it: \"{\\\"id\\\":18,\\\"input\\\":\\\"2\\\"}\""`, 21, 2, 22)},
		{`{"id":"é","input":"1"} trailing`, `"é"`, bad(one, `"more after it: \"trailing\""`, 24, 3, 24)},
		{"```json {\"id\":3,\"input\":\"1\"}```", `3`, "the row is no JSON"},
		{`{"id":4,"input":"1"`, `4`, bad(one, `"one that ends too soon"`, 19, 5, 20)},
		{`é{id:5,input:"1"}`, `5`, bad(one, `"\"é{id:5,input:\\\"1\\\"}\""`, 0, 6, 1)},
		{`[{"id":6,"input":"1"}]`, `null`, `want a row that is an object, got \"[{\\\"id\\\":6`},
		{`"</think>{\"id\":7,\"input\":\"1\"}"`, `null`, `want a row that is an object`},
		{`{"id": "\ud800x" ,"input":"1"}`, `"\ud800x"`, plain},
		{` {"i\u0064":1.50, "x":{"id":2}, "input":"1"} `, `1.50`, plain},
		{"{\"id\":{\r\"a\":[1,{\"id\":\"}\\\"\"}]},\"input\":\"1\"}", `{ "a":[1,{"id":"}\""}]}`, plain},
		{`{"id":1,"input":"1","id":12345678901234567890123}`, `12345678901234567890123`, plain},
		{`{"input":"1"}`, `null`, plain},
		{`{"id":13,"schema":false,"input":"1"}`, `13`, `schema#: want a schema that some value fits`},
		{`{"id":14,"input":"1","a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, `14`, `"line":15,`},
	}
	var in strings.Builder
	for _, r := range rows {
		in.WriteString(r.row + "\n")
	}
	got := answers(t, strings.NewReader(in.String()))
	if len(got) != len(rows) {
		t.Fatalf("%d answers to %d rows", len(got), len(rows))
	}
	for i, r := range rows {
		if !strings.HasPrefix(got[i], `{"id":`+r.id+`,"ok":`) || !strings.Contains(got[i], r.want) || r.want != plain && !strings.Contains(got[i], `"ok":false`) {
			t.Errorf("%.100s: got %s\nwant id %s and %s", r.row, got[i], r.id, r.want)
		}
	}
}

// Schemas are kept for later rows, up to the bound.
func TestSchemasKept(t *testing.T) {
	d := &rowDecoder{types: map[string]schemaType{}}
	for i := range 2*maxSchemas + 10 {
		if s := d.schema(generable.StrOf(fmt.Sprintf(`{"type": "integer", "minimum": %d}`, i))); s.errs != nil {
			t.Fatal(s.errs)
		}
		if len(d.types) > maxSchemas {
			t.Fatalf("%d schemas are kept", len(d.types))
		}
	}
	if len(d.types) != 10 {
		t.Errorf("%d schemas are kept", len(d.types))
	}
}
