package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/mcp/serve"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Promise 26.110 (sound): a granted command, and any directory above it, cannot be written, replaced or removed through a
// granted directory; granting both prints a warning about what stays possible.
func TestPromise_26_110_CommandInWritableDirectory(t *testing.T) {
	dir := t.TempDir()
	tool := "#!/bin/sh\necho the tool\n"
	for _, d := range []string{"work/bin/deep", "work/real"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"work/bin/deep/tool", "work/real/tool"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(tool), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"work/hop": "real", "work/linked": filepath.Join(dir, "work", "hop", "tool"), "outside": "work", "work/again": "."} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("there are no symbolic links here:", err)
		}
	}
	words := []string{filepath.Join(dir, "work/bin/deep/tool"), filepath.Join(dir, "work/linked")}
	g, err := grant.New(grant.WorkDir(dir), grant.Exec(words...), grant.FS("work", grant.ReadWrite), grant.FSAs("other", "outside", grant.ReadWrite), grant.Exec("sh"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	mod := loaded(t, agentscript.New(agentscript.WithGrants(g)), `
def main(op = str, path = str, command = str):
    failed = attempt(lambda _: fs.write(path, "#!/bin/sh\\necho hostile\\n") if op == "write" else fs.remove(path), None)
    return [failed.error.code if not failed.ok else "done", sh.run([command]).stdout]
`)
	do := func(op, path string) string {
		t.Helper()
		refused := ""
		for _, word := range words {
			res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"op": op, "path": path, "command": word})).Wait()
			if err != nil {
				t.Fatal(op, path, err)
			}
			var out []string
			if err := json.Unmarshal([]byte(res.JSON()), &out); err != nil || out[1] != "the tool\n" {
				t.Errorf("%s %s: %s, %v", op, path, res.JSON(), err)
			}
			refused = out[0]
		}
		return refused
	}
	for _, path := range []string{"work/bin/deep/tool", "work/bin/deep/TOOL", "work/x/../bin/deep/tool", "work/again/bin/deep/tool", "work/bin/deep", "work/bin", "other/bin/deep/tool",
		"work/hop", "work/hop/tool", "work/linked", "work/real/tool", "work/real", filepath.Join(dir, "work/real/tool")} {
		for _, op := range []string{"write", "remove"} {
			if got := do(op, path); got != "AS761" {
				t.Errorf("%s %s: %s", op, path, got)
			}
		}
	}
	for _, path := range []string{"work/bin/deep/other", "work/tool", "work/bin/tool", "work/real/deep/tool"} {
		for _, op := range []string{"write", "remove"} {
			if got := do(op, path); got != "done" {
				t.Errorf("%s %s: %s", op, path, got)
			}
		}
	}
	warnings := g.Warnings()
	if len(warnings) != 2 || !strings.Contains(warnings[0], strconv.Quote(words[0])) || !strings.Contains(warnings[0], "a granted command that writes there may change it") {
		t.Errorf("warnings: %q", warnings)
	}
	file := filepath.Join(dir, "flow.star")
	if err := os.WriteFile(file, []byte("def main():\n    return 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := runCommand(t, nil, "run", "-q", file, "--allow-exec", words[0], "--allow-fs", filepath.Join(dir, "work")+":rw")
	if out.code != 0 || !strings.Contains(out.stderr, "warning: the command \""+words[0]+"\" is in ") {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	for _, apart := range [][]string{{"--allow-exec", words[0]}, {"--allow-exec", words[0], "--allow-fs", filepath.Join(dir, "work") + ":ro"}, {"--allow-exec", "sh", "--allow-fs", filepath.Join(dir, "work") + ":rw"}} {
		if out := runCommand(t, nil, append([]string{"run", "-q", file}, apart...)...); out.code != 0 || out.stderr != "" {
			t.Errorf("%v: exit code %d\n%s", apart, out.code, out.stderr)
		}
	}
}

// Promise 26.111 (sound): on Linux a command runs in the very directory that was checked, even if a symbolic link is
// swapped in meanwhile.
func TestPromise_26_111_RunDirByDescriptor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a directory has no path but its name")
	}
	dir, g := grants(t, grant.Exec("pwd"), grant.FS(".", grant.ReadOnly))
	outside := t.TempDir()
	for _, name := range []string{"there", "spare"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Symlink(outside, at("link")); err != nil {
		t.Fatal(err)
	}
	mod := loaded(t, agentscript.New(agentscript.WithGrants(g)), `
def main():
    r = attempt(lambda _: sh.run(["pwd"], dir = "there").stdout.strip(), None)
    return r.value if r.ok else r.error.code
`)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // alternately a directory, and a link that leads out
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = errors.Join(os.Rename(at("there"), at("kept")), os.Rename(at("link"), at("there")), os.Rename(at("there"), at("link")), os.Rename(at("kept"), at("there")))
		}
	}()
	ran := 0
	for range 300 {
		res, err := mod.Start(t.Context()).Wait()
		if err != nil {
			t.Fatal(err)
		}
		switch text := res.Text(); {
		case strings.HasPrefix(text, dir): // under whichever name it has at that time
			ran++
		case text != "AS761" && text != "AS759":
			t.Errorf("it ran in %s", text)
		}
	}
	close(stop)
	<-stopped
	if res, err := mod.Start(t.Context()).Wait(); err != nil || res.Text() != at("there") {
		t.Errorf("undisturbed it runs in %s, %v", res.Text(), err)
	}
	t.Logf("%d of 300 ran", ran)
}

