package transport

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Whatever a stream contains and however it is split, its lines are those of the text, and a line that is too long
// affects no other.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "\n\n a \r\n", strings.Repeat("x", 60) + "\ny\n", "\x00\n" + strings.Repeat("\n", 9) + "z", strings.Repeat("x", 40000)} {
		f.Add(seed)
	}
	const most = 50
	f.Fuzz(func(t *testing.T, text string) {
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			switch trimmed := string(bytes.TrimSpace([]byte(line))); {
			case len(strings.TrimRight(line, "\r")) > most:
				want = append(want, "long")
			case trimmed != "":
				want = append(want, trimmed)
			}
		}
		var got []string
		for lines := newFrames(iotest.HalfReader(strings.NewReader(text)), most, true); ; {
			line, err := lines.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				line = []byte("long")
			}
			got = append(got, string(line))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	})
}

// Whatever a server writes is a message, is skipped, or ends the session with a reason.
func FuzzServerLines(f *testing.F) {
	for _, seed := range []string{"npm notice", "{", "[info] x", `{"level":"info"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0"}`, `[1,{"jsonrpc":"2.0","method":"x"}]`,
		"[]", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"x\"}}", "\xff", "{}\n{\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var words Tail
		intake := NewIntake(DefaultBounds)
		c := NewServerLines(io.NopCloser(strings.NewReader(text)), discard{}, &words, intake)
		defer c.Close()
		for messages := 0; ; messages++ {
			msg, err := c.Read(t.Context())
			switch {
			case err == nil && msg == nil, messages > len(text):
				t.Fatalf("%q: message %d is %v", text, messages, msg)
			case err == nil:
				continue
			}
			switch why := intake.Reason(); {
			case errors.Is(err, io.EOF) && why != nil, !errors.Is(err, io.EOF) && why == nil:
				t.Errorf("%q ends with %v, and is told to end with %v", text, err, why)
			}
			return
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (discard) Close() error { return nil }
