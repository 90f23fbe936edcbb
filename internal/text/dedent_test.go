package text

import "testing"

func TestDedent(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"", ""}, {"a", "a"}, {"  a", "a"}, {"  a\n  b\n", "a\nb\n"}, {"  a\n    b\n\n  c", "a\n  b\n\nc"},
		{"\n  a\n b", "\n a\nb"}, {"a\n  b", "a\n  b"}, {"\ta\n\tb", "a\nb"}, {"\ta\n  b", "\ta\n  b"}, {"  a\r\n  b\r\n \r\n", "a\r\nb\r\n\r\n"},
		{"    a\n \n    b", "a\n\nb"}, {"   ", "   "},
	} {
		got := Dedent(row.in)
		if got != row.want {
			t.Errorf("%q is %q, want %q", row.in, got, row.want)
		}
		if again := Dedent(got); again != got {
			t.Errorf("%q dedented twice is %q", row.in, again)
		}
	}
}
