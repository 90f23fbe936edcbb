package cli

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// screen collects what a process writes; a test takes what is new.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
	seen int
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) news() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.text.String()
	news := all[s.seen:]
	s.seen = len(all)
	return news
}

// watching runs a verb with --watch in a directory with some files. It passes to then a function that changes files,
// and one that returns what the verb wrote since the last call.
func watching(t *testing.T, files map[string]string, args []string, then func(put func(name, text string), news func() string)) {
	t.Helper()
	t.Chdir(t.TempDir())
	replace := func(name, text string) {
		ok(t, os.MkdirAll(filepath.Dir(name), 0o755))
		put(t, name+".new", text)
		ok(t, os.Rename(name+".new", name))
	}
	for name, text := range files {
		replace(name, text)
	}
	inBubble(t, args, func(after func(time.Duration) string) {
		then(replace, func() string { return after(2 * time.Second) })
	})
}

// inBubble runs a verb with --watch in a bubble, and passes to then a function that returns what the verb wrote since
// the last call, after a time of the bubble. In the end the verb is interrupted.
func inBubble(t *testing.T, args []string, then func(after func(time.Duration) string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var out screen
		interrupts := make(chan os.Signal, 1)
		p := &term.Process{
			Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			LookupEnv: func(name string) (string, bool) { return os.Getenv(name), name == "PATH" },
			Signals:   func() (<-chan os.Signal, func()) { return interrupts, func() {} },
			Kill:      func(code int) { t.Errorf("killed with %d", code) },
		}
		ended := make(chan int, 1)
		go func() { ended <- Execute(p) }()
		then(func(d time.Duration) string {
			time.Sleep(d)
			synctest.Wait()
			return out.news()
		})
		interrupts <- os.Interrupt
		if code := <-ended; code != 130 {
			t.Errorf("exit code %d", code)
		}
	})
}

// holds requires words in a text, and the absence of others.
func holds(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if none, not := strings.CutPrefix(w, "!"); strings.Contains(text, strings.TrimPrefix(w, "!")) == not {
			t.Errorf("want %q (not: %t) in:\n%s", none, not, text)
		}
	}
}

// Promise 27.66 (desk): `run --watch` and `check --watch` run again when a file of the bundle changes. Unchanged
// effects are answered from the previous run, and no `once` effect is repeated without a key press.
func TestPromise_27_66_Watching(t *testing.T) {
	t.Run("check", func(t *testing.T) {
		watching(t, map[string]string{
			"flow.star":        "load(\"lib/x.star\", \"x\")\nstyle = file(\"style.md\")\nmain = agent(name = \"a\", prompt = style + x)\n",
			"lib/x.star":       "x = \"X\"\n",
			"style.md":         "Be brief.",
			"other.star":       "y = 1\n",
			"agentscript.toml": "[run]\nretries = 1\n",
		}, []string{"check", "--watch", "flow.star"}, func(put func(name, text string), news func() string) {
			holds(t, news(), "flow.star: ok", "watching 4 files, Ctrl-C ends it")
			put("other.star", "y = 2\n")
			holds(t, "|"+news()+"|", "||")
			put("lib/x.star", "x = nothing\n")
			holds(t, news(), "nothing", "lib/x.star:1:5", "watching", "!ok")
			put("lib/x.star", "x = \"XX\"\n")
			holds(t, news(), "flow.star: ok")
			if err := os.Remove("style.md"); err != nil {
				t.Fatal(err)
			}
			holds(t, news(), "style.md", "!ok")
			put("style.md", "Be very brief.")
			holds(t, news(), "flow.star: ok", "watching 4 files")
			put("agentscript.toml", "[runs]\n")
			holds(t, news(), `there is no table "runs"`, "!ok")
			put("agentscript.toml", "")
			holds(t, news(), "flow.star: ok")
			if err := os.Rename("lib", "gone"); err != nil {
				t.Fatal(err)
			}
			holds(t, news(), "!ok", "watching")
			if err := os.Rename("gone", "lib"); err != nil {
				t.Fatal(err)
			}
			holds(t, news(), "flow.star: ok")
		})
	})
	t.Run("run", func(t *testing.T) {
		flow := func(says, command string) string {
			return "def main(word = str):\n    a = sh.run([\"sh\", \"-c\", \"echo \" + word + \" >> log\"])\n    b = sh.run([\"sh\", \"-c\", \"" + command + "\"])\n    return \"" + says + " \" + b.stdout.strip()\n"
		}
		ran := func(want string) {
			t.Helper()
			text, err := os.ReadFile("log")
			if err != nil || string(text) != want {
				t.Errorf("the log is %q, %v; want %q", text, err, want)
			}
		}
		watching(t, map[string]string{"flow.star": flow("one", "echo b >> log; echo out")}, []string{"run", "--watch", "-q", "flow.star", "--word", "x", "--allow-exec", "sh"}, func(put func(name, text string), news func() string) {
			holds(t, news(), "one out\n", "watching 1 file,")
			ran("x\nb\n")
			put("flow.star", flow("two", "echo b >> log; echo out"))
			holds(t, news(), "two out\n")
			ran("x\nb\n")
			put("flow.star", flow("three", "echo c >> log; echo out"))
			holds(t, news(), "AS746", "must not run twice", "!three")
			ran("x\nb\n")
			put("flow.star", "def main(:\n")
			holds(t, news(), "error", "watching")
			put("flow.star", flow("four", "echo b >> log; echo out"))
			holds(t, news(), "four out\n")
			ran("x\nb\n")
		})
	})
	t.Run("scripted", func(t *testing.T) {
		watching(t, map[string]string{
			"flow.star":     "main = agent(name = \"a\", prompt = \"A.\")\n",
			"answers.jsonl": "{\"agent\": \"a\", \"text\": \"first\"}\n",
		}, []string{"run", "-q", "flow.star", "x", "--scripted", "answers.jsonl", "--watch"}, func(put func(name, text string), news func() string) {
			holds(t, news(), "first\n")
			put("flow.star", "main = agent(name = \"a\", prompt = \"B.\")\n")
			holds(t, news(), "first\n")
			put("answers.jsonl", "{\"agent\": \"a\", \"text\": \"second\"}\n")
			holds(t, news(), "second\n", "!first")
		})
	})
	existing := written(t, "flow.star", "def main():\n    return 1\n")
	for _, args := range [][]string{{"run", "--watch", "none.star"}, {"check", "--watch", "--format", "json", "x.star"}, {"run", "--watch", existing, "--replay", "x"}, {"run", existing, "--session", "x", "--watch"}} {
		if code, _, stderr := inProcess(t, nil, args...); code != 2 {
			t.Errorf("%v: exit code %d\n%s", args, code, stderr)
		}
	}
}

