package temporal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// An effect is refused only if it has not begun and another worker may have what this one lacks.
func TestLacks(t *testing.T) {
	ungranted := func() *engine.Error {
		return capability.Ungranted(capability.Use{Kind: engine.EffectHTTP, Target: "example.com"}).Err
	}
	failed := func(kind engine.ErrKind, code diag.Code) engine.Outcome {
		return engine.Failed(engine.Errorf(kind, code, "it failed"))
	}
	paid := failed(engine.KindConfig, diag.MissingKey)
	paid.Usage = model.Usage{In: 1}
	for name, c := range map[string]struct {
		out        engine.Outcome
		held, want bool
	}{
		"it went well":                         {engine.Outcome{}, false, false},
		"no such tool":                         {failed(engine.KindConfig, diag.UnknownTool), true, true},
		"a tool that says so itself":           {failed(engine.KindTool, diag.UnknownTool), false, false},
		"no key":                               {failed(engine.KindConfig, diag.MissingKey), false, true},
		"no key, after another model was paid": {paid, false, false},
		"a key that the provider refuses":      {failed(engine.KindAuth, diag.AuthRefused), false, false},
		"no grant of the worker":               {engine.Failed(ungranted()), false, true},
		"no grant of the run":                  {engine.Failed(ungranted()), true, false},
		"no grant for where it redirects to":   {engine.Failed(capability.Redirect("POST example.com", ungranted())), false, false},
		"a server that the run may not reach":  {failed(engine.KindConfig, diag.ServerNotGranted), true, false},
	} {
		if got := lacks(c.out, c.held); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A search asks again after short pauses until its time is over. Its failure names each worker once, with what it
// lacks.
func TestSearch(t *testing.T) {
	v := &vault.Vault{Inline: 1 << 10}
	open := func(s vault.Sealed) ([]byte, error) { return v.Open(t.Context(), s) }
	refuses := func(worker, why string) refusal {
		text, err := json.Marshal(engine.Errorf(engine.KindConfig, diag.UnknownTool, "%s", why))
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := v.Seal(t.Context(), text, false)
		if err != nil {
			t.Fatal(err)
		}
		return refusal{Worker: worker, Why: sealed}
	}
	var s workerSearch
	begun := time.Now()
	now, tries := begun, 0
	for {
		wait, more := s.add(refuses([]string{"alpha", "beta"}[tries%2], "it lacks pay"), now, 0)
		if !more {
			break
		}
		if tries++; wait <= 0 || wait > 3*time.Second {
			t.Fatalf("it waits for %s", wait)
		}
		now = now.Add(wait)
	}
	if took := now.Sub(begun); took != searchTimeout || tries < 8 || tries > 20 {
		t.Errorf("%d tries in %s", tries, took)
	}
	alone := refuses("alpha", "it lacks pay")
	alone.Alone = true
	lone, now := workerSearch{}, begun
	for wait, more := lone.add(alone, now, 0); more; wait, more = lone.add(alone, now, 0) {
		now = now.Add(wait)
	}
	if took := now.Sub(begun); took != searchTimeoutAlone {
		t.Errorf("where there is no other worker it looks for %s", took)
	}
	now = begun.Add(searchTimeout)

	last := engine.Errorf(engine.KindConfig, diag.UnknownTool, "it lacks pay").WithHelp("its tools are: look")
	e := s.failure("tool pay", now, last, open)
	if e.Code != diag.UnknownTool || e.Message != "no worker took tool pay within 30s: worker alpha: it lacks pay; worker beta: it lacks pay" || !strings.HasPrefix(e.Help, "its tools are: look; ") {
		t.Errorf("%s: %s; %s", e.Code, e.Message, e.Help)
	}
	if _, more := new(workerSearch).add(refuses("alpha", "x"), now, -1); more {
		t.Error("a search that is not to be goes on")
	}
	s = workerSearch{}
	for i := range 3 * maxNamedWorkers {
		s.add(refuses(strings.Repeat("w", i+1), "x"), now, 0)
	}
	if len(s.By) != maxNamedWorkers {
		t.Errorf("%d workers are named", len(s.By))
	}
}
