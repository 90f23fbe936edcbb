//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shells are real shells with their startup files. Each prompts with "% ".
var shells = map[string]struct{ file, startup, command string }{
	"bash": {"rc", "PS1='% '\nsource /usr/share/bash-completion/bash_completion\nsource <(agentscript completion bash)\n", "bash --noprofile --rcfile rc"},
	"zsh":  {".zshrc", "PS1='%% '\nautoload -U compinit; compinit -u -D\nsource <(agentscript completion zsh)\n", "zsh"},
	"fish": {".config/fish/config.fish", "function fish_prompt; echo -n '% '; end\nset -g fish_greeting\nset -g fish_autosuggestion_enabled 0\nagentscript completion fish | source\n", "fish"},
}

// shellHome returns a home directory for an interactive shell. A shell that is told to end still writes its history
// afterwards, and fish reads the manual pages in a process that outlives it unless the directory for its results
// exists. t.TempDir therefore cannot be used: it fails a test when a file appears while it removes the directory.
func shellHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "agentscript-shell-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 100 {
			if os.RemoveAll(home) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Logf("%s is left behind: a process still writes to it", home)
	})
	for _, dir := range []string{".local/share/fish/generated_completions", ".cache/fish/generated_completions"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// In bash, zsh and fish at a real terminal, the Tab key completes verbs, flags, those of a script's main, their values,
// agents, models and files.
func TestCompletionInShells(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("SKIPPED: tmux is not installed: make e2e installs it as root")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "agentscript"), "github.com/agentscript/agentscript/cmd/agentscript").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for shell, of := range shells {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("SKIPPED: %s is not installed: make e2e installs it as root", shell)
			}
			if _, err := os.Stat("/usr/share/bash-completion/bash_completion"); shell == "bash" && err != nil {
				t.Skip("SKIPPED: the package bash-completion is not installed")
			}
			home := shellHome(t)
			for name, text := range map[string]string{
				of.file: of.startup, "notes.md": "", "answers.jsonl": "",
				"flow.star": "Tone = enum(\"dry\", \"warm\")\ncritic = agent(prompt = \"C.\")\n\ndef main(topic = str, tone = field(Tone, default = \"dry\"), max_words = 3):\n    return critic(topic)\n",
			} {
				path := filepath.Join(home, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			screen := func(args ...string) string {
				cmd := exec.Command(tmux, append([]string{"-S", filepath.Join(home, "tmux"), "-f", "/dev/null"}, args...)...)
				cmd.Dir = home
				cmd.Env = []string{"HOME=" + home, "PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8"}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
				}
				return string(out)
			}
			shows := func(want string) {
				t.Helper()
				seen := ""
				for range 300 {
					seen = screen("capture-pane", "-p", "-J")
					if strings.Contains(seen, want) {
						return
					}
					time.Sleep(50 * time.Millisecond)
				}
				t.Fatalf("no %q on the screen:\n%s", want, strings.TrimRight(seen, "\n"))
			}
			screen("new-session", "-d", "-x", "160", "-y", "40", of.command)
			t.Cleanup(func() { screen("kill-server") })
			shows("% ")
			for _, row := range []struct{ typed, want string }{
				{"agentscript vers", "agentscript version"},
				{"agentscript check --str", "agentscript check --strict"},
				{"agentscript new x --kind pip", "agentscript new x --kind pipeline"},
				{"agentscript run fl", "agentscript run flow.star"},
				{"agentscript run flow.star --max-w", "agentscript run flow.star --max-words"},
				{"agentscript run flow.star --tone w", "agentscript run flow.star --tone warm"},
				{"agentscript run flow.star --tone=w", "agentscript run flow.star --tone=warm"},
				{"agentscript run flow.star --model cri", "agentscript run flow.star --model critic="},
				{"agentscript run flow.star --model mist", "agentscript run flow.star --model mistral/"},
				{"agentscript run flow.star --model critic=openai/gpt-5.1-codex-mi", "agentscript run flow.star --model critic=openai/gpt-5.1-codex-mini"},
				{"agentscript run flow.star --scripted ans", "agentscript run flow.star --scripted answers.jsonl"},
				{"agentscript completion fi", "agentscript completion fish"},
			} {
				screen("send-keys", "-l", row.typed)
				shows("% " + row.typed)
				screen("send-keys", "Tab")
				shows("% " + row.want)
				screen("send-keys", "C-u")
				screen("send-keys", "C-l")
			}
		})
	}
}
