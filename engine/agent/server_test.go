package agent_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/remote"
)

// A server's schema is read up to its size limit. If the schema of the arguments is longer, the tool is refused; if
// that of the result is longer, it is ignored.
func TestSchemasOfServersAreBounded(t *testing.T) {
	const most = 256 << 10
	schema := func(size int) string {
		text := `{"type": "object", "properties": {"a": {"type": "string"}}}`
		return text + strings.Repeat(" ", size-len(text))
	}
	for size, within := range map[int]bool{100: true, most: true, most + 1: false} {
		offered, err := agent.ToolsOf(&remote.Server{Name: "s"}, remote.EncodeTools([]remote.Tool{
			{Name: "takes", Input: schema(size)}, {Name: "gives", Input: schema(100), Output: schema(size)}}))
		if err != nil || len(offered) != 2 || offered[1].Tool == nil {
			t.Fatalf("%d bytes: %+v, %v", size, offered, err)
		}
		if takes, gives := offered[0].Err == nil, offered[1].Tool.Returns != nil; takes != within || gives != within {
			t.Errorf("%d bytes: read of the arguments %v, of the result %v", size, takes, gives)
		}
	}
}
