package cassette

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/runfile"
)

// Cache answers model calls from a directory of answers, and asks the models for those that are not there. The
// answers to a request are numbered by how often a run has made it: the second time returns the second answer, so
// that a repeated request gets a new answer. Failures are not kept. An answer from the cache has no usage.
type Cache struct {
	dir    string
	models engine.Handler
	redact func(string) string

	mu     sync.Mutex
	counts map[string]map[string]int // by run and key
	runs   []string                  // in the order of their first calls
}

var _ engine.Handler = (*Cache)(nil)

// keptRuns is the maximum number of runs whose calls are counted at the same time.
const keptRuns = 1024

// halfSuffix ends the names of files that are being written.
const halfSuffix = ".new"

// NewCache returns models behind a cache in a directory, and creates the directory. What redact removes from a text
// is not written; see [Record].
func NewCache(dir string, models engine.Handler, redact func(string) string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil { // prompts and answers are for the user only
		return nil, fmt.Errorf("the cache cannot be made: %w", err)
	}
	disk.SweepAll(dir, halfSuffix) // left by processes that were killed
	return &Cache{dir: dir, models: models, redact: redact, counts: map[string]map[string]int{}}, nil
}

// Do implements [engine.Handler].
func (c *Cache) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	if req, is := e.Req.(*model.Request); !is || req == nil {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.ProviderError, "a model effect of %q carries %T, not a model request", e.Agent, e.Req))
	}
	asked, err := journal.StepOf(e.ID(), e)
	if err != nil {
		return c.broken(e, err, model.Usage{})
	}
	file := filepath.Join(c.dir, fmt.Sprintf("%s-%d.json", strings.NewReplacer("/", "_", ":", "_", "\\", "_").Replace(asked.Key), c.count(e.Run, asked.Key)))
	data, err := disk.ReadRegular(file)
	if err == nil {
		if known := answered(data, asked.Key); known != nil {
			return replay(e, sink, engine.Outcome{Response: known, Attempt: 1})
		}
		err = fs.ErrNotExist // of an older version, or damaged: ask again and replace it
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return c.broken(e, err, model.Usage{})
	}
	out := c.models.Do(ctx, e, sink)
	if out.Err != nil || out.Response == nil {
		return out
	}
	out.Response = out.Response.Valid()
	asked.State, asked.Usage = engine.StepDone, out.Usage
	asked.Outcome, err = out.MarshalJSON()
	var line []byte
	if err == nil {
		line, err = runfile.EncodeStep(asked, c.redact)
	}
	if err == nil {
		err = disk.Replace(file, file+"."+rand.Text()+halfSuffix, line)
	}
	if err != nil {
		return c.broken(e, err, out.Usage)
	}
	return out
}

// answered returns the model's answer in a file, or nil if the file does not answer the request.
func answered(data []byte, key string) *model.Response {
	s, err := runfile.DecodeStep(data)
	if err != nil || s.Key != key || s.State != engine.StepDone {
		return nil
	}
	known, err := newRow(s, 1)
	if err != nil {
		return nil
	}
	return known.outcome.Response
}

func (c *Cache) broken(e *engine.Effect, err error, used model.Usage) engine.Outcome {
	failed := engine.Errorf(engine.KindStore, diag.JournalFailed, "the cache of model answers fails at a call of agent %q: %w", e.Agent, err).
		WithHelp("see that %s can be read and written, or run without the cache", c.dir)
	failed.Usage = used
	return engine.Failed(failed)
}

// count returns how often a run has made a call, including this time.
func (c *Cache) count(run, key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts[run]
	if counts == nil {
		if len(c.runs) == keptRuns {
			delete(c.counts, c.runs[0])
			c.runs = c.runs[1:]
		}
		counts = map[string]int{}
		c.counts[run] = counts
		c.runs = append(c.runs, run)
	}
	counts[key]++
	return counts[key]
}
