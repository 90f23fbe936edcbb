package agentscript_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

const flows = `
Order = schema("An order", item = str, n = field(int, default = 1))
twice = fn(lambda o: o.n * 2, input = Order, output = int)
shout = fn(lambda s: s.upper(), input = str, output = str)
asks = agent(prompt = "A.")

def main(topic = field(str, "about what"), n = 2):
    """Says it again."""
    return " ".join([topic] * n)
`

func TestFlow(t *testing.T) {
	mod, err := agentscript.New(agentscript.WithModels(scripted.Answers(map[string][]string{"asks": {"fine"}}))).Load(context.Background(), script(flows), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ schema, args, want string }{
		"main":  {`{"type":"object","properties":{"topic":{"type":"string","description":"about what"},"n":{"type":"integer","default":2}},"required":["topic"],"additionalProperties":false}`, `{"topic": "x"}`, `"x x"`},
		"twice": {`{"type":"object","properties":{"item":{"type":"string"},"n":{"type":"integer","default":1}},"required":["item"],"additionalProperties":false,"description":"An order"}`, `{"item": "x", "n": 4}`, `8`},
		"shout": {`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`, `{"input": "x"}`, `"X"`},
		"asks":  {`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`, `{"input": "x"}`, `"fine"`},
	} {
		f, err := mod.Flow(name)
		if err != nil {
			t.Fatal(err)
		}
		var schema bytes.Buffer
		if err := json.Compact(&schema, []byte(f.Params.JSONSchema())); err != nil {
			t.Fatal(err)
		}
		if got := schema.String(); got != row.schema {
			t.Errorf("%s takes %s", name, got)
		}
		args := lenient.Decode(f.Params, row.args, generable.Options{})
		res, err := f.Start(t.Context(), args.Value).Wait()
		if err != nil || res.JSON() != row.want || f.Doc == "" || f.Name != name {
			t.Errorf("%s gives %s, %v: %+v", name, res.JSON(), err, f)
		}
	}
	_, err = mod.Flow("shuot")
	var missing *agentscript.LoadError
	if !errors.As(err, &missing) {
		t.Errorf("a name that holds nothing gives %v", err)
	}
	f, err := mod.Flow("main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Start(t.Context(), generable.Value{}).Wait(); err == nil {
		t.Error("no arguments are enough")
	}
}
