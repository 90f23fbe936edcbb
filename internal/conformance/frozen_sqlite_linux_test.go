package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// TestFrozenSQLite continues a session that an earlier version stored in SQLite.
func TestFrozenSQLite(t *testing.T) {
	const kept = "recorded/sessions.db"
	mod := frozenFlow(t, "remember.star")
	turn := func(s engine.SessionStore, text, answers string) (string, []string) {
		var record store.Memory
		res, err := mod.Start(t.Context(), agentscript.ID("turn"), agentscript.InputText(text), agentscript.Session(s, "ada"), agentscript.HandlerForAll(frozenScript(t, answers)), agentscript.RunJournal(&record)).Wait()
		if err != nil {
			t.Fatal(err)
		}
		return res.Text(), record.IDs()
	}
	open := func(path string) *sqlite.Store {
		store, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	if _, err := os.Stat(filepath.Join(frozenDir, kept)); os.IsNotExist(err) && *freeze {
		store := open(filepath.Join(frozenDir, kept))
		turn(store, "I am Ada.", "remember.jsonl")
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	store := open(filepath.Join(frozenFlows(t), "..", kept))
	defer store.Close()
	entries, err := store.ReadSession(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	text, ids := turn(store, "Who am I?", "remember_more.jsonl")
	after, err := store.ReadSession(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent([]any{entries, text, ids, after}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	frozen(t, "sqlite.json", string(got)+"\n")
}
