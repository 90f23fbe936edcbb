package repl

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// TestAnswersAreWrittenInTurn checks that answers of concurrent calls are written one after the other.
func TestAnswersAreWrittenInTurn(t *testing.T) {
	var out strings.Builder
	s := &stream{write: func(text string) error {
		_, err := out.WriteString(text)
		return err
	}}
	token := func(path, text string) { s.Event(engine.Event{Path: path, Data: &event.Token{Text: text}}) }
	end := func(path string) {
		s.Event(engine.Event{Path: path, Data: &event.Effect{Phase: engine.PhaseEnd}})
	}
	token("a", "one ")
	token("b", "three ")
	token("c", "five")
	token("a", "two")
	token("b", "four")
	end("c")
	end("other")
	if got := out.String(); got != "one two" {
		t.Errorf("%q", got)
	}
	end("a")
	if got := out.String(); got != "one two\nthree four" {
		t.Errorf("%q", got)
	}
	token("b", "!")
	end("b")
	if got := out.String(); got != "one two\nthree four!\nfive\n" || !s.said("five") || s.said("one two") {
		t.Errorf("%q", got)
	}
	token("a", "cut")
	s.end()
	if got := out.String(); !strings.HasSuffix(got, "five\ncut\n") || !s.said("cut") {
		t.Errorf("%q", got)
	}
}

// TestScreen cuts a text where a screen is full, and loses nothing.
func TestScreen(t *testing.T) {
	for _, c := range []struct {
		shown       string
		width, rows int
		head        string
	}{
		{"a\nb\nc", 10, 3, "a\nb\nc"},
		{"a\nb\nc", 10, 2, "a\nb"},
		{"a\n\n\nb", 10, 3, "a\n\n"},
		{"abcdefgh", 3, 2, "abcdef"},
		{"ab\nabcdefgh\nc", 3, 3, "ab"},
		{"日本語", 2, 2, "日本"},
		{"日本語", 3, 1, "日"},
		{"", 3, 1, ""},
	} {
		head, rest := screen(c.shown, c.width, c.rows)
		if head != c.head || strings.Trim(c.shown, "\n") != strings.Trim(head+"\n"+rest, "\n") && c.shown != head+rest {
			t.Errorf("%q on %d × %d is %q and %q", c.shown, c.width, c.rows, head, rest)
		}
	}
	most := strings.Repeat("e\u0301", 500) + strings.Repeat("日本\n", 500)
	for screens, rest := 0, most; rest != ""; screens++ {
		var head string
		if head, rest = screen(rest, 7, 5); screens > len(most) || strings.Count(head, "\n") > 5 || term.Cells(head) > 35 {
			t.Fatalf("%q does not fit", head)
		}
	}
}
