package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/session"
)

func none(context.Context, string) (bool, error) { return false, nil }
func all(context.Context, string) (bool, error)  { return true, nil }

// take takes session s of a script for a run, and returns what it held.
func take(t *testing.T, s engine.SessionStore, run string, over func(context.Context, string) (bool, error)) (map[string]engine.Entry, *engine.Error) {
	t.Helper()
	out, _ := keeper(s, over).Do(t.Context(), run, &session.Request{Op: session.OpTake, ID: "s", Script: "flow.star"})
	if out.Err != nil {
		return nil, out.Err
	}
	held, err := session.ReadTaken(out.Value)
	if err != nil {
		t.Fatal(err)
	}
	return held, nil
}

func save(t *testing.T, s engine.SessionStore, run string, entries map[string]engine.Entry) *engine.Error {
	t.Helper()
	out, _ := keeper(s, none).Do(t.Context(), run, &session.Request{Op: session.OpSave, ID: "s", Script: "flow.star", Entries: entries})
	return out.Err
}

// keeper returns a keeper that tries three times to open a session that is in use.
func keeper(s engine.SessionStore, over func(context.Context, string) (bool, error)) *session.Keeper {
	return &session.Keeper{Store: s, Ended: over, Wait: func(_ context.Context, try int) bool { return try < 2 }}
}

