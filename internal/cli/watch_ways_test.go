package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// ways are those in which the file lib.star comes to hold another text, in a repository whose branch other has it; a
// touch leaves it as it is.
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

// In whichever way a file changes, each verb runs again once, within 400 ms of the end of the change, and of the tests
// those that the file concerns.
func TestWaysToChangeAFile(t *testing.T) {
	files := map[string]string{
		"flow.star":       "load(\"lib.star\", \"value\")\n\ndef main():\n    return \"value \" + value\n",
		"flow_test.star":  "load(\"flow.star\", \"main\")\n\ndef test_flow(t):\n    t.contains(main(), \"value\")\n",
		"other_test.star": "def test_other(t):\n    pass\n",
	}
	for verb, want := range map[string]struct {
		args        []string
		before, now string // that each run writes
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
