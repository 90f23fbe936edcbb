package scripted

import "testing"

func TestPaths(t *testing.T) {
	for _, row := range []struct {
		path, prefix string
		want         bool
	}{
		{"main/par0[1]/agent:a#0/llm0", "main/par0[1]", true},
		{"main/par0[10]/agent:a#0", "main/par0[1]", false},
		{"main/par0[10]/agent:a#0", "main/par0[1", false},
		{"main/par10[0]", "main/par1", false},
		{"main/par1[0]", "main/par1", true},
		{"main", "main", true},
		{"main", "main/x", false},
		{"main/then:review#0/agent:a#0", "main/then:rev", true},
	} {
		if got := under(row.path, row.prefix); got != row.want {
			t.Errorf("under(%q, %q) = %v", row.path, row.prefix, got)
		}
	}
	for _, row := range []struct {
		agent, path string
		want        bool
	}{
		{"coder", "", true}, {"*", "", true}, {"", "", true}, {"critic", "main/agent:critic#0", false},
		{"coder#1", "main/then0/agent:coder#1/llm0", true},
		{"coder#1", "main/agent:coder#1[2]/llm0", true},
		{"coder#1", "main/agent:coder#10/llm0", false},
		{"coder#1", "main/agent:coder#10/agent:coder#1", true},
		{"coder#1", "main/agent:decoder#1/llm0", false},
	} {
		if got := (&Row{Agent: row.agent}).isFor("coder", row.path); got != row.want {
			t.Errorf("%q is for coder at %q: %v", row.agent, row.path, got)
		}
	}
}
