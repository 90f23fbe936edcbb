package main

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
)

// entry is the name under which scripts are loaded.
const entry = "flow.star"

func files(source string) fstest.MapFS { return fstest.MapFS{entry: {Data: []byte(source)}} }

// starlarkChain is a chain that a script composes, of steps with bodies in Starlark.
func starlarkChain(size int, s step) (once, error) {
	body := "lambda s: s"
	if s.marks {
		body = `lambda s: s + ".%d" % i + ("!" if i % 3 == 1 else "")`
	}
	mod, err := agentscript.New().Load(context.Background(), files(fmt.Sprintf(`
def step(i):
    return fn(%s, input = str, output = str)

main = then([step(i) for i in range(%d)])
`, body, size)), entry)
	if err != nil {
		return nil, err
	}
	return exec(mod.Node("main"), generable.StrOf(input)), nil
}

// chapter is 20 lines of a script: types, a function, agents, and a flow of them.
const chapter = `
Draft%[1]d = schema(
    "A draft of code",
    code = field(str, "The code"),
    score = field(int, "How good it is, 0 to 100", ge = 0, le = 100),
)
Accepted%[1]d = schema("The draft is good", note = field(str, "What is good about it"))
Refused%[1]d = schema("The draft needs work", hints = field(list[str], "What to change", default = []))
Verdict%[1]d = union("What becomes of the draft", Accepted%[1]d, Refused%[1]d)

def summary%[1]d(draft):
    """Says what a draft is."""
    if draft.score > 50:
        return "good: " + draft.code
    return "poor: " + draft.code

coder%[1]d = agent(output = Draft%[1]d, prompt = "Write the code that is asked for.")
judge%[1]d = agent(input = str, output = Verdict%[1]d, prompt = "Judge the code. Be strict.")
judged%[1]d = judge%[1]d.branch({Accepted%[1]d: pick("note"), Refused%[1]d: fn(lambda r: ", ".join(r.hints), input = Refused%[1]d, output = str)})
flow%[1]d = coder%[1]d >> fn(summary%[1]d, input = Draft%[1]d, output = str) >> judged%[1]d
`

// ownCheck checks a script with size lines. The result is the number of its lines.
func ownCheck(size int, _ step) (once, error) {
	var source strings.Builder
	for i := range size / strings.Count(chapter, "\n") {
		fmt.Fprintf(&source, chapter, i)
	}
	fsys, lines := files(source.String()), strings.Count(source.String(), "\n")
	eng := agentscript.New()
	return func() (any, error) {
		found, _ := eng.Check(context.Background(), fsys, entry)
		if len(found) > 0 {
			return nil, found
		}
		return lines, nil
	}, nil
}
