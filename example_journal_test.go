package agentscript_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/store/storetest"
	"github.com/agentscript/agentscript/generable"
)

// fileJournal keeps the outcomes of one run in a file, one JSON row per line.
type fileJournal struct {
	mu       sync.Mutex
	file     *os.File
	end      int64 // of the committed rows
	outcomes map[string]engine.Outcome
}

type journalRow struct {
	ID      string          `json:"id"`
	Outcome json.RawMessage `json:"outcome"`
}

// openJournal reads what an earlier process committed. types finds the schemas of the script's records.
func openJournal(path string, types engine.Types) (*fileJournal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &fileJournal{file: file, outcomes: map[string]engine.Outcome{}}
	if err := j.read(types); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

func (j *fileJournal) read(types engine.Types) error {
	lines := bufio.NewReader(j.file)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return j.file.Truncate(j.end) // a line without its end was not committed
		}
		if err != nil {
			return err
		}
		var row journalRow
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		if j.outcomes[row.ID], err = engine.DecodeOutcome(row.Outcome, types); err != nil {
			return err
		}
		j.end += int64(len(line))
	}
}

func (j *fileJournal) Answer(id string) (engine.Outcome, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	out, known := j.outcomes[id]
	return out, known
}

func (j *fileJournal) Commit(_ context.Context, id string, _ *engine.Effect, out engine.Outcome) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.outcomes[id]; known {
		return nil // the first outcome of an effect stays
	}
	outcome, err := json.Marshal(out)
	if err != nil {
		return err
	}
	row, err := json.Marshal(journalRow{id, outcome})
	if err != nil {
		return err
	}
	row = append(row, '\n')
	if _, err := j.file.WriteAt(row, j.end); err != nil {
		return errors.Join(err, j.file.Truncate(j.end))
	}
	if err := j.file.Sync(); err != nil {
		return errors.Join(err, j.file.Truncate(j.end))
	}
	j.end += int64(len(row))
	j.outcomes[id] = out
	return nil
}

// A journal in a file answers a run in another process: the second run calls no model.
func ExampleRunJournal() {
	dir, err := os.MkdirTemp("", "agentscript")
	if err == nil {
		err = runTwice(context.Background(), filepath.Join(dir, "run.jsonl"))
	}
	if err != nil {
		fmt.Println(err)
	}
	_ = os.RemoveAll(dir) // of an example
	// Output:
	// {"lines":["rain","again"]}
	// {"lines":["rain","again"]}
}

func runTwice(ctx context.Context, path string) error {
	eng := agentscript.New(agentscript.WithModels(scripted.Answers(map[string][]string{"poet": {`{"lines": ["rain", "again"]}`}})))
	mod, err := eng.Load(ctx, script(`
Rhyme = schema(lines = list[str])
poet = agent(prompt = "Rhyme.", output = Rhyme)
main = poet
`), "flow.star")
	if err != nil {
		return err
	}
	for range 2 { // as two processes would
		journal, err := openJournal(path, schemas(mod))
		if err != nil {
			return err
		}
		result, err := mod.Start(ctx, agentscript.Input("rain"), agentscript.RunJournal(journal)).Wait()
		if err := errors.Join(err, journal.file.Close()); err != nil {
			return err
		}
		fmt.Println(result.Text())
	}
	return nil
}

func schemas(mod *agentscript.Module) engine.Types {
	var types []*generable.Type
	for _, name := range mod.Names() {
		if t := mod.Type(name); t != nil {
			types = append(types, t)
		}
	}
	return engine.TypesOf(types...)
}

func TestFileJournal(t *testing.T) {
	storetest.Journal(t, func(t *testing.T) engine.Journal {
		j, err := openJournal(filepath.Join(t.TempDir(), "run.jsonl"), engine.TypesOf())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := j.file.Close(); err != nil {
				t.Error(err)
			}
		})
		return j
	})
}

// A crash leaves at most a part of a row, which the next process cuts off.
func TestFileJournalAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	for i, want := range []string{"a", "b", "c"} {
		j, err := openJournal(path, engine.TypesOf())
		if err != nil {
			t.Fatal(err)
		}
		if len(j.outcomes) != i {
			t.Errorf("%d outcomes, want %d", len(j.outcomes), i)
		}
		if err := j.Commit(t.Context(), want, nil, engine.Outcome{Value: generable.StrOf(want), Attempt: 1}); err != nil {
			t.Error(err)
		}
		if _, err := j.file.WriteAt([]byte(`{"id": "half`), j.end); err != nil {
			t.Error(err)
		}
		if err := j.file.Close(); err != nil {
			t.Error(err)
		}
	}
}
