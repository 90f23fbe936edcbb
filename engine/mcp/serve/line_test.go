package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/engine/mcp/serve"
	"github.com/agentscript/agentscript/generable"
)

// greeting begins a session with a version of the protocol.
func greeting(version string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
}

// callOf returns a call of the tool name, whose answer is its argument.
func callOf(id string, name string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"name","arguments":{"name":"` + name + `"}}}`
}

// spoken serves a client that sends the content of in, and nothing more. It returns the answers, each described by
// about and sorted, since they arrive in any order.
func spoken(t *testing.T, in io.Reader, linger time.Duration) []string {
	t.Helper()
	s, err := serve.New(serve.Options{Name: "flows", Version: "1", Linger: linger}, offers(make(chan struct{}, 4))...)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Stdio(t.Context(), io.NopCloser(in), nopCloser{&out}); err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(out.String()) {
		told = append(told, about(t, []byte(line)))
	}
	slices.Sort(told)
	return told
}

// about returns the id of an answer and its error's code, or its result's text.
func about(t *testing.T, line []byte) string {
	t.Helper()
	var all []json.RawMessage
	if json.Unmarshal(line, &all) == nil {
		var parts []string
		for _, one := range all {
			parts = append(parts, about(t, one))
		}
		slices.Sort(parts)
		return fmt.Sprint(parts)
	}
	var a struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &a); err != nil || a.Version != "2.0" || a.ID == nil {
		t.Fatalf("no answer: %q, %v", line, err)
	}
	switch {
	case a.Error != nil && a.Error.Message == "":
		t.Errorf("no reason: %s", line)
		fallthrough
	case a.Error != nil:
		return fmt.Sprint(string(a.ID), " ", a.Error.Code)
	case len(a.Result.Content) > 0:
		return fmt.Sprint(string(a.ID), " ", a.Result.Content[0].Text)
	}
	return string(a.ID) + " ok"
}

// Promise 24.60 (MCP): input of a client that is no message is answered with the error that JSON-RPC defines for it,
// and the server continues: nothing in one line prevents the other lines from being answered.
func TestPromise_24_60_GarbageIsAnswered(t *testing.T) {
	const parse, request = "null -32700", "null -32600"
	for name, row := range map[string]struct {
		say  string
		want []string
	}{
		"garbage":             {"hello there", []string{parse}},
		"a NUL":               {"\x00", []string{parse}},
		"NULs about":          {"\x00" + callOf("7", "x") + "\x00", []string{parse}},
		"half a message":      {`{"jsonrpc":"2.0","id":7,"me`, []string{parse}},
		"a message, broken":   {"{\"jsonrpc\":\"2.0\",\"id\":7,\n\"method\":\"ping\"}", []string{parse, parse}},
		"two on a line":       {callOf("7", "x") + callOf("8", "x"), []string{parse}},
		"no UTF-8":            {callOf("7", "\xff\xfe"), []string{parse}},
		"nested for ever":     {strings.Repeat("[", 100_000), []string{parse}},
		"nested deeply":       {`{"jsonrpc":"2.0","id":7,"method":"ping","params":` + strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2001), []string{"7 -32600"}},
		"too large":           {`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 17<<20) + `"}`, []string{request}},
		"large":               {callOf("7", strings.Repeat("x", 1<<20)), []string{"7 " + strings.Repeat("x", 1<<20)}},
		"blank lines":         {"\n  \r\n\t\n", nil},
		"a number":            {"7", []string{request}},
		"a text":              {`"x"`, []string{request}},
		"nothing":             {"null", []string{request}},
		"an empty object":     {"{}", []string{request}},
		"no version":          {`{"id":7,"method":"ping"}`, []string{"7 -32600"}},
		"an old version":      {`{"jsonrpc":"1.0","id":"s","method":"ping"}`, []string{`"s" -32600`}},
		"a method of no name": {`{"jsonrpc":"2.0","id":7,"method":5}`, []string{"7 -32600"}},
		"no method":           {`{"jsonrpc":"2.0","id":7}`, []string{"7 -32600"}},
		"a null id":           {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, []string{request}},
		"a broken id":         {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, []string{request}},
		"an id too large":     {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, []string{request}},
		"an object for id":    {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, []string{request}},
		"an id in use": {strings.Replace(callOf("7", "x"), `"name":"name"`, `"name":"waits"`, 1) + "\n" + callOf("7", "x") + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, []string{"7 context canceled", request}},
		"an unknown method": {`{"jsonrpc":"2.0","id":7,"method":"nonsense"}`, []string{"7 -32601"}},
		"params of a list":  {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}`, []string{"7 -32602"}},
		"an unknown notice": {`{"jsonrpc":"2.0","method":"nonsense"}`, nil},
		"a batch":           {"[" + callOf("7", "x") + "]", []string{request}},
		"an empty batch":    {"[]", []string{request}},
		"an answer":         {`{"jsonrpc":"2.0","id":7,"result":{}}`, nil},
		"an error":          {`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, nil},
		"a broken answer":   {`{"id":{},"error":"x"}`, nil},
		"ids of texts":      {callOf(`"7"`, "x"), []string{`"7" x`}},
		"a carriage return": {callOf("7", "x") + "\r", []string{"7 x"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := append([]string{"1 ok", "9 still"}, row.want...)
			slices.Sort(want)
			got := spoken(t, strings.NewReader(greeting("2025-06-18")+row.say+"\n"+callOf("9", "still")+"\n"), time.Minute)
			if i := slices.Index(got, "7 0"); i >= 0 { // it was cancelled before it began
				got[i] = "7 context canceled"
				slices.Sort(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("answered %.300q, want %.300q", got, want)
			}
		})
	}
}

