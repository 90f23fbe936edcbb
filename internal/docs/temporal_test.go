package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var temporalVerb = regexp.MustCompile("agentscript temporal ([a-z]+)(?: ([a-z]+))?")

// The command agentscript-temporal accepts what the page on Temporal says to type. It is in a separate module, which is
// not built here: its sources must name the verbs and flags, or agentscript have them.
func TestFlagsOfTemporalExist(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir(filepath.Join(root(t), "temporal", "internal", "cli"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if os.IsNotExist(err) {
		t.Skip("not built: temporal/internal/cli is missing")
	}
	if err != nil {
		t.Fatal(err)
	}
	bin := command(t)
	var help strings.Builder
	for _, verb := range []string{"run", "check", "runs", "runs show", "runs answer", "runs fork", "runs cancel"} {
		out, err := shell(t.TempDir(), bin, "agentscript "+verb+" --help")
		if err != nil {
			t.Fatal(out)
		}
		help.WriteString(out)
	}
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "temporal.md"))
	if err != nil {
		t.Fatal(err)
	}
	flags, verbs := 0, 0
	for _, m := range flagWord.FindAllStringSubmatch(string(page), -1) {
		flags++
		if !strings.Contains(source.String(), `"`+strings.TrimPrefix(m[1], "--")+`"`) && !strings.Contains(help.String(), m[1]+" ") {
			t.Errorf("neither command has a flag %s", m[1])
		}
	}
	for _, m := range temporalVerb.FindAllStringSubmatch(string(page), -1) {
		verbs++
		if !strings.Contains(source.String(), `"`+m[1]) && !strings.Contains(source.String(), "agentscript temporal "+m[1]) {
			t.Errorf("agentscript-temporal has no verb %s", m[1])
		}
		if m[1] == "runs" && m[2] != "" && !strings.Contains(help.String(), "\n  "+m[2]+" ") { // it has those of agentscript
			t.Errorf("agentscript runs has no verb %s", m[2])
		}
	}
	if flags < 5 || verbs < 5 {
		t.Errorf("only %d flags and %d verbs found", flags, verbs)
	}
}
