package starlib_test

import (
	"fmt"
	"github.com/agentscript/agentscript/diag"
	"os"
	"testing"
)

func TestTryExplain(t *testing.T) {
	if os.Getenv("TRY") == "" {
		t.Skip()
	}
	for _, e := range diag.Entries() {
		if e.Wrong != "" && e.Code[2] != '7' {
			m, l := load(e.Wrong)
			ok := false
			for _, d := range l {
				if d.Code == e.Code {
					ok = true
				}
			}
			fmt.Println("-----", e.Code, ok, len(l))
			fmt.Print(render(m, l))
		}
		if e.Right != "" {
			m, l := load(e.Right)
			if len(l) > 0 {
				fmt.Println("RIGHT of", e.Code)
				fmt.Print(render(m, l))
			}
		}
	}
}
