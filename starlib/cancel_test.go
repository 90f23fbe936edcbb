package starlib_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// reached returns a builtin that calls then when a script reaches it.
func reached(then func()) starlib.Builtin {
	return starlib.Builtin{Name: "reached", Doc: "Tells the test.", Returns: "None", Effect: starlib.Pure,
		Func: func(*starlib.Call) (starlark.Value, error) {
			then()
			return starlark.None, nil
		}}
}

// slow is a function of few steps, each of which takes long.
const slow = `
def slow():
    reached()
    for i in range(12000):
        x = sorted(range(50000), reverse = i % 2 == 0)
    return x
`

// TestLoadingIsCancelledAtOnce checks that cancellation does not wait for the next check at an interval of steps.
func TestLoadingIsCancelledAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		main  string
		files []string
		at    string // which file; the line depends on how far the execution got
	}{
		"at the top level":  {slow + "x = slow()\n", nil, "main.star:"},
		"in a loaded file":  {"load(\"lib.star\", \"x\")\ny = x\n", []string{"lib.star", slow + "x = slow()\n"}, "lib.star:"},
		"in a short script": {"reached()\nx = [sorted(range(50000)) for i in range(12000)]\n", nil, "main.star:"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			fsys := fstest.MapFS{"main.star": {Data: []byte(tt.main)}}
			for i := 0; i+1 < len(tt.files); i += 2 {
				fsys[tt.files[i]] = &fstest.MapFile{Data: []byte(tt.files[i+1])}
			}
			_, found := starlib.Load(ctx, starlib.Options{FS: fsys, Entry: "main.star", Builtins: []starlib.Builtin{reached(cancel)},
				OnCancel: func(f func()) func() bool { return context.AfterFunc(ctx, f) }})
			if codes(found) != string(diag.Cancelled) || !strings.HasPrefix(found[0].Span.String(), tt.at) {
				t.Errorf("want %s at %s, got %v", diag.Cancelled, tt.at, found)
			}
		})
	}
}

func TestLoadingEndsByItsDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, found := starlib.Load(ctx, starlib.Options{FS: fstest.MapFS{"main.star": {Data: []byte("n = [0]\nwhile True:\n    n[0] += 1\n")}}, Entry: "main.star", Steps: 1 << 60})
	if codes(found) != string(diag.Timeout) {
		t.Errorf("got %v", found)
	}
}

// TestCallbacksAreCancelledAtOnce checks that the run ends while a callback is in long operations.
func TestCallbacksAreCancelledAtOnce(t *testing.T) {
	for name, src := range map[string]string{
		"main":             slow + "def main():\n    return len(slow())\n",
		"a step":           slow + "step = fn(lambda s: len(slow()), input = str, output = int)\ndef main():\n    return step(\"x\")\n",
		"behind a step":    slow + "step = fn(lambda s: s, input = str, output = str)\ndef main():\n    step(\"x\")\n    return len(slow())\n",
		"inside attempt":   slow + "def main():\n    return attempt(slow).ok\n",
		"in parallel":      slow + "a = fn(lambda s: len(slow()), input = str, output = int)\nb = fn(lambda s: 1, input = str, output = int)\np = a / b\ndef main():\n    return p(\"x\")\n",
		"after many steps": slow + "def main():\n    n = 0\n    for i in range(100000):\n        n += 1\n    return len(slow())\n",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			m, found := loadWith(starlib.Options{Builtins: []starlib.Builtin{reached(cancel)}}, src)
			if len(found) > 0 {
				t.Fatal(render(m, found))
			}
			s := spec(t, m, generable.Value{})
			s.Handler = refuse
			_, err := run.Exec(sched.NewGoSched(ctx), &s)
			var e *engine.Error
			if !errors.As(err, &e) || e.Code != diag.Cancelled || !e.Pos.IsValid() {
				t.Errorf("want %s with a position, got %v", diag.Cancelled, err)
			}
		})
	}
}

// TestLoadingEndsBeforeTheFileRuns checks that the passes over a long file also watch the context.
func TestLoadingEndsBeforeTheFileRuns(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fsys := fstest.MapFS{"main.star": {Data: []byte("load(\"lib.star\", \"a\")\nx = unknown\n")}, "lib.star": {Data: []byte("a = 1\n")}}
	_, found := starlib.Load(ctx, starlib.Options{FS: fsys, Entry: "main.star"})
	if codes(found) != string(diag.Cancelled) || found[0].Span.File != "main.star" {
		t.Errorf("got %v", found)
	}
}
