package mcp

import "testing"

// Whatever a server's URL is, its sign-in is a file of the directory.
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
