package conversation

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
)

// TestCut: the messages that stay may have exactly half of the tokens.
func TestCut(t *testing.T) {
	var messages []model.Message
	for range 6 {
		messages = append(messages, model.TextMessage(model.RoleUser, strings.Repeat("x", 12))) // 7 tokens each
	}
	for tokens, want := range map[int]int{28: 4, 27: 5, 14: 5, 2: 5, 100: 4} {
		if at := cut(&agent.Compression{Keep: 2, Tokens: tokens}, messages); at != want {
			t.Errorf("of %d tokens %d messages stay, want %d", tokens, len(messages)-at, len(messages)-want)
		}
	}
}
