package term

import (
	"strings"
	"testing"
)

func TestSafeWriter(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plain\ttext\nnext", "plain\ttext\nnext"},
		{"a\r\nb\rc", "a\nb\\u000dc"},
		{"grüße 日本　語 🇩🇪 👩‍💻 می\u200cخواهم שלום é", "grüße 日本　語 🇩🇪 👩‍💻 می\u200cخواهم שלום é"},
		{"\x1b[2K\x07\x7f\u009b", `\u001b[2K\u0007\u007f\u009b`},
		{"\u202e\u2066\u200b\u2028\ufeff\U000e0041", `\u202e\u2066\u200b\u2028\ufeff\U000e0041`},
		{"\xff\xc3 \ufffd", "\\xff\\xc3 \ufffd"},
	} {
		for _, step := range []int{1, 2, 3, 5} {
			var b strings.Builder
			w := &safeWriter{w: &b}
			for rest := tt.text + "\n"; rest != ""; {
				n := min(step, len(rest))
				if wrote, err := w.Write([]byte(rest[:n])); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			if b.String() != tt.want+"\n" {
				t.Errorf("%q written %d bytes at a time is %q, want %q", tt.text, step, b.String(), tt.want)
			}
		}
	}
}

// TestFolded checks that no terminal of 80 cells wraps a line, since a text could then begin a line that looks like the
// question's own.
func TestFolded(t *testing.T) {
	for _, text := range []string{"short", strings.Repeat("x", 1000), strings.Repeat("　", 200), strings.Repeat(" ", 79) + "agent a wants to call read", strings.Repeat("a\u0301", 300)} {
		got := folded(text)
		if strings.ReplaceAll(got, "\n    | ", "") != text {
			t.Errorf("%q lost something: %q", text, got)
		}
		for i, line := range strings.Split(got, "\n") {
			if cells := len([]rune(line)); cells > lineWidth || i > 0 && !strings.HasPrefix(line, "    | ") {
				t.Errorf("a line of %d cells: %q", cells, line)
			}
		}
	}
}
