package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
)

// childEnv makes this binary a process that writes to a store.
const childEnv = "AGENTSCRIPT_TEST_CHILD"

func TestMain(m *testing.M) {
	children := map[string]func(*sqlite.Store, string) error{"flows": flows, "hold": hold}
	if child := children[os.Getenv(childEnv)]; child != nil {
		s, err := sqlite.Open(context.Background(), os.Args[1], sqlite.Lease(lease))
		if err == nil {
			err = errors.Join(child(s, os.Args[2]), s.Close())
		}
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// lease is the lease of child processes. It is long enough for a loaded machine.
const lease = 2 * time.Second

// perFlow is how many steps a flow of a child has.
const perFlow = 100

// flows takes or creates 16 runs and writes steps to all of them at once, up to perFlow each. It reports each step
// that it waited for as soon as the step is written.
func flows(s *sqlite.Store, name string) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	out := bufio.NewWriter(os.Stdout)
	var failed error
	for f := range 16 {
		all.Go(func() {
			id := fmt.Sprint(name, f)
			err := flow(s, id, func(step int) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintln(out, "wrote", id, step)
				out.Flush()
			})
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	all.Wait()
	return failed
}

func flow(s *sqlite.Store, id string, wrote func(step int)) error {
	ctx := context.Background()
	r, err := s.TakeRun(ctx, id, engine.Owner{})
	if errors.Is(err, &engine.Error{Code: diag.RunNotFound}) {
		r, err = s.CreateRun(ctx, engine.RunHead{ID: id}, engine.Owner{})
	}
	if err != nil {
		return err
	}
	for i := r.Info().Steps; i < perFlow; i++ {
		st := answered(i)
		st.ID = fmt.Sprint("step", i)
		sync := i%3 != 0 // a later step that is waited for vouches for it
		if err := r.Put(ctx, st, sync); err != nil {
			return err
		}
		if sync {
			wrote(i)
		}
	}
	return r.End(ctx, engine.RunEnd{Status: engine.RunDone})
}

// hold creates a run, and writes a step for each line that it reads: without waiting for "lazy". "end" ends the run.
func hold(s *sqlite.Store, id string) error {
	ctx := context.Background()
	r, err := s.CreateRun(ctx, engine.RunHead{ID: id}, engine.Owner{Name: "holder"})
	if err != nil {
		return err
	}
	fmt.Println("holds")
	go func() {
		<-r.Done()
		fmt.Println("stop", r.Err())
	}()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		word := in.Text()
		if word == "end" {
			err = r.End(ctx, engine.RunEnd{Status: engine.RunDone})
		} else {
			err = r.Put(ctx, engine.Step{ID: word, State: engine.StepDone}, word != "lazy")
		}
		fmt.Println("put", word, err)
	}
	return r.Close()
}

// child is a process that writes to a store, and its output.
type child struct {
	*exec.Cmd
	in  interface{ Write([]byte) (int, error) }
	out *bufio.Scanner
}

func start(t *testing.T, what, path, name string) *child {
	t.Helper()
	cmd := hang.Command(t, os.Args[0], path, name)
	cmd.Env = append(os.Environ(), childEnv+"="+what)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // in case the test has failed
	return &child{cmd, in, bufio.NewScanner(out)}
}

// says returns the child's next line that begins with prefix.
func (c *child) says(t *testing.T, prefix string) string {
	t.Helper()
	for c.out.Scan() {
		if strings.HasPrefix(c.out.Text(), prefix) {
			return c.out.Text()
		}
	}
	t.Fatalf("the child ended without saying %q: %v", prefix, c.Wait())
	return ""
}

// kill ends the child.
func (c *child) kill(t *testing.T) (said []string) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	said, _ = c.wait() // it was killed
	return said
}

// wait returns the rest of the child's output, once the child has ended.
func (c *child) wait() (said []string, err error) {
	for c.out.Scan() {
		said = append(said, c.out.Text())
	}
	return said, c.Wait()
}
