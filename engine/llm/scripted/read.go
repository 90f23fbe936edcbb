package scripted

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/text"
)

// rowJSON is a row in the form of a file.
type rowJSON struct {
	Row
	Error *errorJSON `json:"error"`
	Usage *usageJSON `json:"usage"`
	Delay seconds    `json:"delay"`
}

type errorJSON struct {
	Kind       engine.ErrKind `json:"kind"`
	Message    string         `json:"message"`
	Status     int            `json:"status"`
	RetryAfter seconds        `json:"retry_after"`
}

type usageJSON struct {
	In  int `json:"in"`
	Out int `json:"out"`
}

// seconds is a duration: a number of seconds, or text such as "250ms".
type seconds time.Duration

func (s *seconds) UnmarshalJSON(data []byte) error {
	var n float64
	if json.Unmarshal(data, &n) == nil {
		*s = seconds(n * float64(time.Second))
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is no duration: write seconds or a text such as \"250ms\"", text)
	}
	*s = seconds(d)
	return nil
}

// rowKeys are the members of a row.
var rowKeys = []string{"agent", "match", "path", "text", "json", "calls", "error", "citations", "finish", "usage", "delay", "repeat"}

// Read reads a scripted model from JSON lines, one [Row] each:
//
//	{"agent": "reviewer", "match": "main.go", "json": {"type": "Approved", "confidence": 0.95}}
//	{"agent": "coder", "calls": [{"name": "compile", "args": {"path": "main.go"}}]}
//	{"agent": "*", "text": "ok", "repeat": true}
//	{"agent": "coder", "error": {"kind": "rate_limit", "status": 429, "retry_after": 2}}
//
// Members are agent ("*" for any), match (a part of the last user message), path (the beginning of the position), one
// of text, json, calls ([{name, args, id}]) and error ({kind, message, status, retry_after}), then citations ([{url,
// title, source, quote, text}]), finish, usage ({in, out}), delay (seconds, or "250ms") and repeat. Empty lines and
// lines that begin with # or // are ignored. The first errors are reported together, each with name and line, and the
// others counted.
func Read(r io.Reader, name string) (*Model, error) {
	var rows []Row
	var problems []error
	var from []byte // the text starting at the first invalid row
	wrong := 0      // its line
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, engine.Errorf(engine.KindConfig, diag.ScriptedModel, "%s: %w", name, err)
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
		}
		if len(problems) > 0 {
			from = append(from, line...)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && !bytes.HasPrefix(line, []byte("//")) {
			row, rowErr := readRow(line)
			row.Line = n
			rows = append(rows, row)
			if rowErr != nil && len(problems) == 0 {
				from, wrong = append(bytes.Clone(line), '\n'), n
			}
			if rowErr != nil {
				problems = append(problems, fmt.Errorf("%s:%d: %w", name, n, rowErr))
			}
		}
		if err != nil {
			break
		}
	}
	if spread := spreadOver(from); spread > 0 {
		return nil, engine.Errorf(engine.KindConfig, diag.ScriptedModel, "%s:%d: a row is one JSON object on one line, and here a value goes over %s", name, wrong, text.Count(spread, "line")).
			WithHelp("write each answer on its own line: jq -c . does that, and jq -c '.[]' for a list of answers")
	}
	if more := len(problems) - maxListed; more > 0 {
		problems = append(problems[:maxListed], fmt.Errorf("and %s like these", text.Count(more, "more row")))
	}
	if len(problems) > 0 {
		return nil, engine.Errorf(engine.KindConfig, diag.ScriptedModel, "%w", errors.Join(problems...)).
			WithHelp("a row looks like {\"agent\": \"reviewer\", \"text\": \"…\"}")
	}
	s := New(rows)
	s.name = name
	return s, nil
}

// spreadOver returns how many lines the JSON value at the beginning of a text covers, 0 if there is none or it is on
// one line.
func spreadOver(from []byte) int {
	if len(from) == 0 {
		return 0
	}
	var value json.RawMessage
	if json.NewDecoder(bytes.NewReader(from)).Decode(&value) != nil {
		return 0
	}
	if n := bytes.Count(value, []byte("\n")); n > 0 {
		return n + 1
	}
	return 0
}

