package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/bench/internal/measure"
)

// outcome is the result of decoding one text once in a separate process. Some decoders crash on some texts, and some do
// not terminate.
type outcome struct {
	CPU   time.Duration `json:"cpu_ns"`
	Err   string        `json:"error"` // the decoder's error
	Score score         `json:"score"`
	Heap  float64       `json:"heap"` // from weigh: the peak of live bytes per byte of the text
	Died  string        `json:"-"`    // how the process ended, unless it exited by itself
	Over  bool          `json:"-"`    // it was stopped at the time limit

	Value json.RawMessage `json:"value,omitempty"` // Node's result, which reap judges
}

// probe decodes a text with an engine in another process, which is stopped after limit. If the document has no whole
// items, the value is not checked.
func (b *bench) probe(e *engine, d *document, limit time.Duration) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if e.node {
		return reap(ctx, b.node.command(ctx, "once", e.name, d.file, strconv.FormatBool(d.whole > 0)), d)
	}
	return reap(ctx, b.again(ctx, e, d), d)
}

// weigh is like probe, but measures the heap that an engine needs, with stacks limited to stackLimit: a larger stack
// ends the process.
func (b *bench) weigh(e *engine, d *document, limit time.Duration) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := b.again(ctx, e, d, "-weigh")
	cmd.Env = append(cmd.Env, heapEnv)
	return reap(ctx, cmd, d)
}

// again returns the command that runs this program as a child.
func (b *bench) again(ctx context.Context, e *engine, d *document, more ...string) *exec.Cmd {
	args := append([]string{"-child", e.name, "-file", d.file, "-variant", d.variant, "-items", strconv.Itoa(d.whole)}, more...)
	cmd := exec.CommandContext(ctx, b.self, args...)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	return cmd
}

// reap runs a child and reads its output, or how it ended.
func reap(ctx context.Context, cmd *exec.Cmd, d *document) outcome {
	var complaint strings.Builder
	cmd.Stderr = &complaint
	cmd.WaitDelay = time.Second
	printed, err := cmd.Output()
	var o outcome
	switch {
	case ctx.Err() != nil:
		o.Over = true
	case err != nil:
		o.Died = firstLine(complaint.String())
		if o.Died == "" {
			o.Died = err.Error()
		}
	default:
		if err := json.Unmarshal(printed, &o); err != nil {
			o.Died = "unreadable answer: " + err.Error()
		}
	}
	if o.Err == "" && o.Value != nil {
		var v any
		if err := json.Unmarshal(o.Value, &v); err == nil {
			o.Score = judge(v, d.whole, d.variant == broken)
		}
		o.Value = nil
	}
	return o
}

// says describes a failure in a few words. It returns "" for a result.
func (o outcome) says(limit time.Duration) string {
	switch {
	case o.Over:
		return fmt.Sprintf("over %v", limit)
	case o.Died != "":
		return "died: " + shorten(o.Died)
	case o.Err != "":
		return "error: " + shorten(o.Err)
	}
	return ""
}

// childEnv marks a process that probe started, for the program of a test.
const childEnv = "AGENTSCRIPT_BENCH_CHILD"

// childMemory is the most memory that a child may map.
const childMemory = 8 << 30

// child is the child's side of probe and weigh, for Go engines.
func child(name, file, variant string, items int, weigh bool, stdout io.Writer) error {
	if err := limitMemory(childMemory); err != nil {
		return err
	}
	e, err := engineNamed(name)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	d := &document{variant: variant, raw: raw, text: string(raw), whole: items}
	var o outcome
	if weigh {
		debug.SetMaxStack(stackLimit)
		o.Heap = peakHeap(d, e.decode)
		return json.NewEncoder(stdout).Encode(o)
	}
	runtime.GOMAXPROCS(1)
	start := measure.CPU()
	v, err := e.decode(d)
	o.CPU = measure.CPU() - start
	if err != nil {
		o.Err = firstLine(err.Error())
	} else if items > 0 {
		o.Score = judge(v, items, variant == broken)
	}
	return json.NewEncoder(stdout).Encode(o)
}

func engineNamed(name string) (*engine, error) {
	t, err := catalogueType()
	if err != nil {
		return nil, err
	}
	for _, e := range allEngines(t) {
		if e.name == name && e.decode != nil {
			return e, nil
		}
	}
	return nil, errors.New("no engine is called " + strconv.Quote(name))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

func shorten(s string) string {
	const most = 48
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