func TestRequests(t *testing.T) {
	s := &session.Memory{}
	if held, err := take(t, s, "one", none); err != nil || len(held) != 0 {
		t.Fatalf("a new session holds %v, %v", held, err)
	}
	entry := map[string]engine.Entry{"memory/m/": {Text: "a"}, session.TranscriptKey: {Text: "{}"}}
	for range 2 { // the second pass is as if the answer to the first was lost
		if _, err := take(t, s, "one", none); err != nil {
			t.Fatal(err)
		}
		if err := save(t, s, "one", entry); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := take(t, s, "two", none); err == nil || err.Code != diag.SessionBusy || !strings.Contains(err.Message, "run one") {
		t.Errorf("while another run has it: %v", err)
	}
	held, err := take(t, s, "two", all)
	if err != nil || len(held) != 2 || held["memory/m/"] != (engine.Entry{Text: "a", Version: 1}) {
		t.Fatalf("the next run found %v, %v", held, err)
	}
	if err := save(t, s, "two", map[string]engine.Entry{"memory/m/": {Text: "b", Version: 1}}); err != nil {
		t.Error(err)
	}
	all, failed := s.ReadSession(t.Context(), "s")
	if failed != nil || all["memory/m/"] != (engine.Entry{Text: "b", Version: 2}) || all[session.TranscriptKey].Version != 1 {
		t.Errorf("the session holds %v, %v", all, failed)
	}
}

// Saving fails if entries changed since the run took the session, and then nothing of the run is saved.
func TestChangedMeanwhile(t *testing.T) {
	s := &session.Memory{}
	if _, err := take(t, s, "one", none); err != nil {
		t.Fatal(err)
	}
	local, failed := s.OpenSession(t.Context(), "s", "flow.star")
	if failed == nil {
		_, failed = local.Save(t.Context(), "memory/m/", "op", "of another run")
	}
	if err := errors.Join(failed, local.Close()); err != nil {
		t.Fatal(err)
	}
	if err := save(t, s, "one", map[string]engine.Entry{"a": {Text: "x"}, "memory/m/": {Text: "mine"}}); err == nil || err.Code != diag.SessionBusy || err.Help == "" {
		t.Errorf("it was saved: %v", err)
	}
	if held, err := s.ReadSession(t.Context(), "s"); err != nil || held["memory/m/"].Text != "of another run" || held["a"].Text != "" {
		t.Errorf("the session holds %v, %v", held, err)
	}
}

// A run that no longer has the session saves nothing: another run took it, or it was deleted.
func TestLostSession(t *testing.T) {
	s := &session.Memory{}
	first := map[string]engine.Entry{"m": {Text: "of one"}}
	for _, run := range []string{"one", "two"} {
		if _, err := take(t, s, run, all); err != nil {
			t.Fatal(err)
		}
	}
	if err := save(t, s, "one", first); err == nil || err.Code != diag.SessionBusy || !strings.Contains(err.Message, "run one does not have session") {
		t.Errorf("after another run took it: %v", err)
	}
	if err := save(t, s, "two", map[string]engine.Entry{"m": {Text: "of two"}}); err != nil {
		t.Errorf("the run that has it: %v", err)
	}
	if err := s.DeleteSession(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if err := save(t, s, "two", map[string]engine.Entry{"m": {Text: "of two", Version: 1}}); err == nil || err.Code != diag.SessionBusy {
		t.Errorf("after it was deleted: %v", err)
	}

	// A run with the id of an earlier one saves like any other.
	for i, text := range []string{"first", "second", "third"} {
		if _, err := take(t, s, []string{"nightly", "other", "nightly"}[i], all); err != nil {
			t.Fatal(err)
		}
		held, err := s.ReadSession(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if err := save(t, s, []string{"nightly", "other", "nightly"}[i], map[string]engine.Entry{"m": {Text: text, Version: held["m"].Version}}); err != nil {
			t.Fatal(err)
		}
		if held, err := s.ReadSession(t.Context(), "s"); err != nil || held["m"].Text != text {
			t.Errorf("it holds %v, %v, want %s", held, err, text)
		}
	}
	k := keeper(s, all) // the run has been terminated
	if out, again := k.Do(t.Context(), "nightly", &session.Request{Op: session.OpSave, ID: "s", Script: "flow.star", Entries: first}); out.Err == nil || again {
		t.Errorf("a run that has ended: %v", out.Err)
	}
}

// broken is a store whose sessions cannot be opened.
type broken struct{ session.Memory }

func (*broken) OpenSession(context.Context, string, string) (engine.OpenSession, error) {
	return nil, errors.New("no room")
}

func TestRequestsThatFail(t *testing.T) {
	s := &session.Memory{}
	if _, err := take(t, s, "one", none); err != nil {
		t.Fatal(err)
	}
	asked := errors.New("the server is away")
	for name, c := range map[string]struct {
		s     engine.SessionStore
		r     session.Request
		over  func(context.Context, string) (bool, error)
		code  diag.Code
		words string
		again bool
	}{
		"another script":      {s, session.Request{Op: session.OpTake, ID: "s", Script: "other.star"}, all, diag.BadSession, "belongs to flow.star", false},
		"no id":               {s, session.Request{Op: session.OpTake, ID: "/", Script: "flow.star"}, all, diag.BadSession, "is no id", false},
		"nobody knows":        {s, session.Request{Op: session.OpTake, ID: "s", Script: "flow.star"}, func(context.Context, string) (bool, error) { return false, asked }, diag.StoreFailed, "the server is away", true},
		"the store is broken": {&broken{}, session.Request{Op: session.OpTake, ID: "s", Script: "flow.star"}, all, diag.StoreFailed, "no room", true},
	} {
		if out, again := keeper(c.s, c.over).Do(t.Context(), "two", &c.r); again != c.again || out.Err == nil || out.Err.Code != c.code || !strings.Contains(out.Err.Error(), c.words) {
			t.Errorf("%s: %v", name, out.Err)
		}
	}
	open, err := s.OpenSession(t.Context(), "s", "flow.star")
	if err != nil {
		t.Fatalf("a request that failed left the session open: %v", err)
	}
	if err := save(t, s, "one", nil); err == nil || err.Code != diag.SessionBusy {
		t.Errorf("while it is open: %v", err)
	}
	waits := 0
	k := &session.Keeper{Store: s, Ended: all, Wait: func(context.Context, int) bool { waits++; return open.Close() == nil }}
	if out, _ := k.Do(t.Context(), "two", &session.Request{Op: session.OpTake, ID: "s", Script: "flow.star"}); out.Err != nil || waits != 1 {
		t.Errorf("after %d waits %v", waits, out.Err)
	}
}