func readRow(line []byte) (Row, error) {
	if n := validUpTo(line); n < len(line) {
		return Row{}, fmt.Errorf("column %d: the row is no UTF-8 text: byte 0x%02x", n+1, line[n])
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return Row{}, fmt.Errorf("column %d: %w", syntax.Offset, err)
		}
		return Row{}, fmt.Errorf("a row is a JSON object")
	}
	if k, unknown := firstUnknown(keys, rowKeys); unknown {
		if near := diag.DidYouMean(k, rowKeys); near != "" {
			return Row{}, fmt.Errorf("a row has no %q: %s", k, near)
		}
		return Row{}, fmt.Errorf("a row has no %q: it has %s", k, strings.Join(rowKeys, ", "))
	}
	if err := unknownInside(keys); err != nil {
		return Row{}, err
	}
	if where := twice(line); where != "" {
		return Row{}, fmt.Errorf("%s appears twice", where)
	}
	var j rowJSON
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields() // inside calls, error and usage
	if err := dec.Decode(&j); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			field := strings.TrimPrefix(wrong.Field, "Row.")
			given := strings.Replace("a "+wrong.Value, "a o", "an o", 1)
			if of, ok := insideKeys[field]; ok {
				return Row{}, fmt.Errorf("%s does not take %s: write %s", field, given, of.shown(keys[field]))
			}
			return Row{}, fmt.Errorf("%s does not take %s", field, given)
		}
		return Row{}, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return j.row(keys)
}

// inside describes the content of a row's member: its own members, other names for them, and an example.
type inside struct {
	keys  []string
	other map[string]string
	form  string
}

// shown returns an example for a member that was written in another form. The text of an error is used as its kind, or
// else as its message.
func (of *inside) shown(given json.RawMessage) string {
	var said string
	if of.form != errorForm || json.Unmarshal(given, &said) != nil {
		return of.form
	}
	kind := engine.KindServer
	if slices.Contains(errorKinds, engine.ErrKind(said)) {
		kind, said = engine.ErrKind(said), "…"
	}
	return fmt.Sprintf(errorForm, kind, said)
}

const errorForm = `{"error": {"kind": %q, "message": %q}}`

var insideKeys = map[string]*inside{
	"calls":     {[]string{"name", "args", "id"}, map[string]string{"arguments": "args", "input": "args", "parameters": "args", "tool": "name", "function": "name"}, `{"calls": [{"name": "lookup", "args": {"id": 1}}]}`},
	"error":     {[]string{"kind", "message", "status", "retry_after"}, map[string]string{"code": "status", "type": "kind", "text": "message"}, errorForm},
	"citations": {[]string{"url", "title", "source", "quote", "text"}, map[string]string{"uri": "url", "link": "url", "snippet": "quote", "cited_text": "quote"}, `{"citations": [{"url": "https://…", "title": "…"}]}`},
	"usage":     {[]string{"in", "out"}, map[string]string{"prompt_tokens": "in", "input_tokens": "in", "input": "in", "completion_tokens": "out", "output_tokens": "out", "output": "out"}, `{"usage": {"in": 100, "out": 20}}`},
}

// unknownInside finds an unknown member of a call, an error, a citation or a usage. Members of another type are left to
// decoding.
func unknownInside(row map[string]json.RawMessage) error {
	for _, of := range []string{"calls", "error", "citations", "usage"} {
		if len(row[of]) == 0 {
			continue
		}
		objects := make([]map[string]json.RawMessage, 1)
		where := func(int) string { return of }
		into := any(&objects[0])
		if of == "calls" || of == "citations" {
			into, where = &objects, func(i int) string { return fmt.Sprintf("%s[%d]", of, i) }
		}
		if json.Unmarshal(row[of], into) != nil {
			continue
		}
		known := insideKeys[of]
		for i, object := range objects {
			if k, unknown := firstUnknown(object, known.keys); unknown {
				help := "it has " + strings.Join(known.keys, ", ")
				if meant := known.other[k]; meant != "" {
					help = fmt.Sprintf("did you mean %q?", meant)
				} else if near := diag.DidYouMean(k, known.keys); near != "" {
					help = near
				}
				return fmt.Errorf("%s has no %q: %s", where(i), k, help)
			}
		}
	}
	return nil
}