// Promise 26.112 (sound): a rule that denies or asks about a path also matches climbing and absolute paths and file://
// addresses, wherever they lead; an address with several @ matches no rule that allows.
func TestPromise_26_112_PathsAndAddresses(t *testing.T) {
	for _, row := range []struct {
		rule, to string
		denied   bool // by a rule that denies
		allowed  bool // by the same rule, if it allows
	}{
		{"books/*", "books/2026", true, true},
		{"books/*", "./books/2026", true, true},
		{"books/*", "../here/books/2026", true, false},
		{"books/*", "x/../../here/books/2026", true, false},
		{"books/*", "/srv/here/books/2026", true, false},
		{"books/*", `C:\here\books\2026`, true, false},
		{"books/*", "file:///srv/here/books/2026", true, false},
		{"books/*", "file://localhost/srv/%62ooks/2026", true, false},
		{"books/*", "pens/2026", false, false},
		{"/srv/*", "../../srv/books", true, false},
		{"/srv/*", "file:///srv/books", true, false},
		{"/srv/*", "/tmp/books", false, false},
		{"*@example.com", "ann@example.com", true, true},
		{"*@example.com", "eve@evil.com@example.com", true, false},
		{"*@example.com", "ann@example.com, eve@evil.com@example.com", true, false},
		{"*@evil.com", "eve@evil.com@example.com", true, false},
	} {
		call := calling("pay", compact(map[string]any{"amount": 1, "to": row.to}))
		for _, verdict := range []struct {
			word string
			made bool
		}{{"deny", !row.denied}, {"allow", row.allowed}} {
			p := policyRun{src: fmt.Sprintf("main = agent(prompt = \"Pay.\", tools = [pay], policy = policy(%s = [%q]))\n", verdict.word, "pay(to=\""+row.rule+"\")"),
				answers: []engine.Outcome{call, said("done")}}.do(t)
			if made := len(p.called) == 1; made != verdict.made || p.err != nil {
				t.Errorf("%s %s: the call with %q was made: %v; %v", verdict.word, row.rule, row.to, made, p.err)
			}
		}
	}
}

// Promise 26.113 (sound): the flag's help, the page on capabilities and the Go documentation say that commands which
// reverse, cut or dump a secret variable hand it to the script, as they do.
func TestPromise_26_113_SecretsBesideCommands(t *testing.T) {
	_, g := grants(t, grant.Exec("sh"), grant.Env("API_TOKEN"), grant.LookupEnv(func(name string) (string, bool) {
		return map[string]string{"API_TOKEN": "canary-of-a-token", "PATH": os.Getenv("PATH")}[name], name == "API_TOKEN" || name == "PATH"
	}))
	mod := loaded(t, agentscript.New(agentscript.WithGrants(g)), `
def main(how = str):
    return sh.run(["sh", "-c", "printf %s $API_TOKEN | " + how]).stdout
`)
	for how, want := range map[string]string{
		"cat":                           "<secret API_TOKEN>",
		"base64":                        "<secret API_TOKEN>",
		"od -An -v -tx1 | tr -d ' \\n'": "<secret API_TOKEN>",
		"rev":                           "nekot-a-fo-yranac",
		"cut -c2-":                      "anary-of-a-token",
	} {
		res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"how": how})).Wait()
		if got := strings.TrimSpace(res.Text()); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s gives %q, %v", how, got, err)
		}
	}
	page, err := os.ReadFile(repository("docs/capabilities.md"))
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(repository("engine/grant/env.go"))
	if err != nil {
		t.Fatal(err)
	}
	help := runCommand(t, nil, "run", "--help").stdout
	for where, text := range map[string]string{"the page": string(page), "the package": string(code)} {
		for _, command := range []string{"rev", "cut", "od"} {
			if !regexp.MustCompile(`(?s)reverses, cuts or dumps it.{0,90}\b` + command + `\b`).MatchString(text) {
				t.Errorf("%s does not say it of %s", where, command)
			}
		}
	}
	if !strings.Contains(help, "reverses, cuts or dumps") {
		t.Errorf("the help of --allow-env does not say it")
	}
}

