package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"

	"github.com/reeflective/readline"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/cli/tty"
)

// terminal reads what a person types.
type terminal struct {
	shell   *readline.Shell
	history *history // nil if there is none
	session *session
	over    chan struct{} // closed when the session ends
	restore func()        // restores the terminal

	mu      sync.Mutex
	reading bool // the line editor is using the terminal
	ended   bool // a signal ends the session after the current entry
}

const (
	prompt = "> "
	behind = "│ "
)

func newTerminal(s *session) (input, error) {
	t := &terminal{shell: readline.NewShell(), session: s, over: make(chan struct{}), restore: tty.Mode(os.Stdin)}
	t.attend()
	t.shell.Prompt.Primary(func() string { return prompt })
	t.shell.Prompt.Secondary(func() string { return behind })
	for option, value := range map[string]any{"enable-bracketed-paste": true, "multiline-column": true, "history-autosuggest": false,
		"input-meta": true, "output-meta": true, "convert-meta": false, "cursor-position-probe": false} {
		_ = t.shell.Config.Set(option, value) // the options exist
	}
	t.bind()
	t.shell.SyntaxHighlighter = t.room
	t.shell.AcceptMultiline = func(line []rune) bool { return complete(string(line)) }
	t.shell.Completer = func(line []rune, cursor int) readline.Completions {
		before := string(line[:cursor])
		all, prefix := s.complete(string(line), len(before))
		return menu(all, before, prefix)
	}
	var err error
	if t.history, err = openHistory(s.c, s.dir); err != nil {
		s.c.Report(diag.List{{Severity: diag.Warning, Message: "entries are not kept: " + err.Error()}}, nil)
		return t, nil
	}
	t.shell.History.Delete()
	t.shell.History.Add("entries", nothingWritten{t.history})
	s.c.ReadLine = t.answer
	return t, nil
}

// nothingWritten is the history for the line editor, which would write entries only when they have been evaluated.
type nothingWritten struct{ *history }

func (n nothingWritten) Write(string) (int, error) { return n.Len(), nil }

func (t *terminal) interactive() bool { return true }

func (t *terminal) close() { close(t.over) }

// attend handles signals during the session. Ctrl-C interrupts the current run, and is ignored between entries. Any
// other signal that ends a process ends the session, after the current entry.
func (t *terminal) attend() {
	signals, stop := t.session.c.Signals()
	go func() {
		defer stop()
		for {
			select {
			case sig := <-signals:
				if sig != os.Interrupt {
					t.end()
				}
			case <-t.over:
				return
			}
		}
	}()
}

// end ends the session.
func (t *terminal) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended = true; t.reading {
		_, _ = os.Stdout.WriteString(asBefore + "\r\n") // the terminal may be closed
		t.restore()
		t.session.close()
		t.session.c.Kill(term.ExitInterrupted)
	}
}

// asBefore makes the terminal paste texts as if they were typed, and show its cursor, which the line editor hides while
// it draws.
const asBefore = "\x1b[?2004l\x1b[?25h"

// read reads a line, unless the session has ended.
func (t *terminal) read() (string, error) {
	t.mu.Lock()
	ended := t.ended
	t.reading = !ended
	t.mu.Unlock()
	if ended {
		return "", &term.Failure{Code: term.ExitInterrupted}
	}
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.reading = false
	}()
	return t.shell.Readline()
}

func (t *terminal) next() (string, error) {
	line, err := t.read()
	switch {
	case errors.Is(err, readline.ErrInterrupt):
		return "", errInterrupted
	case errors.Is(err, io.EOF):
		return "", errEnded
	case err != nil:
		return "", err
	}
	if strings.TrimSpace(line) == "" {
		return "", errInterrupted
	}
	if t.history != nil {
		_, _ = t.history.Write(strings.TrimRight(line, "\n")) // a full disk does not end the session
	}
	return line, nil
}

