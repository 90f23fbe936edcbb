package e2e

import (
	"encoding/json"
	"fmt"

	"github.com/agentscript/agentscript"
)

// sequence calls a model n times in sequence.
const sequence = `
a = agent("a", prompt = "Work.")
def main(n = int, words = ""):
    last = ""
    for i in range(n):
        last = a("step %d %s" % (i, words))
    return last
`

// fan calls two models in sequence in each of n branches.
const fan = `
a = agent("a", prompt = "Work.")
b = agent("b", prompt = "Work.")
branches = each(a >> b, limit = 400)
def main(n = int, words = ""):
    return str(len(branches(["branch %d %s" % (i, words) for i in range(n)])))
`

// paying calls a tool that must not be called twice.
const paying = `
a = agent("a", prompt = "Work.", tools = [pay])
def main(what = str):
    return a("call pay " + what)
`

// computing calls nothing.
const computing = `
def main(n = int):
    x = 0
    for i in range(n):
        x += i % 7
    return str(x)
`

func withArgs(args map[string]any) agentscript.RunOption { return agentscript.Args(args) }

func withN(n int, words string) agentscript.RunOption {
	return withArgs(map[string]any{"n": n, "words": words})
}

// withCallLimit raises the number of model calls that a run may make.
func withCallLimit(n int) agentscript.RunOption {
	return agentscript.RunSettings(json.RawMessage(fmt.Sprintf(`{"Calls": %d}`, n)))
}
