// Package storetest checks stores of sessions, journals and stores of runs against the contracts of
// engine.SessionStore, engine.Journal and engine.Store, so that other modules can test their own implementations.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
)

// Sessions checks the stores that open returns. Each call of open must return an empty one.
func Sessions(t *testing.T, open func(t *testing.T) engine.SessionStore) {
	t.Run("one run at a time", func(t *testing.T) { oneHolder(t, open(t)) })
	t.Run("versions and idempotency keys", func(t *testing.T) { versions(t, open(t)) })
	t.Run("texts are kept byte for byte", func(t *testing.T) { bytesKept(t, open(t)) })
	t.Run("sessions are listed, read and deleted", func(t *testing.T) { listed(t, open(t)) })
	t.Run("what is no id is refused", func(t *testing.T) { badIDs(t, open(t)) })
}

func take(t *testing.T, s engine.SessionStore, id string) engine.OpenSession {
	t.Helper()
	held, err := s.OpenSession(t.Context(), id, "a.star")
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func save(t *testing.T, held engine.OpenSession, key, op, text string) engine.Entry {
	t.Helper()
	e, err := held.Save(t.Context(), key, op, text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func isCode(err error, code diag.Code) bool { return errors.Is(err, &engine.Error{Code: code}) }

// A session belongs to one run and one script until it is given back; after that its former holder cannot use it.
func oneHolder(t *testing.T, s engine.SessionStore) {
	held := take(t, s, "one")
	if _, err := s.OpenSession(t.Context(), "one", "a.star"); !isCode(err, diag.SessionBusy) {
		t.Errorf("taken twice: %v", err)
	}
	if err := s.DeleteSession(t.Context(), "one"); !isCode(err, diag.SessionBusy) {
		t.Errorf("deleted while it is taken: %v", err)
	}
	save(t, held, "k", "op", "text")
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Save(t.Context(), "k", "op2", "late"); err == nil {
		t.Error("saved after it was given back")
	}
	if _, err := s.OpenSession(t.Context(), "one", "b.star"); !isCode(err, diag.BadSession) {
		t.Errorf("taken by another script: %v", err)
	}
	again := take(t, s, "one")
	if e, err := again.Load(t.Context(), "k"); err != nil || e != (engine.Entry{Text: "text", Version: 1}) {
		t.Errorf("loaded %+v, %v", e, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// Each save creates the next version; what was saved under an idempotency key is not saved again.
func versions(t *testing.T, s engine.SessionStore) {
	held := take(t, s, "v")
	if e, err := held.Load(t.Context(), "none"); err != nil || e != (engine.Entry{}) {
		t.Errorf("nothing is there, and %+v, %v was loaded", e, err)
	}
	for i, text := range []string{"a", "b", "", "é\x00\n"} {
		want := engine.Entry{Text: text, Version: int64(i + 1)}
		if got := save(t, held, "k", fmt.Sprint("op", i), text); got != want {
			t.Errorf("saved %+v, want %+v", got, want)
		}
		if got := save(t, held, "k", fmt.Sprint("op", i), "again"); got != want {
			t.Errorf("the same operation saved %+v, want %+v", got, want)
		}
	}
	if got := save(t, held, "other", "op9", "x"); got.Version != 1 {
		t.Errorf("another key begins with version %d", got.Version)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
}

// Keys and texts are bytes: invalid UTF-8 comes back unchanged, to the run that saved it and to the next one.
func bytesKept(t *testing.T, s engine.SessionStore) {
	want := map[string]engine.Entry{
		"k": {Text: "\xff\x00\ufffd", Version: 2}, "k\xff": {Text: "plain", Version: 1}, "k\ufffd": {Text: "other", Version: 1},
	}
	held := take(t, s, "bytes")
	save(t, held, "k", "op0", "\xfe")
	for i, key := range []string{"k", "k\xff", "k\ufffd"} {
		if got := save(t, held, key, fmt.Sprint("op", i+1), want[key].Text); got != want[key] {
			t.Errorf("saved %+v, want %+v", got, want[key])
		}
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	held = take(t, s, "bytes")
	for key, e := range want {
		if got, err := held.Load(t.Context(), key); err != nil || got != e {
			t.Errorf("the next run loads %+v, %v, want %+v", got, err, e)
		}
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	if got, err := s.ReadSession(t.Context(), "bytes"); err != nil || !maps.Equal(got, want) {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
}

func listed(t *testing.T, s engine.SessionStore) {
	for _, id := range []string{"b", "a"} {
		held := take(t, s, id)
		save(t, held, "k", "op", "12345")
		if entries, err := s.ReadSession(t.Context(), id); err != nil || entries["k"].Text != "12345" {
			t.Errorf("read while it is taken: %v, %v", entries, err)
		}
		if err := held.Close(); err != nil {
			t.Error(err)
		}
	}
	all, err := s.Sessions(t.Context())
	if err != nil || len(all) != 2 || all[0].ID != "a" || all[1].ID != "b" || all[0].Script != "a.star" || all[0].Entries != 1 {
		t.Errorf("listed %+v, %v", all, err)
	}
	if err := s.DeleteSession(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"delete": s.DeleteSession(t.Context(), "a"), "read": func() error { _, err := s.ReadSession(t.Context(), "a"); return err }()} {
		if !isCode(err, diag.BadSession) {
			t.Errorf("%s what is not there: %v", what, err)
		}
	}
}

func badIDs(t *testing.T, s engine.SessionStore) {
	for _, id := range []string{"", ".", "..", "../x", "a/b", "-a", "é", string(make([]byte, session.MaxID+1))} {
		if _, err := s.OpenSession(t.Context(), id, "a.star"); !isCode(err, diag.BadSession) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// Journal checks the journals that open returns. Each call of open must return an empty one.
func Journal(t *testing.T, open func(t *testing.T) engine.Journal) {
	t.Run("outcomes come back", func(t *testing.T) { answers(t, open(t)) })
	t.Run("the first outcome stays", func(t *testing.T) { firstStays(t, open(t)) })
	t.Run("many branches commit at once", func(t *testing.T) { commits(t, open(t)) })
}

func commit(t *testing.T, ctx context.Context, j engine.Journal, id string, out engine.Outcome) {
	t.Helper()
	if err := j.Commit(ctx, id, &engine.Effect{Kind: engine.EffectTool, Name: "t", Run: "run"}, out); err != nil {
		t.Error(err)
	}
}

// What was committed is answered, even if the run was cancelled in the meantime: it was paid for.
func answers(t *testing.T, j engine.Journal) {
	if out, known := j.Answer("main/llm0@0"); known {
		t.Errorf("an empty journal answers %+v", out)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	want := engine.Outcome{Value: generable.ListOf(generable.IntOf(1), generable.StrOf("a")), Usage: model.Usage{In: 3, Out: 4}, Attempt: 2}
	failed := engine.Outcome{Err: engine.Errorf(engine.KindTool, diag.ToolFailed, "no"), Attempt: 1}
	commit(t, t.Context(), j, "a", want)
	commit(t, cancelled, j, "b", failed)
	if out, known := j.Answer("a"); !known || !generable.Equal(out.Value, want.Value) || out.Usage != want.Usage || out.Attempt != 2 || out.Err != nil {
		t.Errorf("a: %v, %+v", known, out)
	}
	if out, known := j.Answer("b"); !known || !errors.Is(out.Err, failed.Err) {
		t.Errorf("b: %v, %+v", known, out)
	}
}

func firstStays(t *testing.T, j engine.Journal) {
	commit(t, t.Context(), j, "a", engine.Outcome{Value: generable.IntOf(1), Attempt: 1})
	commit(t, t.Context(), j, "a", engine.Outcome{Value: generable.IntOf(2), Attempt: 1})
	if out, _ := j.Answer("a"); !generable.Equal(out.Value, generable.IntOf(1)) {
		t.Errorf("the second outcome replaced the first: %+v", out)
	}
}

func commits(t *testing.T, j engine.Journal) {
	var branches sync.WaitGroup
	for i := range 50 {
		branches.Go(func() {
			id := fmt.Sprint("effect", i)
			commit(t, t.Context(), j, id, engine.Outcome{Value: generable.IntOf(int64(i)), Attempt: 1})
			if out, known := j.Answer(id); !known || !generable.Equal(out.Value, generable.IntOf(int64(i))) {
				t.Errorf("%s: %v, %+v", id, known, out)
			}
		})
	}
	branches.Wait()
}
