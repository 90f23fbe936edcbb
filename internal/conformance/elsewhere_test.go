package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/wire"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/codec"
)

// elsewhere passes to h what another process would get: each effect that can be transferred is encoded and decoded.
// Anything lost on the way changes the outcome.
func elsewhere(h engine.Handler, sent *atomic.Int64) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		there, err := sentTo(e)
		switch e.Kind {
		case engine.EffectModel, engine.EffectTool, engine.EffectMCP, engine.EffectExec, engine.EffectHTTP, engine.EffectFS, engine.EffectEnv:
		default:
			if err == nil {
				return engine.Failed(engine.Errorf(engine.KindConfig, diag.UnknownTool, "%s is the run's own", e.ID()))
			}
			return h.Do(ctx, e, sink)
		}
		if err != nil {
			return engine.Failed(engine.Errorf(engine.KindConfig, diag.UnknownTool, "%s: %v", e.ID(), err))
		}
		sent.Add(1)
		return h.Do(ctx, there, sink)
	})
}

func sentTo(e *engine.Effect) (*engine.Effect, error) {
	data, err := wire.Encode(e)
	if err != nil {
		return nil, err
	}
	there, err := wire.Decode(data)
	if err != nil {
		return nil, err
	}
	a, _ := json.Marshal(e.Req)
	b, err := json.Marshal(there.Req)
	switch {
	case err != nil:
		return nil, err
	case there.ID() != e.ID() || there.Req.Digest() != e.Req.Digest():
		return nil, fmt.Errorf("its id there is %s", there.ID())
	case !bytes.Equal(a, b):
		return nil, fmt.Errorf("the request is %s there, %s here", b, a)
	case e.Returns != nil && sameType(e.Returns, there.Returns) != nil:
		return nil, sameType(e.Returns, there.Returns)
	}
	return there, nil
}

func sameType(a, b *generable.Type) error {
	for what, pair := range map[string][2]string{"ID": {a.ID(), b.ID()}, "schema": {a.JSONSchema(), b.JSONSchema()}, "fragment": {a.PromptFragment(), b.PromptFragment()},
		"description": {a.LLMDescription(), b.LLMDescription()}, "text": {a.String(), b.String()}} {
		if pair[0] != pair[1] {
			return fmt.Errorf("the %s of %s is %s here and %s there", what, a, pair[0], pair[1])
		}
	}
	return nil
}

// Every example and test flow has the same result and the same effect ids if another process, which has no script,
// performs its effects.
func TestEffectsAreCarriedOutElsewhere(t *testing.T) {
	var sent atomic.Int64
	compare := func(t *testing.T, mod *agentscript.Module, handler func() engine.Handler, opts ...agentscript.RunOption) {
		t.Helper()
		run := func(h engine.Handler) (agentscript.Result, string, error) {
			ids := &idSet{}
			all := append(opts[:len(opts):len(opts)], agentscript.ID("run"), agentscript.Seed(1), agentscript.Cooperative(7), agentscript.HandlerForAll(h), ids.listen())
			res, err := mod.Start(t.Context(), all...).Wait()
			return res, ids.String(), err
		}
		want, wantIDs, wantErr := run(handler())
		got, ids, err := run(elsewhere(handler(), &sent))
		switch {
		case fmt.Sprint(err) != fmt.Sprint(wantErr):
			t.Errorf("the error is %v, here %v", err, wantErr)
		case ids != wantIDs:
			t.Errorf("the effects are\n%s\nhere\n%s", ids, wantIDs)
		case err == nil && got.Text() != want.Text():
			t.Errorf("got %s, here %s", got.Text(), want.Text())
		}
	}
	for _, ex := range examples {
		if ex.Grants == nil {
			t.Run(ex.Name(), func(t *testing.T) {
				mod := loadedFile(t, agentscript.New(agentscript.WithPricer(llm.New())), "examples/"+ex.File)
				compare(t, mod, func() engine.Handler { return answersBeside(t, ex.File) }, ex.Options(t, repository(""))...)
			})
		}
	}
	t.Run("all operators", func(t *testing.T) {
		compare(t, loaded(t, agentscript.New(), allOperators), func() engine.Handler { return replies(nil) }, input("one two three four five"))
	})
	if n := sent.Load(); n < 100 {
		t.Errorf("only %d effects were sent", n)
	}
}

// All types of the examples and test flows can be transferred.
func TestTypesOfScriptsTravel(t *testing.T) {
	seen := 0
	for _, pattern := range []string{"examples/*.star", "starlib/testdata/flows/*.star"} {
		files, err := filepath.Glob(repository(pattern))
		if err != nil || len(files) == 0 {
			t.Fatal("there are no scripts", err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.star") {
				continue
			}
			mod, err := agentscript.New(agentscript.WithUngranted(), agentscript.WithDefaultModel("test/model")).LoadFile(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range mod.Names() {
				typ := mod.Type(name)
				if typ == nil {
					continue
				}
				data, err := codec.Encode(typ)
				if err != nil {
					t.Fatalf("%s of %s: %v", name, file, err)
				}
				got, err := codec.Decode(data)
				if err != nil {
					t.Fatalf("%s of %s: %v\n%s", name, file, err, data)
				}
				if err := sameType(typ, got); err != nil {
					t.Errorf("%s: %v", file, err)
				}
				seen++
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d types were seen", seen)
	}
}
