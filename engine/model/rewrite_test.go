package model_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/model"
)

// A message that refers to the answer before it keeps its full text, which a rewrite also changes.
func TestRewrittenReachesWholeMessages(t *testing.T) {
	const said = "the key is hunter2, and more"
	m := model.Message{Role: model.RoleUser, Parts: []model.Part{{Kind: model.PartText, Text: said + "."}}}
	m.HandOver(said)
	if m.Parts[0].Text != model.HandedOver+"." || m.Whole().Parts[0].Text != said+"." {
		t.Fatalf("handed over as %q, and whole %q", m.Parts[0].Text, m.Whole().Parts[0].Text)
	}
	r := &model.Request{Messages: []model.Message{m}}
	own := r.Rewritten(1, func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") })
	if got := own.Messages[0].Whole().Parts[0].Text; strings.Contains(got, "hunter2") {
		t.Errorf("the whole message is %q", got)
	}
	if got := r.Messages[0].Whole().Parts[0].Text; !strings.Contains(got, "hunter2") {
		t.Errorf("the message that it was made of is %q", got)
	}
}
