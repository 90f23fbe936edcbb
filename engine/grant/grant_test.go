package grant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
)

// granted makes grants and checks that they release everything: when the test ends, the same goroutines run and the
// same files are open as before.
func granted(t *testing.T, options ...grant.Option) *grant.Grants {
	t.Helper()
	files, routines := opened(), runtime.NumGoroutine()
	g, err := grant.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		what := fmt.Sprintf("%d files or fewer are open, and %d goroutines run or fewer", files, routines)
		hang.Until(t, what, func() bool { return opened() <= files && runtime.NumGoroutine() <= routines })
	})
	return g
}

// opened counts the open files of the process, if the system can tell.
func opened() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// touch makes one request; args is JSON, in which {"env": NAME} in a list stands for a secret.
func touch(t *testing.T, ctx context.Context, g engine.Handler, name, args string) engine.Outcome {
	t.Helper()
	op, ok := capability.Lookup(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	var given map[string]any
	if err := json.Unmarshal([]byte(args), &given); err != nil {
		t.Fatal(err)
	}
	m := generable.NewMap(len(given))
	for _, key := range sorted(given) {
		m.Set(key, value(given[key]))
	}
	return g.Do(ctx, &engine.Effect{Kind: op.Kind, Name: op.Name, Req: &capability.Request{Op: op.Name, Args: m}}, nil)
}

func sorted(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func value(v any) generable.Value {
	switch v := v.(type) {
	case string:
		return generable.StrOf(v)
	case float64:
		if v == float64(int64(v)) {
			return generable.IntOf(int64(v))
		}
		f, _ := generable.FloatOf(v)
		return f
	case []any:
		var items []generable.Value
		for _, item := range v {
			items = append(items, value(item))
		}
		return generable.ListOf(items...)
	case map[string]any:
		if name, ok := v["env"].(string); ok && len(v) == 1 {
			return generable.NewRecord(capability.SecretType, []generable.Value{generable.StrOf(name)}).Value()
		}
		m := generable.NewMap(len(v))
		for _, key := range sorted(v) {
			m.Set(key, value(v[key]))
		}
		return m.Value()
	}
	return generable.Value{}
}

// gives checks that an outcome, as JSON, contains a text.
func gives(t *testing.T, out engine.Outcome, want string) {
	t.Helper()
	if out.Err != nil {
		t.Fatalf("failed: %v (%s)", out.Err, out.Err.Help)
	}
	if got := generable.JSON(out.Value, nil); !strings.Contains(got, want) {
		t.Errorf("gave %s\nwant %s", got, want)
	}
}

// fails checks that an outcome is a failure with a code and with words in its message or help.
func fails(t *testing.T, out engine.Outcome, code diag.Code, words string) {
	t.Helper()
	if out.Err == nil {
		t.Fatalf("gave %s", generable.JSON(out.Value, nil))
	}
	if text := out.Err.Message + "\n" + out.Err.Help; out.Err.Code != code || !strings.Contains(text, words) {
		t.Errorf("failed by %s %s: %s\nwant %s with %q", out.Err.Kind, out.Err.Code, text, code, words)
	}
}

func environment(pairs ...string) grant.Option {
	return grant.LookupEnv(func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	})
}

// TestUnusable: a grant that is unusable is reported when it is made.
func TestUnusable(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for words, o := range map[string]grant.Option{
		"there is no such command":            grant.Exec("no-such-command-at-all"),
		"grant the command without arguments": grant.Exec("git log"),
		`"" is no command`:                    grant.Exec(""),
		"name a command that is on the path":  grant.Exec("no-such-command-either"),
		"cannot be granted":                   grant.FS(file+"/none", grant.ReadOnly),
		"it is no directory":                  grant.FS(file, grant.ReadOnly),
		"without scheme and path":             grant.Net("https://example.com"),
		`"a b" is no host`:                    grant.Net("a b"),
		`"example.com:99999" is no host`:      grant.Net("example.com:99999"),
		`"fe80::1%eth0" is no host`:           grant.Net("fe80::1%eth0"),
		":plain or :secret":                   grant.Env("A:b"),
		`"A=B" is no name`:                    grant.Env("A=B"),
		"want at least 1":                     grant.OutputCap(0),
		"the proxy is no address such as":     grant.Proxy("example.com"),
		`"127.1" is no host`:                  grant.Net("127.1"),
		`"*.0x7f" is no host`:                 grant.Net("*.0x7f"),
		`"::ffff:0:0/90" is no host`:          grant.Net("::ffff:0:0/90"),
	} {
		_, err := grant.New(o)
		var e *engine.Error
		if !errors.As(err, &e) || e.Code != diag.BadGrant || !strings.Contains(e.Message+e.Help, words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// TestHosts: an invalid host or port is refused, including the first number that is not a port.
func TestHosts(t *testing.T) {
	for _, given := range []string{"", "*.", ".a.example", "a..example", "*..example", "a.example:0", "a.example:65536", "a.example:", "[::1]:0"} {
		if _, err := grant.New(grant.Net(given)); err == nil || !strings.Contains(err.Error(), "is no host") {
			t.Errorf("%q: %v", given, err)
		}
	}
	g := granted(t, grant.Net("a.example:1", "b.example:65535", "c"), grant.Exec(os.Args[0]))
	for use, want := range map[capability.Use]bool{
		{Kind: engine.EffectHTTP, Target: "a.example:1"}:     true,
		{Kind: engine.EffectHTTP, Target: "a.example:2"}:     false,
		{Kind: engine.EffectHTTP, Target: "b.example:65535"}: true,
		{Kind: engine.EffectHTTP, Target: "c"}:               true,
		{Kind: engine.EffectHTTP}:                            true,
		{Kind: engine.EffectExec, Target: os.Args[0]}:        true,
		{Kind: engine.EffectExec}:                            true,
		{Kind: engine.EffectExec, Target: "cat"}:             false,
	} {
		if got := g.Allows(use); got != want {
			t.Errorf("%+v: %v", use, got)
		}
	}
}

// TestEnv: a granted variable can be read, unless it is a secret.
func TestEnv(t *testing.T) {
	g := granted(t, environment("LANG", "C", "API_TOKEN", "s3cr3t!", "SORT_KEY", "name", "OTHER", "x", "BAD", "\xff"),
		grant.Env("LANG", "API_TOKEN", "SORT_KEY:plain", "NOT_SET", "OTHER:secret", "BAD"))
	ctx := t.Context()
	gives(t, touch(t, ctx, g, "env.get", `{"name": "LANG"}`), `"C"`)
	gives(t, touch(t, ctx, g, "env.get", `{"name": "SORT_KEY"}`), `"name"`)
	gives(t, touch(t, ctx, g, "env.get", `{"name": "NOT_SET"}`), `null`)
	gives(t, touch(t, ctx, g, "env.secret", `{"name": "API_TOKEN"}`), `true`)
	gives(t, touch(t, ctx, g, "env.secret", `{"name": "NOT_SET"}`), `false`)
	fails(t, touch(t, ctx, g, "env.get", `{"name": "API_TOKEN"}`), diag.TouchRefused, `env.secret("API_TOKEN")`)
	fails(t, touch(t, ctx, g, "env.get", `{"name": "OTHER"}`), diag.TouchRefused, "is a secret")
	fails(t, touch(t, ctx, g, "env.get", `{"name": "BAD"}`), diag.TouchFailed, "UTF-8")
	fails(t, touch(t, ctx, g, "env.get", `{"name": "HOME"}`), diag.UngrantedUse, "--allow-env HOME")
}

// TestAllows: uses that are literal in a script are decided as in a run.
func TestAllows(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/notes/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	g := granted(t, grant.WorkDir(dir), grant.FS("notes", grant.ReadOnly), grant.FS("notes/sub", grant.ReadWrite), grant.FSAs("desk", dir, grant.ReadWrite),
		grant.Net("example.com", "api.example.com:8443", "*.example.org", "10.0.0.0/8", "::ffff:172.16.0.0/108", "[::1]:8080", "one.example.com:443"), grant.Env("LANG", "A_KEY"))
	for use, want := range map[capability.Use]bool{
		{Kind: engine.EffectFS, Op: "read", Target: "notes/a.md"}:            true,
		{Kind: engine.EffectFS, Op: "read", Target: "./notes/../notes/a.md"}: true,
		{Kind: engine.EffectFS, Op: "read", Target: "notes/../a.md"}:         false,
		{Kind: engine.EffectFS, Op: "read", Target: "notesX"}:                false,
		{Kind: engine.EffectFS, Op: "write", Target: "notes/a.md"}:           false,
		{Kind: engine.EffectFS, Op: "write", Target: "notes/sub/a.md"}:       true,
		{Kind: engine.EffectFS, Op: "write", Target: "desk/a.md"}:            true,
		{Kind: engine.EffectFS, Op: "list", Target: dir + "/notes"}:          true,
		{Kind: engine.EffectFS, Op: "remove"}:                                true,
		{Kind: engine.EffectExec}:                                            false,
		{Kind: engine.EffectHTTP, Target: "example.com"}:                     true,
		{Kind: engine.EffectHTTP, Target: "example.com:81"}:                  true,
		{Kind: engine.EffectHTTP, Target: "www.example.com"}:                 false,
		{Kind: engine.EffectHTTP, Target: "api.example.com"}:                 false,
		{Kind: engine.EffectHTTP, Target: "api.example.com:8443"}:            true,
		{Kind: engine.EffectHTTP, Target: "a.b.example.org"}:                 true,
		{Kind: engine.EffectHTTP, Target: "example.org"}:                     false,
		{Kind: engine.EffectHTTP, Target: "badexample.org"}:                  false,
		{Kind: engine.EffectHTTP, Target: "10.1.2.3"}:                        true,
		{Kind: engine.EffectHTTP, Target: "172.16.9.9"}:                      true,
		{Kind: engine.EffectHTTP, Target: "172.32.9.9"}:                      false,
		{Kind: engine.EffectHTTP, Target: "11.1.2.3"}:                        false,
		{Kind: engine.EffectHTTP, Target: "[::1]:8080"}:                      true,
		{Kind: engine.EffectHTTP, Target: "[::1]"}:                           false,
		{Kind: engine.EffectHTTP, Target: "one.example.com"}:                 true,
		{Kind: engine.EffectEnv, Op: "get", Target: "LANG"}:                  true,
		{Kind: engine.EffectEnv, Op: "get", Target: "A_KEY"}:                 false,
		{Kind: engine.EffectEnv, Op: "secret", Target: "A_KEY"}:              true,
		{Kind: engine.EffectEnv, Op: "get", Target: "HOME"}:                  false,
	} {
		if got := g.Allows(use); got != want {
			t.Errorf("%+v: %v", use, got)
		}
	}
}

// FuzzNet: any text is either a valid host or an error.
func FuzzNet(f *testing.F) {
	for _, s := range []string{"example.com", "*.x:80", "[::1]:1", "::1", "10.0.0.0/8", "*", ":", "[", "a:b:c", "1.2.3.4:0", "%", "::ffff:10.0.0.0/104", "127.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, given string) {
		g, err := grant.New(grant.Net(given))
		if err != nil {
			return
		}
		defer g.Close()
		g.Allows(capability.Use{Kind: engine.EffectHTTP, Target: given})
	})
}
