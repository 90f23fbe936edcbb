package sqlite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/storetest"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 30.1 (durable): one suite checks every store against the contract and states what is promised after a loss of
// power. The stores in memory and in SQLite pass it.
func TestPromise_30_1_StoreSuite(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		storetest.Run(t, func(*testing.T) engine.Store { return store.NewMemory() })
	})
	t.Run("sqlite", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) engine.Store { return open(t, filepath.Join(t.TempDir(), "runs.db")) })
	})
	for name := range brokenStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := hang.Command(t, os.Args[0], "-test.run=^TestBrokenStore$", "-test.count=1")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("--- FAIL: TestBrokenStore/")) {
				t.Errorf("the suite passes a store that %s: %v\n%s", name, err, out)
			}
		})
	}
	for file, name := range map[string]string{"../storetest/runs.go": "Run", "store.go": "Store", "../memorystore.go": "NewMemory"} {
		said := strings.Join(strings.Fields(docOf(t, file, name)), " ")
		if !strings.Contains(said, "loss of power") && !strings.Contains(said, "lost with the process") {
			t.Errorf("%s in %s does not say what a loss of power leaves: %s", name, file, said)
		}
	}
}

// docOf returns the doc comment of a declaration.
func docOf(t *testing.T, file, name string) (said string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name && d.Recv == nil {
				return d.Doc.Text()
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.Name == name {
					return d.Doc.Text()
				}
			}
		}
	}
	t.Fatalf("%s has no %s", file, name)
	return ""
}

// brokenEnv is the variable that names the broken store which a child process tests with the suite. The suite must
// find its fault.
const brokenEnv = "AGENTSCRIPT_TEST_BROKEN"

// brokenStores each break one promise.
var brokenStores = map[string]func(*broken){
	"drops what was not waited for": func(b *broken) {
		b.put = func(r *brokenRun, s engine.Step, sync bool) error {
			if !sync {
				return nil
			}
			return r.OpenRun.Put(context.Background(), s, sync)
		}
	},
	"writes what was not waited for later": func(b *broken) {
		b.put = func(r *brokenRun, s engine.Step, sync bool) error {
			if !sync {
				r.late = append(r.late, s)
				return nil
			}
			err := r.OpenRun.Put(context.Background(), s, sync)
			for _, s := range r.late {
				err = errors.Join(err, r.OpenRun.Put(context.Background(), s, true))
			}
			r.late = nil
			return err
		}
	},
	"lets a former owner write": func(b *broken) {
		b.put = func(r *brokenRun, s engine.Step, sync bool) error {
			err := r.OpenRun.Put(context.Background(), s, sync)
			if errors.Is(err, &engine.Error{Code: diag.RunLost}) {
				err = b.latest(r.Info().ID).Put(context.Background(), s, sync)
			}
			return err
		}
	},
	"takes runs from owners that live": func(b *broken) { b.robs = true },
	"changes bytes": func(b *broken) {
		b.put = func(r *brokenRun, s engine.Step, sync bool) error {
			s.Outcome = json.RawMessage(strings.ToValidUTF8(string(s.Outcome), "?"))
			return r.OpenRun.Put(context.Background(), s, sync)
		}
	},
	"keeps a signal twice":      func(b *broken) { b.repeats = true },
	"does not say why to stop":  func(b *broken) { b.mute = true },
	"removes nothing":           func(b *broken) { b.hoards = true },
	"forgets how a run ended":   func(b *broken) { b.forgets = true },
	"keeps bundles for nothing": func(b *broken) { b.bundles = true },
}

// TestBrokenStore runs the suite in the child process; it must fail.
func TestBrokenStore(t *testing.T) {
	how := brokenStores[os.Getenv(brokenEnv)]
	if how == nil {
		t.Skip("it is begun by the test of the suite")
	}
	storetest.Run(t, func(*testing.T) engine.Store {
		b := &broken{MemoryStore: store.NewMemory(), open: map[string]engine.OpenRun{}, kept: map[string]engine.Bundle{}}
		how(b)
		return b
	})
}

// broken is a store in memory with a fault.
type broken struct {
	*store.MemoryStore
	put                                           func(*brokenRun, engine.Step, bool) error
	robs, repeats, mute, hoards, forgets, bundles bool

	mu   sync.Mutex
	open map[string]engine.OpenRun
	kept map[string]engine.Bundle
}

type brokenRun struct {
	engine.OpenRun
	b    *broken
	late []engine.Step
}

func (b *broken) latest(id string) engine.OpenRun {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open[id]
}

func (b *broken) opened(id string, r engine.OpenRun, err error) (engine.OpenRun, error) {
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[id] = r
	return &brokenRun{OpenRun: r, b: b}, nil
}

func (b *broken) CreateRun(ctx context.Context, head engine.RunHead, by engine.Owner) (engine.OpenRun, error) {
	r, err := b.MemoryStore.CreateRun(ctx, head, by)
	return b.opened(head.ID, r, err)
}

func (b *broken) TakeRun(ctx context.Context, id string, by engine.Owner) (engine.OpenRun, error) {
	if b.robs && b.latest(id) != nil {
		b.MemoryStore.Expire(id)
	}
	r, err := b.MemoryStore.TakeRun(ctx, id, by)
	return b.opened(id, r, err)
}

func (b *broken) Signal(ctx context.Context, id string, s engine.Signal) (engine.Signal, error) {
	if b.repeats {
		s.Dedup = ""
	}
	return b.MemoryStore.Signal(ctx, id, s)
}

func (b *broken) DeleteRun(ctx context.Context, id string) error {
	if b.hoards {
		return nil
	}
	return b.MemoryStore.DeleteRun(ctx, id)
}

func (b *broken) PutBundle(ctx context.Context, hash string, bundle engine.Bundle) error {
	b.mu.Lock()
	b.kept[hash] = bundle
	b.mu.Unlock()
	return b.MemoryStore.PutBundle(ctx, hash, bundle)
}

func (b *broken) Bundle(ctx context.Context, hash string) (engine.Bundle, error) {
	found, err := b.MemoryStore.Bundle(ctx, hash)
	b.mu.Lock()
	defer b.mu.Unlock()
	if kept, ok := b.kept[hash]; ok && b.bundles {
		return kept, nil
	}
	return found, err
}

func (r *brokenRun) Put(ctx context.Context, s engine.Step, sync bool) error {
	if r.b.put == nil {
		return r.OpenRun.Put(ctx, s, sync)
	}
	return r.b.put(r, s, sync)
}

func (r *brokenRun) End(ctx context.Context, e engine.RunEnd) error {
	if r.b.forgets {
		e.Result = nil
	}
	return r.OpenRun.End(ctx, e)
}

func (r *brokenRun) Err() error {
	if r.b.mute {
		return nil
	}
	return r.OpenRun.Err()
}
