package mcp

import (
	"os"
	"strings"
	"testing"
)

// Whatever a server's URL is, its sign-in is a file in the directory.
func FuzzTokenFile(f *testing.F) {
	for _, key := range []string{"https://a.example/mcp", "", "://", "https://../../x", "https://.\x00/"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		for _, r := range TokenDir("/d").path(key)[len("/d/"):] {
			if !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '-' || r == '_') {
				t.Errorf("the file %q", TokenDir("/d").path(key))
			}
		}
	})
}

// A file is named after the host, as far as file systems permit, and differs for every URL.
func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	for key, begins := range map[string]string{"https://a.example:8443/mcp": "a.example_8443-", "https://a.example:8443/other": "a.example_8443-",
		"https://" + strings.Repeat("a", 90) + "/mcp": strings.Repeat("a", 80) + "-"} {
		err := TokenDir(dir).Update(t.Context(), key, func(kept []byte) ([]byte, error) {
			if kept != nil {
				t.Errorf("%s finds %q", key, kept)
			}
			return []byte(key), nil
		})
		if err != nil {
			t.Error(err)
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			data, _ := os.ReadFile(dir + "/" + file.Name()) // empty for a lock
			found = found || strings.HasPrefix(file.Name(), begins) && string(data) == key
		}
		if !found {
			t.Errorf("%s is kept in none of %v", key, files)
		}
	}
}

// Progress includes the total and the server's message, if there are any.
func TestProgressText(t *testing.T) {
	for want, p := range map[string]struct {
		done, total float64
		message     string
	}{"1 of 1": {1, 1, ""}, "0.5": {0.5, 0, ""}, "2: half": {2, 0, "half"}, "1 of 3: working": {1, 3, "working"}} {
		if got := progressText(p.done, p.total, p.message); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
