package conformance

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
)

// durableEnv makes the test binary a process that runs the flows of testdata/durable in the directory that it names,
// and is killed there.
const durableEnv = "AGENTSCRIPT_TEST_DURABLE"

// durableFlows are the flows of testdata/durable/flows.star, and payingFlows those that pay, 50 times each.
var (
	payingFlows  = []string{"paying_0", "paying_1", "paying_2", "paying_3", "paying_4", "paying_5", "paying_6", "paying_7"}
	durableFlows = []string{"sequence", "straight", "fan", "wide", "looped", "turning", "racing", "tools", "tooled", "both", "asked", "asked_at_once", "told",
		"failing", "falling", "noting"}
)

// killsEnv sets how often a process is killed in the tests at full size.
const killsEnv = "AGENTSCRIPT_KILLS"

// kills returns how often a test kills: few in a short run, def at full size, otherwise the number in the environment.
func kills(t *testing.T, short, def int) int {
	t.Helper()
	if testing.Short() {
		return short
	}
	if text := os.Getenv(killsEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return max(n, def)
	}
	return def
}

// worldLog records what the effects of a process did, one line each, and survives its death. The last word of each line
// is the process.
type worldLog struct {
	mu   sync.Mutex
	file *os.File
}

func (l *worldLog) add(words ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.WriteString(strings.Join(append(words, fmt.Sprint(os.Getpid())), "\t") + "\n"); err != nil {
		panic(err)
	}
}

// durableProcess runs all flows to their ends, or until it is killed.
func durableProcess(dir string, flows []string, delay time.Duration) error {
	ctx := context.Background()
	file, err := os.OpenFile(filepath.Join(dir, "world.log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	log := &worldLog{file: file}
	lease := 10 * time.Second
	if text := os.Getenv(durableEnv + "_LEASE"); text != "" {
		if lease, err = time.ParseDuration(text); err != nil {
			return err
		}
	}
	s, err := sqlite.Open(ctx, filepath.Join(dir, "runs.db"), sqlite.Lease(lease))
	if err != nil {
		return err
	}
	paid, err := paidBefore(dir)
	if err != nil {
		return err
	}
	eng := agentscript.New(durableHost(s, log, delay)...)
	mod, err := eng.LoadFile(ctx, "testdata/durable/flows.star")
	if err != nil {
		return err
	}
	log.add("begun", "", "")
	for _, name := range flows {
		if err := s.Steps(ctx, name, 0, func(step engine.Step) error {
			if step.Kind == engine.EffectTool {
				log.add("found", name, step.ID, string(step.State), fmt.Sprint(step.Taken))
			}
			if step.State == engine.StepDone || step.State == engine.StepCaught {
				log.add("recorded", name, step.ID)
			}
			return nil
		}); err != nil && !errors.Is(err, engine.ErrInput) {
			return err
		}
	}
	ends := make(chan error, len(flows))
	for _, name := range flows {
		info, err := s.Run(ctx, name)
		var r *agentscript.Run
		switch {
		case err == nil && info.Status == engine.RunDone:
			ends <- nil
			continue
		case err == nil:
			r = mod.Start(ctx, agentscript.ResumeRun(name))
		case errors.Is(err, engine.ErrInput):
			entry, _, _ := strings.Cut(name, "_")
			if slices.Contains(durableFlows, name) {
				entry = name
			}
			r = mod.StartNamed(ctx, entry, agentscript.ID(name), agentscript.Input(name))
		default:
			return err
		}
		go func() {
			_, err := r.Wait()
			for errors.Is(err, &engine.Error{Code: diag.RunHeld}) { // by a process that is stopped
				pause(ctx, 20*time.Millisecond)
				_, err = mod.Start(ctx, agentscript.ResumeRun(name)).Wait()
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			ends <- err
		}()
	}
	answering, stop := context.WithCancel(ctx)
	defer stop()
	go answerAll(answering, eng, s, flows, paid, log)
	var failed []error
	for range flows {
		failed = append(failed, <-ends)
	}
	return errors.Join(failed...)
}

// durableHost returns the options of a host whose effects record what they did.
func durableHost(s engine.Store, log *worldLog, delay time.Duration) []agentscript.Option {
	models := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		log.add("start", e.Run, e.ID())
		pause(ctx, delay)
		if e.Agent == "broken" {
			return engine.Failed(engine.Errorf(engine.KindRefused, "", "the model refuses"))
		}
		return engine.Outcome{Response: durableAnswer(e.Req.(*model.Request)), Attempt: 1}
	})
	tool := func(name string, class engine.Class) agentscript.Option {
		t := agentscript.HostTool{Do: func(ctx context.Context, call agentscript.ToolCallInfo, args generable.Value) (generable.Value, error) {
			log.add("start", call.Run, call.ID)
			if class == engine.ClassOnce {
				log.add("paid", call.Run, call.ID)
			}
			pause(ctx, delay)
			return generable.StrOf(name + " of " + generable.JSON(args, nil)), nil
		}}
		t.Name, t.Doc, t.Class, t.Returns = name, "Does it.", class, generable.StrT
		t.Params = &generable.Type{Kind: generable.RecordType, Name: name, Fields: []generable.Field{{Name: "what", Type: generable.StrT}}}
		return agentscript.WithTool(t)
	}
	return []agentscript.Option{agentscript.WithStore(s), agentscript.WithModels(models), agentscript.WithDefaultModel("test/model"),
		tool("lookup", engine.ClassRead), tool("put", engine.ClassIdempotent), tool("pay", engine.ClassOnce)}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// durableAnswer answers by the request alone: first with calls of all tools, then with a text.
func durableAnswer(r *model.Request) *model.Response {
	last := r.Messages[len(r.Messages)-1]
	sum := sha256.New()
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			fmt.Fprintf(sum, "%s %s\n", m.Role, p.Text)
			if p.Result != nil {
				fmt.Fprintln(sum, p.Result.Text)
			}
		}
	}
	short := hex.EncodeToString(sum.Sum(nil)[:6])
	if len(r.Tools) == 0 || last.Role != model.RoleUser {
		return &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "said " + short}}}
	}
	out := &model.Response{Finish: model.FinishCalls}
	for i, t := range r.Tools {
		out.Parts = append(out.Parts, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: fmt.Sprint("c", i), Name: t.Name, Args: `{"what": "` + short + `"}`}})
	}
	return out
}

