package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/temporal"
	"github.com/agentscript/agentscript/temporal/blob"
)

// workerEnv makes the test binary act as a worker: it holds a job.
const workerEnv = "AGENTSCRIPT_E2E_WORKER"

// job configures a worker process.
type job struct {
	Address, Queue string
	Blobs          string // a directory
	World          string // the file in which effects record when they begin and end
	Name           string
	Events         int
	Sticky         int // workflows that are cached in memory
	Longest        time.Duration
	Inline         int             // values of up to this many bytes stay in the history
	Stream         string          // a file of pieces; "": nobody receives what models write
	Env            bool            // the variable WORKER is granted
	Find           time.Duration   // how long a run looks for a worker that has what others lack
	Slots          int             // effects that a worker carries out at once
	Lacks          string          // the tool that it does not have, or "model"
	Type           string          // the type of the workflows that it takes, for a worker of another ABI
	Secret         string          // a secret that must not leave its models
	Flows          bool            // it carries out workflows only
	Effects        bool            // it carries out effects only
	Sessions       string          // the file of sessions; "": no sessions
	Key            byte            // of the codec; 0: no codec
	Doubles        []double        // models of runs with prepared answers
	Local          string          // the store of a run that it carries out itself, without a server
	Args           json.RawMessage // of that run
}

// piece is a piece of an answer.
type piece struct {
	Run, Step, Text string
	Attempt         int
}

// options returns the options of the workers and clients of the job.
func (j *job) options() temporal.Options {
	o := temporal.Options{TaskQueue: j.Queue, Blobs: failingStore{blob.Dir(j.Blobs), j.Blobs + ".fail"}, Heartbeat: 2 * time.Second, Events: j.Events, Inline: j.Inline, Longest: j.Longest, FindWorker: j.Find, Settings: settings}
	if j.Key != 0 {
		o.Codec = scrambler(j.Key)
	}
	if j.Stream != "" {
		o.Stream = func(p temporal.Piece) { appendLine(j.Stream, piece{p.Run, p.Step, p.Text, p.Attempt}) }
	}
	return o
}

// settings turns the settings of a run into its limits.
func settings(_ engine.RunHead, text json.RawMessage) ([]agentscript.RunOption, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var set struct{ Calls, Steps int64 }
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	l := engine.Limits{}
	if set.Calls > 0 {
		l.ModelCalls = engine.AtMost(set.Calls)
	}
	if set.Steps > 0 {
		l.Steps = engine.AtMost(set.Steps)
	}
	return []agentscript.RunOption{agentscript.RunLimits(l)}, nil
}

// failingStore is a blob store that fails while a file exists.
type failingStore struct {
	blob.Store
	file string
}

func (f failingStore) Put(ctx context.Context, key string, data []byte) error {
	if _, err := os.Stat(f.file); err == nil {
		return errors.New("no room")
	}
	return f.Store.Put(ctx, key, data)
}

func (f failingStore) Get(ctx context.Context, key string) ([]byte, error) {
	if _, err := os.Stat(f.file); err == nil {
		return nil, errors.New("not reached")
	}
	return f.Store.Get(ctx, key)
}

// scrambler is a codec that makes every text illegible.
type scrambler byte

func (s scrambler) Encode(data []byte) ([]byte, error) {
	out := make([]byte, len(data))
	for i, b := range data {
		out[i] = b ^ byte(s) ^ byte(i)
	}
	return out, nil
}

func (s scrambler) Decode(data []byte) ([]byte, error) { return s.Encode(data) }

func TestMain(m *testing.M) {
	if text := os.Getenv(workerEnv); text != "" {
		if err := work(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	stopServer()
	os.Exit(code)
}

func work(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	if j.Local != "" {
		return runLocally(&j)
	}
	c, err := client.Dial(client.Options{HostPort: j.Address, Logger: logger()})
	if err != nil {
		return err
	}
	defer c.Close()
	if j.Sticky >= 0 {
		worker.SetStickyWorkflowCacheSize(j.Sticky)
	}
	if j.Type != "" {
		temporal.Workflow = j.Type
	}
	_ = os.Setenv("WORKER", j.Name) // it does not fail
	o := j.options()
	if j.Sessions != "" {
		sessions, err := sqlite.Open(context.Background(), j.Sessions)
		if err != nil {
			return err
		}
		o.Sessions = sessions
	}
	made := recordingEngine(&j)
	if j.Doubles != nil {
		if made, err = preparedEngine(j.Doubles); err != nil {
			return err
		}
	}
	w, err := temporal.NewWorker(c, made, o, worker.Options{StickyScheduleToStartTimeout: time.Second, MaxConcurrentActivityExecutionSize: j.Slots, Identity: j.Name, LocalActivityWorkerOnly: j.Flows, DisableWorkflowWorker: j.Effects})
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	<-worker.InterruptCh()
	w.Stop()
	return nil
}

// logger returns the log of a worker. It writes only if AGENTSCRIPT_E2E_LOG is set.
func logger() log.Logger {
	if os.Getenv("AGENTSCRIPT_E2E_LOG") == "" {
		return log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	}
	return log.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, nil)))
}
