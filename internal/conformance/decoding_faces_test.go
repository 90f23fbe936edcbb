package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/hang"
)

// decodes runs the command on an answer that it reads from stdin.
func decodes(t *testing.T, answer string, args ...string) output {
	t.Helper()
	cmd := hang.Command(t, command(t), append([]string{"decode"}, args...)...)
	cmd.Stdin = strings.NewReader(answer)
	cmd.Env = []string{"NO_COLOR=1"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return output{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

const (
	ticketSchema = `{"title": "Ticket", "type": "object", "properties": {"title": {"type": "string", "maxLength": 20}, "votes": {"type": "integer", "default": 0}}, "required": ["title"]}`
	ticketAnswer = "So:\n```json\n{'title': 'Fire', \"votes\": \"3\",}\n```"
)

// Promise 13.30 (types and decoding): a script, a Go program and the command line read a text with
// the same value, repairs and cost.
func TestPromise_13_30_Faces(t *testing.T) {
	typ, _, errs := jsonschema.Parse(ticketSchema, jsonschema.Options{})
	if errs != nil {
		t.Fatal(errs)
	}
	res := lenient.Decode(typ, ticketAnswer, generable.Options{})
	kinds := []string{}
	for _, r := range res.Repairs {
		kinds = append(kinds, r.Kind+" "+r.Path)
	}
	want, err := json.Marshal([]any{json.RawMessage(generable.JSON(res.Value, typ)), kinds, res.Cost})
	if err != nil {
		t.Fatal(err)
	}
	literal, err := json.Marshal(ticketAnswer)
	if err != nil {
		t.Fatal(err)
	}
	src := fmt.Sprintf(`
T = type_from_json_schema(%q)
def got():
    text = %s
    d = T.decode(text, level = "safe", pick = "best")
    s = T.stream()
    s.feed(text)
    same = [T.from_llm_output(text), s.close().value]
    return [d.value, [r.kind + " " + r.path for r in d.repairs], d.cost] if same == [d.value, d.value] else same
`, ticketSchema, literal)
	computes(t, string(want), src)

	got := decodes(t, ticketAnswer, "--schema", file(t, "ticket.json", ticketSchema), "--report", "json")
	var report struct {
		OK      bool
		Cost    int
		Repairs []struct{ Kind, Path string }
	}
	if err := json.Unmarshal([]byte(got.stderr), &report); err != nil {
		t.Fatal(err, got.stderr)
	}
	told := []string{}
	for _, r := range report.Repairs {
		told = append(told, r.Kind+" "+r.Path)
	}
	if line, err := json.Marshal([]any{json.RawMessage(got.stdout), told, report.Cost}); err != nil || string(line) != string(want) || !report.OK {
		t.Errorf("the command gives %s (%v), want %s", line, err, want)
	}
	prints(t, decodes(t, ticketAnswer, "--schema", file(t, "t.star", "T = schema(\"T\", title = str, votes = field(int, default = 0))\n")+":T"), generable.JSON(res.Value, typ))
}

// Promise 13.31 (types and decoding): `decode` prints only the value on stdout, and repairs and errors on stderr; it
// exits with 0, with 1 if the answer cannot be decoded, and with 2 for wrong usage or an invalid schema.
func TestPromise_13_31_DecodeCommand(t *testing.T) {
	schema := file(t, "ticket.json", ticketSchema)
	got := decodes(t, ticketAnswer, "--schema", schema)
	prints(t, got, `{"title":"Fire","votes":3}`)
	for _, w := range []string{"repaired: fence", "repaired: quotes", "string to number in votes"} {
		if !strings.Contains(got.stderr, w) {
			t.Errorf("stderr lacks %q:\n%s", w, got.stderr)
		}
	}
	prints(t, decodes(t, "[1, 2.50,"), "[1,2.5]")
	prints(t, decodes(t, `{"title": "Fi`, "--schema", schema, "--partial"), `{"title":"Fi"}`)
	prints(t, decodes(t, `{"title": "a"} {"title": "b"}`, "--schema", schema, "--pick", "first"), `{"title":"a","votes":0}`)
	stops(t, decodes(t, `{"votes": "many"}`, "--schema", schema), 1, "title: want str, got nothing", `votes: want int, got "many"`)
	stops(t, decodes(t, ticketAnswer, "--schema", schema, "--level", "strict"), 1, "trailing comma")
	stops(t, decodes(t, ticketAnswer, "--schema", schema, "--max-cost", "1"), 1, "cost")
	stops(t, decodes(t, "no value"), 1, "text without JSON")
	stops(t, decodes(t, "1", "--level", "sfae"), 2, "--level", "did you mean safe?")
	stops(t, decodes(t, "1", "--schema", "nothing.json"), 2, "nothing.json")
	stops(t, decodes(t, "1", "--schema", file(t, "bad.json", `{"type": "strng"}`)), 2, "#/type", "did you mean string?")
	stops(t, decodes(t, "1", "--shema", schema), 2, "did you mean --schema?")
}

// Promise 13.32 (types and decoding): with `--jsonl` each row has its own schema and options and produces one row with
// its id, in order; an invalid row gets an answer and affects no other row, and unknown keys are ignored.
func TestPromise_13_32_Rows(t *testing.T) {
	var in strings.Builder
	var want []string
	schemas := []string{`{"type": "integer", "x-note": 1}`, `{"enum": ["x", "y"]}`, ticketSchema}
	for i := range 99 {
		input := []string{`"7"`, "Y.", ticketAnswer}[i%3]
		value := []string{`7`, `"y"`, `{"title":"Fire","votes":3}`}[i%3]
		text, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&in, "{\"id\": %d, \"input\": %s, \"schema\": %s, \"more\": [1]}\n", i, text, schemas[i%3])
		want = append(want, fmt.Sprintf("%d true %s", i, value))
	}
	in.WriteString(`{"id": "cut", "input": "{\"a\": [1, 2", "partial": true}` + "\n" +
		`{"id": "level", "input": "2.6", "schema": {"type": "integer"}, "level": "loose"}` + "\n" +
		`{"id": "text", "input": "1", "schema": "{\"type\": \"integer\"}"}` + "\n" +
		"no row\n" + `{"id": "none"}` + "\n" + `{"id": "bad", "input": "1", "schema": {"type": "intger"}}` + "\n" + `{"id": "wrong", "input": "x", "schema": {"type": "integer"}}` + "\n" + `{"id": "last", "input": "[]"}` + "\n")
	want = append(want, `"cut" true {"a":[1]}`, `"level" true 3`, `"text" true 1`, "null false null", `"none" false null`, `"bad" false null`, `"wrong" false null`, `"last" true []`)
	got := decodes(t, in.String(), "--jsonl")
	if got.code != 0 {
		t.Errorf("exit %d\n%s", got.code, got.stderr)
	}
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d rows, want %d", len(lines), len(want))
	}
	for i, line := range lines {
		var row struct {
			ID, Value, Repairs json.RawMessage
			OK                 bool
			Cost               *int
			Errors             []struct{ Path, Expected, Got, Message string }
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprintf("%s %t %s", row.ID, row.OK, row.Value); s != want[i] {
			t.Errorf("row %d is %s, want %s", i, s, want[i])
		}
		if row.Cost == nil || row.Repairs == nil || row.OK != (len(row.Errors) == 0) || !row.OK && row.Errors[0].Message == "" {
			t.Errorf("row %d says %s", i, line)
		}
	}
}

// Promise 13.33 (types and decoding): a text without a type is repaired too: it may be any JSON value, and its numbers
// and the order of its keys are kept.
func TestPromise_13_33_WithoutType(t *testing.T) {
	const text = `{z: 1, "a": 12345678901234567890, 'm': [1.50, None]`
	want := `{"z":1,"a":12345678901234567890,"m":[1.5,null]}`
	if res := lenient.Decode(nil, text, generable.Options{}); generable.JSON(res.Value, nil) != want {
		t.Errorf("Go: %s", told(res))
	}
	prints(t, decodes(t, text), want)
	mod := loaded(t, agentscript.New(), "def main(text = str):\n    return any.decode(text).value\n")
	if res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"text": text})).Wait(); err != nil || res.JSON() != want {
		t.Errorf("a script: %v, %v", res.JSON(), err)
	}
}
