package agentscript_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
)

func flow(t *testing.T, src string, opts ...agentscript.Option) *agentscript.Module {
	t.Helper()
	m, err := agentscript.New(opts...).Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(src)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A script that does not get ready is given up, with a remedy.
func TestLoadTimeout(t *testing.T) {
	slow := fstest.MapFS{"slow.star": {Data: []byte("x = []\nfor i in range(1000000000):\n    x.clear()\nmain = agent(run = lambda s: s)\n")}}
	late := func(ctx context.Context, want diag.Code, says string, opts ...agentscript.Option) {
		t.Helper()
		_, err := agentscript.New(opts...).Load(ctx, slow, "slow.star")
		var l *agentscript.LoadError
		if !errors.As(err, &l) || l.List[0].Code != want || !strings.Contains(l.List[0].Message, says) || len(l.List[0].Help) == 0 && want != diag.Cancelled {
			t.Errorf("%v", err)
		}
	}
	late(t.Context(), diag.Timeout, "loading did not end within 1ms", agentscript.WithLoadTimeout(time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	late(ctx, diag.Timeout, "loading did not end by its deadline")
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	late(ctx, diag.Cancelled, "cancelled")
	late(t.Context(), diag.StepLimit, "too many steps", agentscript.WithLoadTimeout(0))
}

// ModelOverride goes over what the script names, also on an agent that is made in the run, and
// events show the request and the answer.
func TestModelOverride(t *testing.T) {
	ok := "ok"
	m := flow(t, "fixed = agent(model = \"openai/a\", prompt = \"Fixed.\")\ndef main():\n    made = agent(model = \"openai/b\", prompt = \"Made.\")\n    return fixed(\"x\") + made(\"y\")\n",
		agentscript.WithModels(scripted.New([]scripted.Row{{Agent: "*", Text: &ok, Repeat: true}})))
	var sent, got []string
	_, err := m.Start(t.Context(), agentscript.ModelOverride("ollama/c"), agentscript.ModelFor("fixed", "ollama/d"),
		agentscript.OnEvent(engine.EventEffect, func(e engine.Event) {
			d := e.Data.(*engine.EffectData)
			if r, ok := d.Request.(*model.Request); ok {
				sent = append(sent, r.Model+" "+r.System)
			}
			if d.Response != nil {
				got = append(got, d.Response.Text())
			}
		})).Wait()
	if err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(sent, "; "); s != "ollama/d Fixed.; ollama/c Made." {
		t.Errorf("sent %s", s)
	}
	if s := strings.Join(got, "; "); s != "ok; ok" {
		t.Errorf("got %s", s)
	}
}
