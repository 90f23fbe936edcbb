package e2e

import (
	"context"
	"os"
	"path/filepath"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/internal/exampleruns"
)

// double is the model of one run, with prepared answers: from a file, or one text for each agent.
type double struct {
	Run     string
	Answers string
	Texts   map[string]string
}

// preparedEngine returns an engine for runs with prepared answers.
func preparedEngine(all []double) (*agentscript.Engine, error) {
	by := map[string]engine.Handler{}
	for _, d := range all {
		if d.Answers == "" {
			by[d.Run] = exampleruns.Replies(d.Texts)
			continue
		}
		m, err := answers(d.Answers)
		if err != nil {
			return nil, err
		}
		by[d.Run] = m
	}
	models := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if h := by[e.Run]; h != nil {
			return h.Do(ctx, e, sink)
		}
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.UnknownTool, "run %s has no answers", e.Run))
	})
	return agentscript.New(agentscript.WithPricer(llm.New()), agentscript.WithDefaultModel("test/model"), agentscript.WithModels(models)), nil
}

func answers(file string) (*scripted.Model, error) {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return scripted.Answers(nil), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // it is only read
	return scripted.Read(f, filepath.Base(file))
}