// firstUnknown returns the first unknown member in alphabetical order.
func firstUnknown(object map[string]json.RawMessage, known []string) (name string, is bool) {
	for k := range object {
		if !slices.Contains(known, k) && (!is || k < name) {
			name, is = k, true
		}
	}
	return name, is
}

func (j *rowJSON) row(keys map[string]json.RawMessage) (Row, error) {
	row := j.Row
	row.Delay = time.Duration(j.Delay)
	if raw, ok := keys["json"]; ok {
		row.JSON = raw // null is a valid answer
	}
	if _, ok := keys["agent"]; !ok {
		return row, fmt.Errorf("agent is missing: name one, or \"*\" for any")
	}
	if row.Agent == "" {
		return row, fmt.Errorf("agent is empty: name one, or \"*\" for any")
	}
	answers := 0
	for _, k := range []string{"text", "json", "error"} {
		if _, ok := keys[k]; ok {
			answers++
		}
	}
	_, hasCalls := keys["calls"]
	switch {
	case answers == 0 && !hasCalls:
		return row, fmt.Errorf("a row answers with one of text, json, calls and error, and has none")
	case answers > 1, hasCalls && j.Text == nil && answers > 0:
		return row, fmt.Errorf("a row answers with one of text, json, calls and error, and has several")
	case row.Text == nil && keys["text"] != nil:
		return row, fmt.Errorf("text does not take null")
	case j.Error == nil && keys["error"] != nil:
		return row, fmt.Errorf("error does not take null")
	case hasCalls && len(j.Calls) == 0:
		return row, fmt.Errorf("calls is empty")
	case row.Delay < 0:
		return row, fmt.Errorf("delay is negative")
	}
	for i, c := range j.Calls {
		if c.Name == "" {
			return row, fmt.Errorf("calls[%d] has no name", i)
		}
		if len(c.Args) > 0 && c.Args[0] != '{' {
			return row, fmt.Errorf("args of calls[%d] is no object", i)
		}
	}
	if e := j.Error; e != nil {
		if !slices.Contains(errorKinds, e.Kind) {
			names := text.Each(errorKinds, func(k engine.ErrKind) string { return string(k) })
			return row, fmt.Errorf("there is no error kind %q: the kinds are %s", e.Kind, strings.Join(names, ", "))
		}
		row.Error = &Error{e.Kind, e.Message, e.Status, time.Duration(e.RetryAfter)}
	}
	switch j.Finish {
	case "", model.FinishStop, model.FinishLength, model.FinishCalls, model.FinishFilter, model.FinishRefusal, model.FinishUnknown:
	default:
		return row, fmt.Errorf("there is no finish %q: it is stop, length, tool_calls, content_filter, refusal or unknown", j.Finish)
	}
	if u := j.Usage; u != nil {
		row.Usage = &model.Usage{In: u.In, Out: u.Out}
	}
	return row, nil
}

// errorKinds are the failures that a model call can have.
var errorKinds = []engine.ErrKind{
	engine.KindAuth, engine.KindRateLimit, engine.KindQuota, engine.KindContextLength, engine.KindRefused, engine.KindNotFound,
	engine.KindBadRequest, engine.KindUnsupported, engine.KindOverloaded, engine.KindServer, engine.KindNetwork,
	engine.KindTimeout, engine.KindCancelled, engine.KindTruncated, engine.KindBadResponse, engine.KindConfig,
}

// validUpTo returns the offset of the first byte that is not valid UTF-8, len(text) if there is none.
func validUpTo(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// twice returns the first member that occurs twice in a row or in its parts, since decoding would drop one. It does not
// look into answers and arguments of calls: models do write such objects, and a script may imitate them. The row is
// valid JSON.
func twice(row []byte) string {
	dec := json.NewDecoder(bytes.NewReader(row))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	seen := map[string]bool{}
	for dec.More() {
		token, _ := dec.Token()
		key, _ := token.(string)
		var value json.RawMessage
		if seen[key] || dec.Decode(&value) != nil {
			return key
		}
		seen[key] = true
		in := ""
		switch key {
		case "error", "usage":
			in = twice(value)
		case "calls":
			var calls []json.RawMessage
			_ = json.Unmarshal(value, &calls) // anything but a list is left to decoding
			for i := 0; i < len(calls) && in == ""; i++ {
				in = twice(calls[i])
			}
		}
		if in != "" {
			return key + "." + in
		}
	}
	return ""
}
