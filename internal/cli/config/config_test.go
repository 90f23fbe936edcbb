package config

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
)

// The value shown for a key that is not set is the flag's default.
func TestDefaults(t *testing.T) {
	settings, problem := project.Open(t.TempDir(), func(string) (string, bool) { return "", false })
	if problem != nil {
		t.Fatal(problem)
	}
	flags := new(setup.RunFlags).Flags()
	for _, set := range settings.List() {
		f := flags.Lookup(set.Key)
		if set.Table != project.Run || f == nil || set.Key == "timeout" {
			continue
		}
		_, worded, _ := strings.Cut(f.Usage, "(default ")
		if want := strings.TrimSuffix(worded, ")"); set.Text != want && set.Text != f.DefValue {
			t.Errorf("%s is %q, and --%s is %q or %q", set.Key, set.Text, set.Key, want, f.DefValue)
		}
	}
}
