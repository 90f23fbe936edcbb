package starlib_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentscript/agentscript/starlib"
)

// TestSound checks that what some run could do is not rejected. Its scripts do in functions nearly what those of
// testdata/errors do.
func TestSound(t *testing.T) {
	files, err := filepath.Glob("testdata/sound/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m, found := loadWith(starlib.Options{Strict: true}, string(data)); found.HasErrors() {
			t.Errorf("%s:\n%s", file, render(m, found))
		}
	}
}
