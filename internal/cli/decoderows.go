package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

const (
	// maxRow bounds the memory for one row, in bytes.
	maxRow = 256 << 20
	// maxSchemas bounds the types that are kept for later rows.
	maxSchemas = 1000
)

// rowSchema sets how the schemas of answers are read: integers keep their digits, constraints become conditions as in
// scripts, and what a type cannot express is not checked.
var rowSchema = jsonschema.Options{Lenient: true, KeepInts: true, Check: predicate.CheckOf}

// rowDecoder answers rows, one after the other.
type rowDecoder struct {
	typ   *generable.Type // for rows without a schema
	how   generable.Options
	types map[string]schemaType // by the schema's text
}

type schemaType struct {
	typ  *generable.Type
	errs generable.FieldErrors
}

// decodeRows reads rows and writes the answer to each before it reads the next.
func decodeRows(c *term.Console, in io.Reader, name string, t *generable.Type, how generable.Options) error {
	r := bufio.NewReaderSize(in, 1<<16)
	w := bufio.NewWriterSize(c.Stdout, 1<<16)
	d := &rowDecoder{typ: t, how: how, types: make(map[string]schemaType)}
	var line, out []byte
	for n := 1; ; n++ {
		var tooLong bool
		var err error
		line, tooLong, err = readRow(r, line[:0])
		if err != nil && err != io.EOF {
			if ferr := w.Flush(); ferr != nil {
				return c.Unwritten(ferr)
			}
			return term.Usagef("", "%s: %s", name, term.FileProblem(err))
		}
		last := err == io.EOF
		switch {
		case tooLong:
			out = appendAnswer(out[:0], noID, nil, refusal("", "a row of at most "+strconv.Itoa(maxRow>>20)+" MiB", "a longer one", ""))
		case len(bytes.Trim(line, " \t\r")) > 0:
			row := line
			if n == 1 {
				row = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			out = d.answer(out[:0], row, n)
		default:
			out = out[:0]
		}
		if _, err := w.Write(out); err != nil {
			return c.Unwritten(err)
		}
		if last || r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return c.Unwritten(err)
			}
		}
		if last {
			return nil
		}
		if cap(line) > 1<<22 { // do not keep the buffer of a large row
			line, out = nil, nil
		}
	}
}

// readRow appends the next line to buf, without its end. It reads a line that is too long to its end, but does not keep
// it.
func readRow(r *bufio.Reader, buf []byte) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if n := len(part); n > 0 && part[n-1] == '\n' {
			part = part[:n-1]
		}
		if len(buf)+len(part) > maxRow {
			buf, tooLong = buf[:0], true
		}
		if !tooLong {
			buf = append(buf, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, tooLong, err
		}
	}
}

// answer appends the answer to the row on a line. A failure inside is an answer too, since it must not affect the rows
// after it.
func (d *rowDecoder) answer(b, row []byte, line int) (out []byte) {
	id := noID
	start := len(b)
	defer func() {
		if p := recover(); p != nil {
			out = appendAnswer(b[:start], id, nil, refusal("", "a row that can be decoded", fmt.Sprint("a panic: ", p), "this is a defect of agentscript"))
		}
	}()
	text := string(row)
	var members map[string]json.RawMessage
	if at, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(row, &members)); ok {
		id = brokenID(text)
		return appendAnswer(b, id, nil, noRow(text, line, at))
	}
	if text = strings.Trim(text, " \t\r"); members == nil {
		e := &generable.FieldError{Expected: "a row that is an object", Got: shown(text), Line: line, Col: 1}
		return appendAnswer(b, id, nil, lenient.Result{Errors: generable.FieldErrors{e}})
	}
	id = idOf(members)
	r := lenient.Decode(nil, text, generable.Options{Level: generable.Strict})
	m, isMap := r.Value.AsMap()
	if !r.OK || !isMap { // nested too deeply, numbers too long
		for _, e := range r.Errors {
			e.Line = line
		}
		return appendAnswer(b, id, nil, lenient.Result{Errors: r.Errors})
	}
	t, how, bad := d.read(m)
	if bad != nil {
		return appendAnswer(b, id, nil, lenient.Result{Errors: bad})
	}
	input, has := m.Get("input")
	answer, ok := input.AsStr()
	if !ok {
		got := input.TypeName()
		if !has {
			got = "nothing"
		}
		return appendAnswer(b, id, nil, refusal(".input", "str", got, "it is the text of the answer"))
	}
	return appendAnswer(b, id, t, lenient.Decode(t, answer, how))
}

// read returns the type of a row's answer and how to read it.
func (d *rowDecoder) read(row *generable.Map) (*generable.Type, generable.Options, generable.FieldErrors) {
	t, how := d.typ, d.how
	if schema, _ := row.Get("schema"); !schema.IsNull() {
		s := d.schema(schema)
		if s.errs != nil {
			return nil, how, s.errs
		}
		t = s.typ
	}
	for _, option := range []string{"level", "pick", "on_bad_item", "extra_keys"} {
		v, _ := row.Get(option)
		if v.IsNull() {
			continue
		}
		word, ok := v.AsStr()
		if !ok {
			word = generable.JSON(v, nil)
		}
		if err := how.Set(option, word); err != nil {
			e, _ := errors.AsType[*generable.FieldError](err)
			return nil, how, generable.FieldErrors{e}
		}
	}
	for i, to := range []*int{&how.MaxCost, &how.MaxDepth} {
		option := []string{"max_cost", "max_depth"}[i]
		v, _ := row.Get(option)
		if v.IsNull() {
			continue
		}
		n, ok := v.AsInt()
		if !ok || n < 1 || n > 1<<30 {
			return nil, how, refusal("."+option, "a whole number of at least 1", generable.JSON(v, nil), "").Errors
		}
		*to = int(n)
	}
	if v, _ := row.Get("partial"); !v.IsNull() {
		on, ok := v.AsBool()
		if !ok {
			return nil, how, refusal(".partial", "bool", v.TypeName(), "").Errors
		}
		how.Partial = on
	}
	return t, how, nil
}

