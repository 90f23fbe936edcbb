package testverb

import (
	"context"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

// keysHelp says what the keys do.
const keysHelp = `a  run all tests
f  run those that failed last
u  run all tests, and store their snapshots as they are now
p  run those of a name, now and whenever a file changes
q  quit
`

// keys handles the keys that a person presses while tests are watched.
type keys struct {
	c     *term.Console
	board term.Keyboard
	quit  context.CancelFunc
	stop  chan struct{}
	over  sync.WaitGroup

	mu     sync.Mutex
	asked  byte   // what to run next: a, f, u or p; 0 for what a change affects
	run    string // the names of the tests to run, as for --run
	ended  bool   // ended with q
	typing bool   // a name is being typed
	typed  []byte
}

// readKeys starts to read keys if a person can press any, and otherwise returns nil. quit ends the verb.
func readKeys(ctx context.Context, c *term.Console, run string, quit context.CancelFunc) *keys {
	if !c.StdinTerminal || !c.StderrTerminal || c.Keyboard == nil {
		return nil
	}
	k := &keys{c: c, board: c.Keyboard(), run: run, quit: quit, stop: make(chan struct{})}
	if k.board == nil {
		return nil
	}
	k.board.Take()
	c.Draw(k)
	k.over.Go(func() { k.read(ctx) })
	return k
}

// close restores the terminal. It reports whether the person quit.
func (k *keys) close() (quit bool) {
	if k == nil {
		return false
	}
	close(k.stop)
	k.over.Wait()
	k.c.Draw(nil)
	k.board.Leave()
	return k.ended
}

func (k *keys) read(ctx context.Context) {
	if k.c.OnSuspend != nil {
		defer k.c.OnSuspend(k.board.Leave, k.board.Take)()
	}
	var pressed [64]byte
	for {
		n := k.board.Read(pressed[:])
		select {
		case <-k.stop:
			return
		case <-ctx.Done():
			return
		default:
			k.press(pressed[:n])
		}
	}
}

// press handles the bytes of keys.
func (k *keys) press(pressed []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range arrows().ReplaceAll(pressed, nil) {
		if k.typing {
			k.letter(key)
			continue
		}
		switch key {
		case 'a', 'f', 'u':
			k.asked = key
		case 'p':
			k.typing, k.typed = true, nil
			k.say("tests to run, a name or a regular expression; empty for all: ")
		case 'q':
			k.ended = true
			k.quit()
		case '?':
			k.say(keysHelp)
		}
	}
}

// arrows matches keys that a terminal sends as several bytes. None of them has a function here.
var arrows = lazy.Regexp(`\x1b(\[[0-9;?]*[@-~]|O.)`)

// letter handles a key of a name being typed. Escape restores the previous name.
func (k *keys) letter(key byte) {
	switch {
	case key == '\r' || key == '\n':
		k.typing, k.asked, k.run = false, 'p', string(k.typed)
		k.say("\n")
	case key == '\x1b':
		k.typing = false
		k.say("\n")
	case key == '\b' || key == '\x7f':
		if n := len(k.typed); n > 0 {
			_, size := utf8.DecodeLastRune(k.typed)
			k.typed = k.typed[:n-size]
			k.say("\b \b")
		}
	case key >= ' ':
		k.typed = append(k.typed, key)
		k.say(string([]byte{key}))
	}
}

func (k *keys) say(s string) {
	_, _ = io.WriteString(k.c.Stderr, s) // if the terminal fails, there is nowhere to report it
}

// again reports whether a key requests a run of the tests.
func (k *keys) again() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked != 0
}

// hint lists the keys, for the line about what is watched.
func (k *keys) hint() string {
	if k == nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.run != "" {
		return fmt.Sprintf("; tests that match %s; ? lists the keys", text.Quote(k.run))
	}
	return "; ? lists the keys"
}

// takes makes the next round run what was requested. It reports whether that is more than what a change affects.
func (k *keys) takes(o *options) (all bool) {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	asked := k.asked
	k.asked, o.run = 0, k.run
	o.failed, o.update = o.failed || asked == 'f', o.update || asked == 'u'
	return asked != 0
}

// Hide implements [term.Display]: a question is asked.
func (k *keys) Hide() { k.board.Leave() }

// Show implements [term.Display].
func (k *keys) Show(keys bool) {
	if keys {
		k.board.Take()
	}
}

// Leave implements [term.Display].
func (k *keys) Leave() { k.board.Leave() }
