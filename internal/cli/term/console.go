package term

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
)

// Console is one execution of the command line: a process, and its output.
type Console struct {
	*Process
	Defaults map[string]string // values of flags that were not given, and where they come from, by flag
	JSON     bool              // diagnostics and prints are JSON lines
	Reloaded bool              // the script is loaded again: what it prints was already written
	prompter *prompter         // asks the person at the terminal; nil without one
	ReadOnce map[string]string // contents of files that can be read only once
	hidden   hidden            // keys that are never shown
	Talk     sync.Mutex        // held while writing to or asking at the terminal during a run
	// ReadLine reads a typed line if something else also reads the terminal; may be nil.
	ReadLine func(ctx context.Context) (string, error)
	display  atomic.Pointer[Display]
	owed     atomic.Pointer[<-chan struct{}]
}

// Display draws on the terminal during a run.
type Display interface {
	Hide()          // releases the terminal to others
	Show(keys bool) // draws again, and reads keys unless something else still reads them
	Leave()         // restores the terminal at once, from any goroutine
}

// Draw sets the display that draws on the terminal, nil for none.
func (c *Console) Draw(d Display) {
	if d == nil {
		c.display.Store(nil)
		return
	}
	c.display.Store(&d)
}

// Alone gives the caller exclusive use of the terminal until done is called: nothing else writes to it, and no key is
// read.
func (c *Console) Alone() (done func()) {
	c.Talk.Lock()
	show := c.aside()
	return func() {
		show()
		c.Talk.Unlock()
	}
}

// aside is Alone for callers that hold Talk.
func (c *Console) aside() (show func()) {
	d := c.display.Load()
	if d == nil {
		return func() {}
	}
	(*d).Hide()
	return func() { (*d).Show(c.prompter == nil || !c.prompter.reading) }
}

// Report writes diagnostics to stderr: rendered, or as one JSON line if JSON was requested. If stderr fails, that
// cannot be reported anywhere.
func (c *Console) Report(found diag.List, sources diag.Sources) {
	if len(found) == 0 {
		return
	}
	found = c.Sourced(found)
	var said strings.Builder
	if c.JSON {
		_ = diag.JSON(&said, found)
		_, _ = io.WriteString(c.JSONOut(), c.Hidden(said.String()))
		return
	}
	if sources != nil { // a line may be cut at a key
		whole := sources
		sources = diag.SourceFunc(func(file string) (string, bool) {
			text, ok := whole.Source(file)
			return c.Hidden(text), ok
		})
	}
	_ = diag.Render(&said, found, sources, diag.Options{Color: c.Color(), Width: c.width(), NoSummary: len(found) == 1})
	_, _ = io.WriteString(c.Stderr, c.Hidden(said.String()))
}

// Sourced returns diagnostics in which a remedy that names a flag says where its value comes from, if the flag was not
// given.
func (c *Console) Sourced(found diag.List) diag.List {
	if len(c.Defaults) == 0 {
		return found
	}
	all := slices.Clone(found)
	for i, d := range all {
		for _, flag := range slices.Sorted(maps.Keys(c.Defaults)) {
			if slices.ContainsFunc(d.Help, func(help string) bool { return names(help, flag) }) {
				own := *all[i]
				own.Help = append(slices.Clone(own.Help), c.Defaults[flag])
				all[i] = &own
			}
		}
	}
	return all
}

// names reports whether a text names a flag.
func names(text, flag string) bool {
	_, after, found := strings.Cut(text, "--"+flag)
	return found && (after == "" || !strings.ContainsAny(after[:1], "-abcdefghijklmnopqrstuvwxyz"))
}

// Print writes a result and a newline to stdout.
func (c *Console) Print(text string) error {
	if err := c.Write(text + "\n"); err != nil {
		return c.Unwritten(err)
	}
	return nil
}

// Write writes to stdout, with keys removed.
func (c *Console) Write(text string) error {
	_, err := io.WriteString(c.Stdout, c.Hidden(text))
	return err
}

// PrintAs writes a result to stdout: as indented JSON if requested, otherwise as text for people.
func (c *Console) PrintAs(asJSON bool, v any, text func() string) error {
	if !asJSON {
		return c.Print(text())
	}
	indented, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return c.Print(string(indented))
}

// Table formats cells in columns, gap blanks apart. The cells of a line end with tabs.
func Table(gap int, write func(w io.Writer)) string {
	var b strings.Builder
	write(&b)
	return columns(strings.TrimRight(b.String(), "\n"), gap)
}

// Unwritten returns the failure of a result that did not reach stdout.
//
//go:noinline
func (c *Console) Unwritten(err error) error {
	return &Failure{Code: ExitFailed, Found: diag.List{{Message: "the result could not be written: " + FileProblem(err)}}}
}

// TextWidth returns the width of running text.
func (c *Console) TextWidth() int {
	if w := c.width(); w >= 40 {
		return min(w, 100)
	}
	return 80
}

// Owes keeps a second interrupt from ending the process before done is called, because what the first one requests must
// reach others. The caller ensures that this takes no longer than a person would wait.
func (c *Console) Owes() (done func()) {
	over := make(chan struct{})
	owed := (<-chan struct{})(over)
	c.owed.Store(&owed)
	return sync.OnceFunc(func() {
		c.owed.CompareAndSwap(&owed, nil)
		close(over)
	})
}

// Interruptible returns a context that the first interrupt cancels, and a function that releases it. The
// second interrupt ends the process, in case something does not stop.
func (c *Console) Interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	interrupts, stop := c.Signals()
	done := make(chan struct{})
	go func() {
		kill := func() {
			if owed := c.owed.Load(); owed != nil {
				<-*owed
			}
			if d := c.display.Load(); d != nil {
				(*d).Leave()
			}
			c.Kill(ExitInterrupted)
		}
		for _, end := range []func(){cancel, kill} {
			select {
			case <-interrupts:
				end()
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		close(done)
		stop()
		cancel()
	}
}
