package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// ways are the ways in which the file lib.star gets another text, in a repository whose branch other has it. A touch
// leaves it unchanged.
var ways = map[string]func(t *testing.T){
	"atomic rename": func(t *testing.T) {
		put(t, "lib.star.tmp", other)
		ok(t, os.Rename("lib.star.tmp", "lib.star"))
	},
	"truncated and written": func(t *testing.T) {
		ok(t, os.Truncate("lib.star", 0))
		time.Sleep(100 * time.Millisecond)
		put(t, "lib.star", other)
	},
	"touched": func(t *testing.T) {
		later := time.Now().Add(time.Hour)
		ok(t, os.Chtimes("lib.star", later, later))
	},
	"git checkout": func(t *testing.T) { git(t, "checkout", "-q", "other") },
	"deleted and created": func(t *testing.T) {
		ok(t, os.Remove("lib.star"))
		time.Sleep(100 * time.Millisecond)
		put(t, "lib.star", other)
	},
	"another link": func(t *testing.T) {
		put(t, "v2.star", other)
		ok(t, os.Symlink("v2.star", "new.star"))
		ok(t, os.Rename("new.star", "lib.star"))
	},
}

const one, other = "value = \"one\"\n", "value = \"two\"\n"

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	ok(t, os.WriteFile(name, []byte(text), 0o600))
}

func git(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main", "-c", "core.hooksPath=/dev/null"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// However a file changes, each verb runs again once, within 400 ms of the end of the change, and of the tests those
// that the file affects.
func TestWaysToChangeAFile(t *testing.T) {
	files := map[string]string{
		"flow.star":       "load(\"lib.star\", \"value\")\n\ndef main():\n    return \"value \" + value\n",
		"flow_test.star":  "load(\"flow.star\", \"main\")\n\ndef test_flow(t):\n    t.contains(main(), \"value\")\n",
		"other_test.star": "def test_other(t):\n    pass\n",
	}
	for verb, want := range map[string]struct {
		args        []string
		before, now string // what each run writes
	}{
		"test":  {[]string{"test", "-v", "--watch"}, "passed  flow_test.star test_flow", "passed  flow_test.star test_flow"},
		"run":   {[]string{"run", "-q", "--watch", "flow.star"}, "value one", "value two"},
		"check": {[]string{"check", "--watch", "flow.star"}, "flow.star: ok", "flow.star: ok"},
	} {
		for way, change := range ways {
			t.Run(verb+"/"+way, func(t *testing.T) {
				t.Setenv("XDG_CACHE_HOME", t.TempDir())
				t.Chdir(t.TempDir())
				for name, text := range files {
					put(t, name, text)
				}
				switch way {
				case "git checkout":
					if _, err := exec.LookPath("git"); err != nil {
						t.Skip("git is not installed")
					}
					git(t, "init", "-q")
					put(t, "lib.star", other)
					git(t, "add", ".")
					git(t, "commit", "-q", "-m", "other")
					git(t, "branch", "other")
					put(t, "lib.star", one)
					git(t, "commit", "-q", "-a", "-m", "one")
				case "another link":
					put(t, "v1.star", one)
					if err := os.Symlink("v1.star", "lib.star"); err != nil {
						t.Skip("there are no links here:", err)
					}
				default:
					put(t, "lib.star", one)
				}
				now := want.now
				if way == "touched" {
					now = want.before
				}
				inBubble(t, want.args, func(after func(time.Duration) string) {
					holds(t, after(2*time.Second), want.before)
					change(t)
					said := after(400 * time.Millisecond)
					if strings.Count(said, now) != 1 || strings.Count(said, "watching ") != 1 || strings.Contains(said, "test_other") {
						t.Errorf("it wrote\n%s", said)
					}
					if late := after(2 * time.Second); late != "" {
						t.Errorf("later it wrote\n%s", late)
					}
				})
			})
		}
	}
}

// TestWatchBesideItsOutput checks that what the command writes into the directory of a broken script, its log and its
// traces, does not count as a change, even when the script is fixed.
func TestWatchBesideItsOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "flow_test.star", "def test_a(t):\n    t.eq(1, 1)\n")
	ok(t, os.Mkdir("traces", 0o755))
	log, err := os.Create("log")
	ok(t, err)
	defer log.Close()
	rounds := func() int {
		text, err := os.ReadFile("log")
		ok(t, err)
		return strings.Count(string(text), "\nwatching ") + strings.Count(string(text[:min(9, len(text))]), "watching ")
	}
	synctest.Test(t, func(t *testing.T) {
		interrupts := make(chan os.Signal, 1)
		p := &term.Process{
			Args: []string{"test", "--watch", "--trace-dir", "traces"}, Stdin: strings.NewReader(""), Stdout: log, Stderr: log,
			LookupEnv: func(name string) (string, bool) { return os.Getenv(name), name == "PATH" },
			Signals:   func() (<-chan os.Signal, func()) { return interrupts, func() {} },
			Kill:      func(code int) { t.Errorf("killed with %d", code) },
		}
		ended := make(chan int, 1)
		go func() { ended <- Execute(p) }()
		for i, text := range []string{"", "def test_a(t:\n", "def test_a(t):\n    t.eq(1, 2)\n", "def test_a(t):\n    t.eq(1, 1)\n"} {
			if text != "" {
				put(t, "flow_test.star", text)
			}
			time.Sleep(time.Minute) // in the bubble
			synctest.Wait()
			if n := rounds(); n != i+1 {
				t.Errorf("%d rounds after %d changes", n, i)
			}
		}
		interrupts <- os.Interrupt
		<-ended
	})
}