// Promise 24.61 (MCP): everything that a client wrote before it closed its end is answered, including a last line
// without a line ending. Calls that take longer than the time allowed after that are ended.
func TestPromise_24_61_LastWordsAreAnswered(t *testing.T) {
	var say strings.Builder
	want := []string{"1 ok"}
	say.WriteString(greeting("2025-06-18"))
	for i := 2; i < 2000; i++ {
		fmt.Fprintln(&say, callOf(fmt.Sprint(i), "x"))
		want = append(want, fmt.Sprint(i, " x"))
	}
	slices.Sort(want)
	if got := spoken(t, strings.NewReader(strings.TrimSuffix(say.String(), "\n")), time.Minute); !slices.Equal(got, want) {
		t.Errorf("%d answers, want %d", len(got), len(want))
	}
	if got := spoken(t, strings.NewReader(greeting("2025-06-18")+callOf("2", "x")+"\n"+`{"jsonrpc":"2.0","id":3,"me`), time.Minute); !slices.Equal(got, []string{"1 ok", "2 x", "null -32700"}) {
		t.Errorf("half a last message: %q", got)
	}
	if got := spoken(t, strings.NewReader(""), time.Minute); got != nil {
		t.Errorf("nothing was asked: %q", got)
	}
}

// Batches belong to one version of the protocol, and are answered by one line.
func TestBatches(t *testing.T) {
	notice := `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for say, want := range map[string][]string{
		"[" + callOf("7", "a") + "," + notice + "," + callOf("8", "b") + "]": {"[7 a 8 b]"},
		"[1," + callOf("7", "a") + ",{}]":                                    {"[7 a null -32600 null -32600]"},
		"[" + callOf("7", "a") + "," + callOf("7", "b") + "]":                {"[7 a null -32600]"},
		"[1]":                                   {"[null -32600]"},
		"[" + notice + "]":                      nil,
		"[]":                                    {"null -32600"},
		"[1" + strings.Repeat(",1", 5000) + "]": {"null -32600"},
	} {
		want = append([]string{"1 ok", "9 still"}, want...)
		slices.Sort(want)
		if got := spoken(t, strings.NewReader(greeting("2025-03-26")+say+"\n"+callOf("9", "still")+"\n"), time.Minute); !slices.Equal(got, want) {
			t.Errorf("%.100s: answered %q, want %q", say, got, want)
		}
	}
}

// endless repeats one byte for a given length.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), e.left))
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= int64(n)
	return n, nil
}

// A line of 256 MiB is skipped without being kept.
func TestLongLinesAreNotHeld(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	size := int64(256 << 20)
	if testing.Short() {
		size = 128 << 20
	}
	in := io.MultiReader(strings.NewReader(greeting("2025-06-18")), &endless{size}, strings.NewReader("\n"+callOf("9", "still")+"\n"))
	if got := spoken(t, in, time.Minute); !slices.Equal(got, []string{"1 ok", "9 still", "null -32600"}) {
		t.Errorf("answered %q", got)
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 100 { // as much as one permitted line
		t.Errorf("%d MiB were allocated for it", n)
	}
}

// A client that keeps calling must wait: no more is read than may be kept.
func TestOpenCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s, err := serve.New(serve.Options{Name: "flows"}, serve.Offer{Name: "name", Params: person(), Call: func(ctx context.Context, _ generable.Value, _ func(string)) (generable.Value, error) {
			<-release
			return generable.StrOf("x"), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		in, say := io.Pipe()
		hear, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- s.Stdio(t.Context(), in, out); _ = out.Close() }()
		const calls, held = 1200, 1024
		said := make(chan int, calls)
		go func() {
			_, _ = io.WriteString(say, greeting("2025-06-18")) // fails when the test does
			for i := range calls {
				_, _ = io.WriteString(say, callOf(fmt.Sprint(i+2), "x")+"\n")
				said <- i
			}
			_ = say.Close()
		}()
		for range held {
			<-said
		}
		synctest.Wait()             // if more is read at all, it is read now
		if n := len(said); n > 10 { // lines that are on their way
			t.Errorf("%d calls were read, and none is answered", held+n)
		}
		close(release)
		answers := 0
		for lines := bufio.NewScanner(hear); lines.Scan(); answers++ {
		}
		if err := <-ended; err != nil || answers != calls+1 {
			t.Errorf("%d answers, %v", answers, err)
		}
	})
}

// With a limit of one call, calls run one at a time.
func TestOneCallAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, release := make(chan struct{}, 9), make(chan struct{})
		s, err := serve.New(serve.Options{Name: "flows", AtOnce: 1}, serve.Offer{Name: "name", Params: person(), Call: func(context.Context, generable.Value, func(string)) (generable.Value, error) {
			begun <- struct{}{}
			<-release
			return generable.StrOf("x"), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		in, say := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- s.Stdio(t.Context(), in, nopCloser{io.Discard}) }()
		_, _ = io.WriteString(say, greeting("2025-06-18")+callOf("2", "x")+"\n"+callOf("3", "x")+"\n"+callOf("4", "x")+"\n")
		synctest.Wait()
		if n := len(begun); n != 1 {
			t.Errorf("%d calls at once", n)
		}
		close(release)
		_ = say.Close()
		if err := <-ended; err != nil || len(begun) != 3 {
			t.Errorf("%d calls, %v", len(begun), err)
		}
	})
}

// Whatever a client sends, each line is answered with one line or none, and the next one is read.
func FuzzServedLines(f *testing.F) {
	for _, seed := range []string{"x", "\x00", "{", "[]", callOf("7", "x"), `{"jsonrpc":"2.0","id":7}`, `{"jsonrpc":"2.0","method":5}`, "[" + callOf("7", "x") + "]",
		`{"jsonrpc":"2.0","id":1e3,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":"7","method":"tools/call","params":null}`, `{"id":1,"ID":2,"jsonrpc":"2.0","METHOD":"ping"}`} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, line string, old bool) {
		version := "2025-06-18"
		if old {
			version = "2025-03-26"
		}
		s, err := serve.New(serve.Options{Name: "flows", Linger: 10 * time.Second}, offers(nil)[:3]...)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		say := greeting(version) + line + "\n" + callOf(`"the last"`, "still") + "\n"
		if err := s.Stdio(t.Context(), io.NopCloser(strings.NewReader(say)), nopCloser{&out}); err != nil {
			t.Fatal(err)
		}
		heard, answers := false, 0
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("no JSON: %q", line)
			}
			heard = heard || strings.Contains(line, `"id":"the last"`) && strings.Contains(line, "still")
			if !strings.Contains(line, `"method"`) {
				answers++
			}
		}
		if most := 2 + 1 + strings.Count(line, "\n") + strings.Count(line, "\r"); !heard || answers > most {
			t.Errorf("%q is answered by %q", line, out.String())
		}
	})
}
