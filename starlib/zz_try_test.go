package starlib_test

import (
	"fmt"
	"github.com/agentscript/agentscript/starlib"
	"os"
	"testing"
)

func TestTry(t *testing.T) {
	f := os.Getenv("TRY")
	if f == "" {
		t.Skip()
	}
	if f == "ref" {
		fmt.Println(starlib.Reference())
		return
	}
	if f == "stub" {
		fmt.Println(starlib.Stub())
		return
	}
	src, _ := os.ReadFile(f)
	m, l := load(string(src))
	fmt.Print(render(m, l))
}
