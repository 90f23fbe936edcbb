package llm

import (
	"encoding/json"
	"testing"
)

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
		if got := (&ScriptedRow{Agent: row.agent}).isFor("coder", row.path); got != row.want {
			t.Errorf("%q is for coder at %q: %v", row.agent, row.path, got)
		}
	}
}

func TestStrict(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                                                          true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`:                                                             false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                       false,
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`:                                            false,
		`{"type":"object","properties":{"a":{"type":"string","default":""}},"required":["a"],"additionalProperties":false}`:                                             false,
		`{"type":"object","properties":{"a":{"oneOf":[]}},"required":["a"],"additionalProperties":false}`:                                                               false,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`:                             true,
		`{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}},"required":["a"],"additionalProperties":false}`:                 false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{}}}},"required":["a"],"additionalProperties":false}`:                 false,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/B"}},"required":["a"],"additionalProperties":false,"$defs":{"B":{"type":"string"}}}`:                       true,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/B"}},"required":["a"],"additionalProperties":false,"$defs":{"B":{"type":"object","properties":{"x":{}}}}}`: false,
		`[]`: false, `{`: false,
	} {
		if got := strict(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
	deep, shut := `{"type":"string"}`, ""
	for range strictDepth + 2 {
		deep = `{"type":"object","properties":{"a":` + deep + shut + `},"required":["a"],"additionalProperties":false}`
	}
	if strict(json.RawMessage(deep)) {
		t.Error("too deep a schema is strict")
	}
}
