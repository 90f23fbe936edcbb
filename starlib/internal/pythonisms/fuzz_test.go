package pythonisms_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/pythonisms"
)

// For any input: no panic; only findings that parse if it parses; some finding if it does not; and everything can be
// rendered.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		script, _, _ := bytes.Cut(text, []byte("-- rendered --"))
		f.Add(script)
		for _, line := range bytes.SplitAfter(script, []byte("\n")) {
			f.Add(line)
		}
	}
	for _, s := range []string{"", "\x00class", "f'{x:{y:{z}}}'", "lambda x: int: lambda", "a < (b < c", "try:\n", "class", "def f(x:", "x\\\r\ny", "is", "\"%", "'{0", "*", "@", "f\"\"\"{f'''{"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, parseErr := options.Parse("x.star", src, 0)
		l := pythonisms.Check("x.star", src, parseErr, 0, nil)
		if parseErr != nil && !l.HasErrors() {
			t.Errorf("nothing about %v", parseErr)
		}
		if parseErr == nil {
			for _, d := range pythonisms.Refused("x.star", string(src)) {
				t.Errorf("this parses: %v", d)
			}
		}
		var b bytes.Buffer
		if err := diag.Render(&b, l, diag.SourceMap{"x.star": string(src)}, diag.Options{}); err != nil {
			t.Fatal(err)
		}
	})
}
