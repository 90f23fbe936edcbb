package testrun

import (
	"os"
	"path/filepath"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/grant"
)

// directory is the directory of a test, which its run may read and write. Runs of one test that are compared share its
// path, since their requests to models and to the outside, and therefore the ids of these, may contain it. Each run
// finds it empty.
type directory struct {
	path   string            // "" until the test requests it
	grants capability.Grants // for the run, nil until it asks
	keep   bool              // another run may follow
}

// Dir returns the directory of the test.
func (c *testCase) Dir() (string, *engine.Error) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	d := c.dir
	if d.grants != nil {
		return d.path, nil
	}
	if d.path == "" {
		path, err := os.MkdirTemp("", "agentscript-test-")
		if err != nil {
			return "", engine.Errorf(engine.KindTest, diag.BadTest, "no directory can be made: %w", err)
		}
		d.path = path
	}
	grants, err := grant.New(grant.FS(d.path, grant.ReadWrite))
	if err != nil {
		return "", engine.AsError(err)
	}
	d.grants = grants
	return d.path, nil
}

// inDir returns the handler of an operation on files in the directory of the test, or nil for any other operation.
func (w *world) inDir(r *capability.Request) engine.Handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir.grants == nil {
		return nil
	}
	at, _ := r.Args.Get("path")
	name, ok := at.AsStr()
	if !ok {
		return nil
	}
	rel, err := filepath.Rel(w.dir.path, filepath.FromSlash(name))
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	return w.dir.grants
}

// close releases what a run opened outside. Nothing is written by then.
func (w *world) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.dir
	if c, ok := d.grants.(interface{ Close() error }); ok {
		_ = c.Close()
	}
	d.grants = nil
	if !d.keep {
		d.remove()
		return
	}
	d.clear()
}

// clear removes everything in the directory.
func (d *directory) clear() {
	if d.path == "" {
		return
	}
	entries, _ := os.ReadDir(d.path)
	for _, e := range entries {
		_ = os.RemoveAll(filepath.Join(d.path, e.Name())) // what cannot be removed stays in the directory for temporary files
	}
}

// remove removes the directory.
func (d *directory) remove() {
	if d.path != "" {
		_ = os.RemoveAll(d.path) // what cannot be removed stays in the directory for temporary files
	}
}
