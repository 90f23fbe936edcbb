package temporal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Names and texts sent to the server are UTF-8, and not too long.
func TestWhatTheServerTakes(t *testing.T) {
	for n := range 4 {
		id := strings.Repeat("ä", 700) + strings.Repeat("x", n)
		if got := activityID(id); !utf8.ValidString(got) || len(got) > maxActivityID || got == activityID(id+"x") {
			t.Errorf("%d bytes: %q", len(id), got)
		}
		if got := messageText(strings.Repeat("x", n) + strings.Repeat("ä", 5000)); !utf8.ValidString(got) || len(got) > maxMessage+3 {
			t.Errorf("%d bytes", len(got))
		}
	}
	if got := messageText("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("%q", got)
	}
	if got := messageText(strings.Repeat("\xff", 5000)); len(got) > maxMessage+3 || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
}