// Promise 27.40 (desk): `--watch` reruns only the tests whose files changed, failed ones first, and survives broken
// files, atomic saves and deleted directories.
func TestPromise_27_40_Watch(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	watching(t, map[string]string{
		"flow.star":            "a = agent(prompt = \"A.\")\n",
		"a_test.star":          "load(\"flow.star\", \"a\")\n\ndef test_a(t):\n    t.reply(\"a\", \"x\")\n    t.eq(a(\"\"), \"x\")\n",
		"sub/b_test.star":      "def test_b(t):\n    t.eq(1, 1)\n",
		"z_test.star":          "def test_z(t):\n    t.eq(1, 2)\n",
		"sub/deep/c_test.star": "def test_c(t):\n    t.eq(1, 1)\n",
	}, []string{"test", "-v", "--watch"}, func(put func(name, text string), news func() string) {
		holds(t, news(), "passed  a_test.star test_a", "passed  sub/b_test.star test_b", "failed  z_test.star test_z", "1 failed, 3 passed\n", "watching 5 files, Ctrl-C ends it")
		holds(t, news()) // nothing changed
		// What a file loads affects only that file, and what failed runs again, first.
		put("flow.star", "a = agent(prompt = \"B.\")\n")
		said := news()
		holds(t, said, "passed  a_test.star test_a", "1 failed, 1 passed, 2 files unchanged")
		if strings.Index(said, "z_test.star test_z") > strings.Index(said, "a_test.star test_a") {
			t.Errorf("what failed is not first:\n%s", said)
		}
		put("z_test.star", "def test_z(t):\n    t.eq(2, 2)\n")
		holds(t, news(), "passed  z_test.star test_z", "1 passed")
		// A broken file does not end the watch, and is run once it is complete.
		put("sub/b_test.star", "def test_b(t)\n")
		holds(t, news(), "error[AS101]", "1 broken file")
		put("sub/b_test.star", "def test_b(t):\n    t.eq(2, 2)\n")
		holds(t, news(), "passed  sub/b_test.star test_b", "1 passed")
		// New files are found, and deleted directories cause no error.
		put("sub/n_test.star", "def test_n(t):\n    pass\n")
		holds(t, news(), "passed  sub/n_test.star test_n", "1 passed")
		if err := os.RemoveAll("sub"); err != nil {
			t.Fatal(err)
		}
		holds(t, news(), "no test depends on what changed")
		put("a_test.star", "load(\"flow.star\", \"a\")\n\ndef test_other(t):\n    t.reply(\"a\", \"y\")\n    t.eq(a(\"\"), \"y\")\n")
		holds(t, news(), "passed  a_test.star test_other", "1 passed")
		put("README.md", "Read me.\n")
		holds(t, news(), "no test depends on what changed", "!passed")
		// Records and snapshots next to it affect it too, even if they are written in place.
		put("a_test.jsonl", "{}\n")
		holds(t, news(), "passed  a_test.star test_other")
		put("a_test.jsonl", "[]\n")
		holds(t, news(), "passed  a_test.star test_other")
		put("a_test.snap", "-- test_gone/1 --\nx\n")
		holds(t, news(), "no test uses the snapshot")
		put("a_test.snap", "-- test_gone/1 --\ny\n")
		holds(t, news(), "no test uses the snapshot")
	})
}
