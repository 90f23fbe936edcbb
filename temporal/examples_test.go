package temporal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/internal/exampleruns"
)

const repository = ".."

// exampleAnswers reads the file of answers next to an example.
func exampleAnswers(t *testing.T, file string) *scripted.Model {
	t.Helper()
	f, err := os.Open(filepath.Join(repository, "examples", strings.TrimSuffix(file, ".star")+".jsonl"))
	if os.IsNotExist(err) {
		return scripted.Answers(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := scripted.Read(f, file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Promise 31.1 (temporal): every example and test flow that touches no local process has the same result in the test
// environment of the client library as on one machine, byte for byte and with the same effects.
func TestPromise_31_1_SameInEnvironment(t *testing.T) {
	t.Run("examples", examples)
	t.Run("flows", flows)
}

func examples(t *testing.T) {
	for _, ex := range exampleruns.All {
		if ex.Grants != nil {
			continue
		}
		t.Run(ex.Name(), func(t *testing.T) {
			e := func() *agentscript.Engine {
				return agentscript.New(agentscript.WithPricer(llm.New()), agentscript.WithModels(exampleAnswers(t, ex.File)))
			}
			m, err := e().LoadFile(t.Context(), filepath.Join(repository, "examples", ex.File))
			if err != nil {
				t.Fatal(err)
			}
			if got := sameAsLocally(t, e(), m, ex.Options(t, repository)...); got != ex.Want {
				t.Errorf("got %s, want %s", got, ex.Want)
			}
		})
	}
}

// sameAsLocally runs a module in this process and in the test environment, compares the results and the effects, and
// returns the result.
func sameAsLocally(t *testing.T, e *agentscript.Engine, m *agentscript.Module, opts ...agentscript.RunOption) string {
	t.Helper()
	opts = append(opts, agentscript.ID("run"), agentscript.Seed(1))
	kept := store.NewMemory()
	res, failed := m.Start(t.Context(), append(opts, agentscript.StoreRun(kept))...).Wait()
	got := inEnvironment(t, e, Options{}, m, opts...)
	if got.End == nil {
		t.Fatal("it has no end")
	}
	if failed != nil {
		var is engine.Error
		if err := json.Unmarshal(got.End.Err, &is); err != nil || is.Error() != failed.Error() {
			t.Errorf("got %s, %v, locally %v", got.End.Err, err, failed)
		}
	} else if got.End.Text != res.Text() {
		t.Errorf("got %+v, locally %s", got.End, res.Text())
	}
	var want []engine.Step
	if err := kept.Steps(t.Context(), "run", 0, func(s engine.Step) error { want = append(want, s); return nil }); err != nil && len(got.Steps) > 0 {
		t.Fatal(err)
	}
	if a, b := idsOf(got.Steps), idsOf(want); !slices.Equal(a, b) {
		t.Errorf("the effects are\n%s\nlocally\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	return got.End.Text
}

func idsOf(steps []engine.Step) (ids []string) {
	for _, s := range steps {
		ids = append(ids, s.ID+" "+string(s.State))
	}
	slices.Sort(ids)
	return ids
}

// flows runs the test flows, which may end with a failure.
func flows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "starlib", "testdata", "flows", "*.star"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no test flows", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".star"), func(t *testing.T) {
			flow := exampleruns.ReadFlow(t, file)
			e := agentscript.New(agentscript.WithDefaultModel("test/model"), agentscript.WithModels(exampleruns.Replies(flow.Texts)))
			m, err := e.LoadFile(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range flow.Cases {
				sameAsLocally(t, e, m, c.Option(t, m))
			}
		})
	}
}