// schema returns the type of a schema: an object, or its text.
func (d *rowDecoder) schema(v generable.Value) schemaType {
	key := generable.JSON(v, nil)
	if s, ok := d.types[key]; ok {
		return s
	}
	var s schemaType
	if text, ok := v.AsStr(); ok {
		s.typ, _, s.errs = jsonschema.Parse(text, rowSchema)
	} else {
		s.typ, _, s.errs = jsonschema.Import(v, rowSchema)
	}
	for _, e := range s.errs {
		e.Path = ".schema" + e.Path
	}
	if len(d.types) >= maxSchemas {
		clear(d.types)
	}
	d.types[key] = s
	return s
}

// refusal returns the result for an answer that was not read at all.
func refusal(path, want, got, hint string) lenient.Result {
	return lenient.Result{Errors: generable.FieldErrors{{Path: path, Expected: want, Got: got, Hint: hint, Offset: -1}}}
}

// appendAnswer appends the answer to a row, on one line. id is the text of its id.
func appendAnswer(b []byte, id string, t *generable.Type, r lenient.Result) []byte {
	b = append(append(b, `{"id":`...), id...)
	b = strconv.AppendBool(append(b, `,"ok":`...), r.OK)
	b = append(b, `,"value":`...)
	if r.OK {
		b = generable.AppendJSON(b, r.Value, t)
	} else {
		b = append(b, "null"...)
	}
	return append(appendOutcome(append(b, ','), r), "}\n"...)
}

// appendOutcome appends errors, repairs and cost as members of an object.
func appendOutcome(b []byte, r lenient.Result) []byte {
	str := func(key, s string) {
		b = text.AppendQuoted(append(append(append(b, ",\""...), key...), "\":"...), s)
	}
	num := func(key string, n int) {
		b = strconv.AppendInt(append(append(append(b, ",\""...), key...), "\":"...), int64(n), 10)
	}
	b = append(b, `"errors":[`...)
	for i, e := range r.Errors {
		if i > 0 {
			b = append(b, ',')
		}
		b = text.AppendQuoted(append(b, `{"path":`...), e.Path)
		str("expected", e.Expected)
		str("got", e.Got)
		str("hint", e.Hint)
		num("offset", e.Offset)
		num("line", e.Line)
		num("column", e.Col)
		str("message", e.Error())
		b = append(b, '}')
	}
	b = append(b, `],"repairs":[`...)
	for i, fix := range r.Repairs {
		if i > 0 {
			b = append(b, ',')
		}
		b = text.AppendQuoted(append(b, `{"kind":`...), fix.Kind)
		str("path", fix.Path)
		num("offset", fix.Offset)
		str("before", fix.Before)
		str("after", fix.After)
		num("cost", fix.Cost)
		b = append(b, '}')
	}
	b = append(b, ']')
	num("cost", r.Cost)
	return b
}

const (
	noID    = "null"
	notJSON = "the row is no JSON"
)

// noRow reports what keeps the text of a line from being one JSON value, and where.
func noRow(text string, line int, at *json.SyntaxError) lenient.Result {
	e := &generable.FieldError{Expected: "one JSON value on the line", Got: "none", Offset: len(text), Line: line, Hint: notJSON}
	if int(at.Offset) <= len(text) && at.Offset > 0 {
		rest := text[at.Offset-1:]
		switch msg := at.Error(); {
		case strings.HasSuffix(msg, "end of JSON input"):
			e.Got = "one that ends too soon"
		case strings.HasSuffix(msg, "after top-level value"):
			e.Offset, e.Got = int(at.Offset)-1, "more after it: "+shown(rest)
		default:
			e.Offset, e.Got = int(at.Offset)-1, shown(rest)
		}
	}
	e.Col = utf8.RuneCountInString(text[:e.Offset]) + 1
	return lenient.Result{Errors: generable.FieldErrors{e}}
}

// shown returns the beginning of a text, quoted.
func shown(s string) string {
	const most = 40
	return text.Quote(text.ClipBytes(s, most))
}

// brokenID finds the id of a row that is not valid JSON: the id of the object at its beginning, or the id in what can
// be recovered from it.
func brokenID(text string) string {
	var first map[string]json.RawMessage
	err := json.NewDecoder(strings.NewReader(text)).Decode(&first)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); err == nil || other {
		return idOf(first)
	}
	if row, ok := lenient.Decode(nil, text, generable.Options{}).Value.AsMap(); ok {
		if id, has := row.Get("id"); has {
			return generable.JSON(id, nil)
		}
	}
	return noID
}

// idOf returns the id of a row exactly as written: it must match even if it contains invalid text, or a number in an
// unusual form.
func idOf(row map[string]json.RawMessage) string {
	id, has := row["id"]
	if !has {
		return noID
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(id), "\r", " "), "\ufffd")
}