// answer reads the answer to a question of a run. Ctrl-C ends the run.
func (t *terminal) answer(context.Context) (string, error) {
	accept, complete := t.shell.AcceptMultiline, t.shell.Completer
	defer func() { t.shell.AcceptMultiline, t.shell.Completer = accept, complete }()
	t.shell.AcceptMultiline, t.shell.Completer = nil, nil
	line, err := t.read()
	if errors.Is(err, readline.ErrInterrupt) {
		t.session.interrupt()
		return "", context.Canceled
	}
	return line, err
}

// bind assigns functions to keys. The line editor's own Ctrl-C needs a second press after a list, a choice or a search,
// and may lose the next key.
func (t *terminal) bind() {
	own := t.shell.Keymap.Commands()
	endSearch, list := own["abort"], own["possible-completions"]
	t.shell.Keymap.Register(map[string]func(){"abort": func() { t.interrupt(endSearch) }, "complete": func() { t.tab(list) }})
	delete(t.shell.Config.Binds["menu-select"], "\x03") // it would accept the choice first
	for _, keys := range t.shell.Config.Binds {
		for key, does := range keys {
			if strings.HasPrefix(does.Action, "non-incremental-") { // Ctrl-R searches instead
				delete(keys, key)
			}
		}
	}
}

// indentation is what Tab inserts at the start of a line in a block.
const indentation = "    "

// tab implements Tab, unless a choice is made from a list: it inserts the common prefix of all candidates, and lists
// them if there are several. It shows the description of a single candidate, and the usage of a command that has no
// candidates.
func (t *terminal) tab(list func()) {
	line, cursor := t.shell.Line(), t.shell.Cursor()
	before := string((*line)[:cursor.Pos()])
	if at := strings.LastIndexByte(before, '\n'); at >= 0 && strings.TrimSpace(before[at:]) == "" {
		cursor.InsertAt([]rune(indentation)...)
		return
	}
	all, prefix := t.session.complete(string(*line), len(before))
	t.shell.History.Save()
	cursor.InsertAt([]rune(strings.TrimPrefix(common(all), prefix))...)
	completer, hint := t.shell.Completer, ""
	switch len(all) {
	case 0:
		hint = usageOf(before)
	case 1:
		hint = all[0].doc
	}
	if len(all) < 2 { // ends a list that was shown
		t.shell.Completer = nil
	}
	list()
	t.shell.Completer = completer
	t.shell.Hint.SetTemporary(hint)
}

// interrupt implements Ctrl-C while a line is edited: it clears the line, and ends a search of the history. A choice
// from a list has ended by then.
func (t *terminal) interrupt(endSearch func()) {
	if t.shell.Keymap.Local() != "" {
		endSearch()
	}
	t.shell.Display.AcceptLine()
	t.shell.History.Accept(false, false, readline.ErrInterrupt)
}

// rowBelow scrolls the terminal if the cursor is in its last row, and keeps the cursor's position in the text (IND,
// RI).
const rowBelow = "\x1bD\x1bM"

// room is called while the line editor draws a line: it makes the room below that the editor assumes if it does not
// know the cursor's row. The editor could ask the terminal for the row ("cursor-position-probe"), but it drops the keys
// that arrive together with the answer. A list of candidates takes at most the rows below row 1, so that the line stays
// visible.
func (t *terminal) room(line []rune) string {
	if row := reflect.ValueOf(t.shell.Display).Elem().FieldByName("startRows"); row.IsValid() && row.CanAddr() && row.Kind() == reflect.Int {
		*(*int)(row.Addr().UnsafePointer()) = 1
	}
	return string(line) + rowBelow
}

// size returns the size of the terminal.
func (s *session) size() (width, rows int) {
	if s.in != nil && s.in.interactive() {
		if w, h := tty.Size(os.Stdin); w > 0 && h > 0 {
			return w, h
		}
	}
	if w := s.c.Width(); w > 0 {
		return w, 24
	}
	return 80, 24
}

func (s *session) width() int {
	w, _ := s.size()
	return w
}