// Promise 26.120 (sound): over HTTP a client that disconnects, or DELETE of its session, ends its calls and frees their
// slots; a stalled body is cut off.
func TestPromise_26_120_ServedClientsThatGo(t *testing.T) {
	const atOnce = 2
	begun, ended := make(chan struct{}, 16), make(chan struct{}, 16)
	params := schemaOf(t, "wait", generable.Field{Name: "forever", Type: generable.BoolT})
	tools, err := serve.New(serve.Options{Name: "flows", Version: "1", AtOnce: atOnce, Stall: 50 * time.Millisecond}, serve.Offer{Name: "wait", Params: params, Out: generable.StrT,
		Call: func(ctx context.Context, args generable.Value, _ func(string)) (generable.Value, error) {
			if forever, _ := args.AsRecord(); forever.At(0) == generable.BoolOf(true) {
				begun <- struct{}{}
				<-ctx.Done()
				ended <- struct{}{}
			}
			return generable.StrOf("done"), ctx.Err()
		}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(tools.HTTP(""))
	defer s.Close()
	send := func(ctx context.Context, method, session, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, s.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		return http.DefaultClient.Do(r)
	}
	connect := func() string {
		res, err := send(t.Context(), "POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		session := res.Header.Get("Mcp-Session-Id")
		if said, err := send(t.Context(), "POST", session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
			t.Fatal(err)
		} else if err := said.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return session
	}
	call := func(id int, forever bool) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait","arguments":{"forever":%v}}}`, id, forever)
	}
	session := connect()
	for i := range 9 {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			if res, err := send(ctx, "POST", session, call(10+i, true)); err == nil {
				_, _ = io.Copy(io.Discard, res.Body) // until it is closed
				_ = res.Body.Close()
			}
		}()
		<-begun
		if i%3 < 2 {
			leave()
		} else if res, err := send(t.Context(), "DELETE", session, ""); err != nil || res.StatusCode != http.StatusNoContent {
			t.Errorf("DELETE: %v, %v", res, err)
		} else {
			session = connect()
		}
		<-ended
		<-left
		leave()
	}
	for i := range 2 * atOnce { // the slots are free
		res, err := send(t.Context(), "POST", session, call(50+i, false))
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(res.Body)
		if _ = res.Body.Close(); err != nil || !strings.Contains(string(said), "done") {
			t.Errorf("%s, %v", said, err)
		}
	}
	// Bodies that stop, or arrive slowly, are cut off.
	for name, drip := range map[string]bool{"a body that stops": false, "a body that drips": true} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 1000000\r\n\r\n{", s.Listener.Addr())
		stop := make(chan struct{})
		go func() {
			for drip {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
					_, _ = conn.Write([]byte(" ")) // it may be closed
				}
			}
		}()
		answer, err := io.ReadAll(conn) // until the server ends it
		if close(stop); !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") {
			t.Errorf("%s: %q, %v", name, answer, err)
		}
		_ = conn.Close()
	}
}

// Promise 26.122 (sound): invisible characters are escaped in diagnostics, progress and approvals.
func TestPromise_26_122_InvisibleCharacters(t *testing.T) {
	for _, unseen := range []rune{'\u200b', '\u2060', '\ufeff', '\u00ad', '\u115f', '\u3164', '\u202e', '\u2066', '\U000e0041', '\U000e007f', '\U000e0101'} {
		written := fmt.Sprintf(`\u%04x`, unseen)
		if unseen > 0xffff {
			written = fmt.Sprintf(`\U%08x`, unseen)
		}
		name := "one" + string(unseen) + "two"
		dir := t.TempDir()
		file := filepath.Join(dir, "flow"+string(unseen)+".star")
		rows := filepath.Join(dir, "rows.jsonl")
		src := "x = \"" + name + "\" + missing\nhelper = agent(name = \"" + name + "\", prompt = \"P.\")\nmain = helper\n"
		if err := errors.Join(os.WriteFile(file, []byte(src), 0o644), os.WriteFile(rows, []byte(`{"agent": "`+name+`", "text": "fine"}`+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		out := runCommand(t, nil, "check", file)
		if strings.ContainsRune(out.stderr, unseen) || strings.Count(out.stderr, "one"+written+"two") != 1 || !strings.Contains(out.stderr, "flow"+written+".star:1:") {
			t.Errorf("%s in a diagnostic:\n%s", written, out.stderr)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(src, " + missing", "", 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		out = runCommand(t, nil, "run", file, "in", "--scripted", rows)
		if out.code != 0 || strings.ContainsRune(out.stderr, unseen) || !strings.Contains(out.stderr, "one"+written+"two") {
			t.Errorf("%s in progress, exit code %d:\n%s", written, out.code, out.stderr)
		}
		if got := text.Visible(name); got != "one"+written+"two" { // with which approvals show everything that they ask about
			t.Errorf("%s in an approval: %s", written, got)
		}
	}
	// The characters that letters consist of are kept.
	for _, seen := range []string{"👩\u200d💻", "می\u200cخواهم", "❤\ufe0f", "1\ufe0f\u20e3"} {
		if got := text.Terminal(seen); got != seen {
			t.Errorf("%s is written %s", seen, got)
		}
	}
}

// Promise 26.123 (sound): the output of a stopped command is not attributed to the model.
func TestPromise_26_123_OutputOfStoppedCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flow.star")
	if err := os.WriteFile(file, []byte("def main():\n    return sh.run([\"sh\", \"-c\", \"echo half of it; sleep 300\"], timeout = \"1s\").stdout\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := runCommand(t, nil, "run", file, "--allow-exec", "sh")
	if out.code != 7 || !strings.Contains(out.stderr, "it wrote:") || !strings.Contains(out.stderr, "half of it") || strings.Contains(out.stderr, "the model said") {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
}