// answerAll answers everything that waits in the store: questions with yes, waits with a word, and unknown payments
// from the books.
func answerAll(ctx context.Context, eng *agentscript.Engine, s engine.Store, flows []string, paid map[string]bool, log *worldLog) {
	for ctx.Err() == nil {
		for _, name := range flows {
			_ = s.Steps(ctx, name, 0, func(step engine.Step) error {
				if step.State != engine.StepWaiting {
					return nil
				}
				a := engine.Answer{Approved: true}
				switch {
				case step.Kind == engine.EffectWait:
					a = engine.Answer{Result: []byte(`"word"`)}
				case step.Kind == engine.EffectTool && paid[name+"\t"+step.ID]:
					a = engine.Answer{Result: []byte(`"pay as the books say"`)}
				case step.Kind == engine.EffectTool:
					a = engine.Answer{Again: true}
				}
				// One that was sent before exists already.
				log.add("answered", name, step.ID, fmt.Sprintf("again %t: %v", a.Again, eng.Signal(ctx, name, step.ID, "", a)))
				return nil
			})
		}
		pause(ctx, 5*time.Millisecond)
	}
}

// world reads the log of all processes so far.
func world(dir string) (lines [][]string, err error) {
	f, err := os.Open(filepath.Join(dir, "world.log"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // it is only read
	for in := bufio.NewScanner(f); in.Scan(); {
		lines = append(lines, strings.Split(in.Text(), "\t"))
	}
	return lines, nil
}

func paidBefore(dir string) (map[string]bool, error) {
	lines, err := world(dir)
	paid := map[string]bool{}
	for _, l := range lines {
		if l[0] == "paid" {
			paid[l[1]+"\t"+l[2]] = true
		}
	}
	return paid, err
}

// TestDurableProcess is the process of the tests that kill it.
func TestDurableProcess(t *testing.T) {
	dir, flows := os.Getenv(durableEnv), durableFlows
	if dir == "" {
		t.Skip("it is begun by the tests that kill it")
	}
	if os.Getenv(durableEnv+"_PAYING") != "" {
		flows = payingFlows
	}
	if err := durableProcess(dir, flows, 3*time.Millisecond); err != nil {
		t.Fatal(err)
	}
}

// durableCommand returns a process that runs the flows.
func durableCommand(dir string, flows []string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestDurableProcess$", "-test.count=1")
	cmd.Env = append(os.Environ(), durableEnv+"="+dir)
	if flows[0] == payingFlows[0] {
		cmd.Env = append(cmd.Env, durableEnv+"_PAYING=1")
	}
	return cmd
}

// durableResults runs the flows in processes that are killed up to the given number of times, and returns the results
// by flow.
func durableResults(t *testing.T, dir string, flows []string, kills int) (results map[string]string, killed int) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for {
		cmd := durableCommand(dir, flows)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		if killed < kills {
			seed = seed*6364136223846793005 + 1442695040888963407
			select {
			case err := <-done:
				if err != nil {
					t.Fatalf("%v\n%s", err, said.String())
				}
			case <-time.After(time.Duration(20+seed>>32%120) * time.Millisecond):
				killed++
				_ = cmd.Process.Kill() // it may have ended
				<-done
				continue
			}
		} else if err := <-done; err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		break
	}
	return resultsIn(t, dir, flows), killed
}

// resultsIn returns the results of the flows in the store of a directory.
func resultsIn(t *testing.T, dir string, flows []string) map[string]string {
	t.Helper()
	s, err := sqlite.Open(hang.Context(t), filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	results := map[string]string{}
	for _, name := range flows {
		info, err := s.Run(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		results[name] = string(info.Status) + " " + info.Text
	}
	return results
}

// Promise 30.43 (durable): after 100 kills at random moments over 16 flows, no recorded effect has run again, and the
// results are equal.
func TestPromise_30_43_KillAnywhere(t *testing.T) {
	want, _ := durableResults(t, t.TempDir(), durableFlows, 0)
	for name, got := range want {
		if !strings.HasPrefix(got, "done ") {
			t.Errorf("%s: %s", name, got)
		}
	}
	most, total := kills(t, 12, 100), 0
	for total < most && !t.Failed() {
		dir := t.TempDir()
		got, killed := durableResults(t, dir, durableFlows, min(most-total, 25))
		total += max(killed, 1)
		for name := range want {
			if got[name] != want[name] && !slices.Contains([]string{"tools", "tooled", "both"}, name) { // the books answer for their payments
				t.Errorf("%s: %s, want %s", name, got[name], want[name])
			}
		}
		t.Logf("%d kills, %d payments", killed, doneOnce(t, dir))
	}
}

// doneOnce reports effects that were recorded and run again, and payments that were made twice. It returns the number
// of payments.
func doneOnce(t *testing.T, dir string) int {
	t.Helper()
	lines, err := world(dir)
	if err != nil {
		t.Fatal(err)
	}
	recorded, paid := map[string]bool{}, map[string]int{}
	for _, l := range lines {
		id := l[1] + " " + l[2]
		switch l[0] {
		case "recorded":
			recorded[id] = true
		case "start":
			if recorded[id] {
				t.Errorf("%s was recorded, and run again", id)
			}
		case "paid":
			if paid[id]++; paid[id] > 1 {
				t.Errorf("%s was paid twice", id)
				for _, l := range lines {
					if l[1]+" "+l[2] == id || l[0] == "begun" {
						t.Log(l)
					}
				}
			}
		}
	}
	return len(paid)
}

// Promise 30.44 (durable): of 400 effects of class once under 1,000 kills, none is carried out twice, and the run asks
// about unknown ones.
func TestPromise_30_44_OnceUnderKills(t *testing.T) {
	most, total := kills(t, 10, 60), 0
	for total < most && !t.Failed() {
		dir := t.TempDir()
		got, killed := durableResults(t, dir, payingFlows, min(most-total, 50))
		total += max(killed, 1)
		for name, result := range got {
			if result != "done 50" {
				t.Errorf("%s: %s", name, result)
			}
		}
		if paid := doneOnce(t, dir); paid != 400 {
			t.Errorf("%d payments, want 400", paid)
		}
	}
	t.Logf("%d kills", total)
}
