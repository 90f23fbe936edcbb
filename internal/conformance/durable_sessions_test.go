package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
)

// savesEnv makes the test binary a process that holds a conversation in the directory that it names, and kills itself
// after each save in the session, before that is recorded.
const savesEnv = "AGENTSCRIPT_TEST_SESSION"

// savingFlow writes notes and holds a conversation, and waits for a word in the middle if asked to.
const savingFlow = `notes = memory("notes", scope = "session")
chat = agent(prompt = "Be brief.", history = "shared")

def main(topic = str):
    first = chat(topic)
    notes.append(topic)
    if topic.startswith("wait"):
        first = first + wait("go", str)
    second = chat(first)
    notes.append("after " + topic)
    return notes.read()
`

// killingSessions kills the process after each save that was not made before, at most once each.
type killingSessions struct {
	engine.SessionStore
	saved *os.File
	seen  map[string]bool
}

type killingSession struct {
	engine.OpenSession
	of *killingSessions
}

func (s *killingSessions) OpenSession(ctx context.Context, id, script string) (engine.OpenSession, error) {
	open, err := s.SessionStore.OpenSession(ctx, id, script)
	if err != nil {
		return nil, err
	}
	return &killingSession{open, s}, nil
}

func (s *killingSession) Save(ctx context.Context, key, op, text string) (engine.Entry, error) {
	e, err := s.OpenSession.Save(ctx, key, op, text)
	if err != nil || s.of.seen[op] {
		return e, err
	}
	if _, err := fmt.Fprintln(s.of.saved, op); err != nil {
		return e, err
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill() // otherwise the test hangs, and says so
	}
	select {} // it is dead
}

// sayingHost returns a host whose models answer by the request alone.
func sayingHost(s engine.Store, asked func(*model.Request)) *agentscript.Engine {
	models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		asked(e.Req.(*model.Request))
		return engine.Outcome{Response: durableAnswer(e.Req.(*model.Request)), Attempt: 1}
	})
	return agentscript.New(agentscript.WithStore(s), agentscript.WithModels(models), agentscript.WithDefaultModel("test/model"))
}

func savingModule(ctx context.Context, eng *agentscript.Engine) (*agentscript.Module, error) {
	return eng.Load(ctx, fstest.MapFS{"talk.star": {Data: []byte(savingFlow)}}, "talk.star")
}

// savingProcess holds a conversation of three turns, each in a run, to its end or until it is killed.
func savingProcess(dir string, killed bool) error {
	ctx := context.Background()
	log, err := os.OpenFile(filepath.Join(dir, "saves"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, filepath.Join(dir, "runs.db"))
	if err != nil {
		return err
	}
	defer s.Close()
	before, err := os.ReadFile(log.Name())
	if err != nil {
		return err
	}
	sessions := engine.SessionStore(s)
	if killed {
		k := &killingSessions{s, log, map[string]bool{}}
		for _, op := range strings.Fields(string(before)) {
			k.seen[op] = true
		}
		sessions = k
	}
	m, err := savingModule(ctx, sayingHost(s, func(*model.Request) {}))
	if err != nil {
		return err
	}
	for _, turn := range []string{"one", "two", "three"} {
		info, err := s.Run(ctx, turn)
		if err == nil && info.Status == engine.RunDone {
			continue
		}
		opts := []agentscript.RunOption{agentscript.ID(turn), agentscript.Input(turn)}
		if err == nil {
			opts = []agentscript.RunOption{agentscript.ResumeRun(turn)}
		}
		if _, err := m.Start(ctx, append(opts, agentscript.Session(sessions, "ada"))...).Wait(); err != nil {
			return fmt.Errorf("%s: %w", turn, err)
		}
	}
	return nil
}

// TestSavingProcess is the process of the test that kills it.
func TestSavingProcess(t *testing.T) {
	dir := os.Getenv(savesEnv)
	if dir == "" {
		t.Skip("it is begun by the test that kills it")
	}
	if err := savingProcess(dir, true); err != nil {
		t.Fatal(err)
	}
}

// A resumed run saves once: one that is killed after each save, before that is recorded, leaves the session like one
// that was not killed.
func TestSessionIsSavedOnce(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	if err := savingProcess(whole, false); err != nil {
		t.Fatal(err)
	}
	want := sessionOf(t, filepath.Join(whole, "runs.db"), "ada")
	kills := 0
	for ; ; kills++ {
		cmd := exec.CommandContext(hang.Context(t), os.Args[0], "-test.run=^TestSavingProcess$", "-test.count=1")
		cmd.Env = append(os.Environ(), savesEnv+"="+dir)
		said, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		if strings.Contains(string(said), "FAIL") || kills > 20 {
			t.Fatalf("%d kills: %v\n%s", kills, err, said)
		}
	}
	got := sessionOf(t, filepath.Join(dir, "runs.db"), "ada")
	if kills != 9 || want["transcript"].Version != 3 || want["memory/notes/"].Version != 6 { // three saves in each of three runs
		t.Errorf("%d kills, and the session that was saved without is\n%+v", kills, want)
	}
	for key := range want {
		if got[key] != want[key] || len(got) != len(want) {
			t.Errorf("%s: %+v, want %+v", key, got[key], want[key])
		}
	}
}

// talk is a conversation whose runs are in one store.
type talk struct {
	t     *testing.T
	s     *sqlite.Store
	eng   *agentscript.Engine
	m     *agentscript.Module
	asked []*model.Request
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	c := &talk{t: t}
	s, err := sqlite.Open(hang.Context(t), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c.s, c.eng = s, sayingHost(s, func(r *model.Request) { c.asked = append(c.asked, r) })
	if c.m, err = savingModule(t.Context(), c.eng); err != nil {
		t.Fatal(err)
	}
	return c
}

// run runs a turn to its end, or until it is parked.
func (c *talk) run(id string, opts ...agentscript.RunOption) error {
	_, err := c.m.Start(c.t.Context(), append([]agentscript.RunOption{agentscript.ID(id), agentscript.Input(id), agentscript.ParkRun()}, opts...)...).Wait()
	return err
}

func (c *talk) held(id string) map[string]engine.Entry {
	c.t.Helper()
	held, err := c.s.ReadSession(c.t.Context(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	return held
}

// topics returns what the user said first in each turn of a conversation.
func (c *talk) topics(held map[string]engine.Entry) string {
	c.t.Helper()
	var all []string
	for i, line := range strings.Split(saidIn(c.t, held), "\n") {
		if i%4 == 0 || !strings.HasPrefix(line, "said ") && !strings.Contains(line, "answer above") {
			all = append(all, line)
		}
	}
	return strings.Join(slices.Compact(all), " ")
}

// seen returns all texts of a request.
func seen(r *model.Request) string {
	var all []string
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// Promise 30.7 (durable): a resumed run finds its session as it was recorded and saves to it once, in addition to what
// other runs have saved there meanwhile. A fork reads the session and saves to it only with --session.
func TestPromise_30_7_SessionOfAResumedRun(t *testing.T) {
	for _, given := range []bool{false, true} {
		c := newTalk(t)
		in := agentscript.Session(c.s, "ada")
		if err := c.run("first", in); err != nil {
			t.Fatal(err)
		}
		if err := c.run("waits", in); !errors.Is(err, engine.ErrApproval) {
			t.Fatal(err)
		}
		if err := c.run("meanwhile", in); err != nil {
			t.Fatal(err)
		}
		if err := c.eng.Signal(t.Context(), "waits", "go", "", engine.Answer{Result: json.RawMessage(`"now"`)}); err != nil {
			t.Fatal(err)
		}
		before, asked := c.held("ada"), len(c.asked)
		var opts []agentscript.RunOption
		if given { // otherwise it is that of the store
			opts = append(opts, in)
		}
		result, err := c.eng.Resume(t.Context(), "waits", opts...).Wait()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(c.asked) - asked; n != 1 {
			t.Fatalf("models are asked %d times, want once", n)
		}
		if text := seen(c.asked[asked]); !strings.HasPrefix(text, "first\n") || !strings.Contains(text, "\nwaits\n") || strings.Contains(text, "meanwhile") {
			t.Errorf("it goes on from\n%s", text)
		}
		after := c.held("ada")
		if after["transcript"].Version != before["transcript"].Version+1 || c.topics(after) != "first meanwhile waits" {
			t.Errorf("the session is at %d, was at %d, and says\n%s", after["transcript"].Version, before["transcript"].Version, saidIn(t, after))
		}
		if want := "first\nafter first\nwaits\nmeanwhile\nafter meanwhile\nafter waits"; after["memory/notes/"].Text != want || result.Text() != want {
			t.Errorf("the notes are %q, and it returned %q", after["memory/notes/"].Text, result.Text())
		}
	}
}

// A run continues only in its own session. If that is in another store, it must be given.
func TestResumedInAnotherSession(t *testing.T) {
	c := newTalk(t)
	var elsewhere session.Memory
	for id, in := range map[string]agentscript.RunOption{"waits here": agentscript.Session(c.s, "ada"), "waits elsewhere": agentscript.Session(&elsewhere, "bob")} {
		if err := c.run(strings.ReplaceAll(id, " ", "-"), in); !errors.Is(err, engine.ErrApproval) {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		run  string
		in   agentscript.RunOption
		code diag.Code
	}{{"waits-here", agentscript.Session(c.s, "bob"), diag.BadSession}, {"waits-elsewhere", nil, diag.NoSession}} {
		if _, err := c.eng.Resume(t.Context(), tt.run, tt.in).Wait(); !errors.Is(err, &engine.Error{Code: tt.code}) {
			t.Errorf("%s: %v, want %s", tt.run, err, tt.code)
		}
	}
	for _, run := range []string{"waits-here", "waits-elsewhere"} {
		if err := c.eng.Signal(t.Context(), run, "go", "", engine.Answer{Result: json.RawMessage(`"now"`)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.eng.Resume(t.Context(), "waits-elsewhere", agentscript.Session(&elsewhere, "bob")).Wait(); err != nil {
		t.Error(err)
	}
	if _, err := c.eng.Resume(t.Context(), "waits-here").Wait(); err != nil {
		t.Error(err)
	}
}

// A fork reads the session as its original run found it, and saves only in a session that it is given.
func TestSessionOfAFork(t *testing.T) {
	c := newTalk(t)
	for _, id := range []string{"first", "second", "third"} {
		if err := c.run(id, agentscript.Session(c.s, "ada")); err != nil {
			t.Fatal(err)
		}
	}
	was := c.held("ada")
	same := func(what string) {
		t.Helper()
		if is := c.held("ada"); is["transcript"] != was["transcript"] || is["memory/notes/"] != was["memory/notes/"] {
			t.Errorf("%s has changed the session to %+v", what, is)
		}
	}
	fork := func(of, id string, opts ...agentscript.RunOption) (string, error) {
		r, err := c.m.Start(t.Context(), append([]agentscript.RunOption{agentscript.ForkRun(of), agentscript.ID(id), agentscript.ParkRun()}, opts...)...).Wait()
		return r.Text(), err
	}
	const notes = "first\nafter first\nsecond\nafter second"

	// Without a session: everything is answered from the record, or it continues from what was found, and nothing is
	// saved.
	asked := len(c.asked)
	if got, err := fork("second", "again"); err != nil || got != notes || len(c.asked) != asked {
		t.Errorf("%q after %d calls, %v", got, len(c.asked)-asked, err)
	}
	same("a fork that does nothing anew")
	if got, err := fork("second", "other", agentscript.Input("other")); err != nil || got != "first\nafter first\nother\nafter other" {
		t.Errorf("%q, %v", got, err)
	}
	if text := seen(c.asked[asked]); !strings.HasPrefix(text, "first\n") || strings.Contains(text, "second") || !strings.HasSuffix(text, "other") {
		t.Errorf("it goes on from\n%s", text)
	}
	same("a fork")
	if _, err := fork("second", "waits", agentscript.Input("waits")); !errors.Is(err, engine.ErrApproval) {
		t.Fatal(err)
	}
	if err := c.eng.Signal(t.Context(), "waits", "go", "", engine.Answer{Result: json.RawMessage(`"now"`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.eng.Resume(t.Context(), "waits", agentscript.Session(c.s, "ada")).Wait(); !errors.Is(err, &engine.Error{Code: diag.BadSession}) {
		t.Errorf("resumed in a session that it was not given: %v", err)
	}
	if r, err := c.eng.Resume(t.Context(), "waits").Wait(); err != nil || r.Text() != "first\nafter first\nwaits\nafter waits" {
		t.Errorf("%q, %v", r.Text(), err)
	}
	same("a fork that was resumed")

	// In another session: that continues from there, and contains what the fork did and what it took over.
	asked = len(c.asked)
	if got, err := fork("second", "aside", agentscript.Session(c.s, "aside")); err != nil || got != notes || len(c.asked) != asked {
		t.Errorf("%q after %d calls, %v", got, len(c.asked)-asked, err)
	}
	if held := c.held("aside"); c.topics(held) != "first second" || held["memory/notes/"].Text != notes || held["transcript"].Version != 1 {
		t.Errorf("the other session holds %+v", held)
	}
	same("a fork in another session")

	// Not in a session with other contents.
	if err := c.run("stranger", agentscript.Session(c.s, "bob")); err != nil {
		t.Fatal(err)
	}
	asked = len(c.asked)
	if _, err := fork("second", "refused", agentscript.Input("x"), agentscript.Session(c.s, "bob")); !errors.Is(err, &engine.Error{Code: diag.BadSession}) || len(c.asked) != asked {
		t.Errorf("in a session that holds something: %v after %d calls", err, len(c.asked)-asked)
	}
	if _, err := c.s.Run(t.Context(), "refused"); err == nil || c.topics(c.held("bob")) != "stranger" {
		t.Errorf("it was begun: %v, or the session changed: %q", err, saidIn(t, c.held("bob")))
	}

	// In its own: that returns to its state at the run's start. Until the fork succeeds, its conversation stays.
	if _, err := fork("second", "wait instead", agentscript.Input("wait instead"), agentscript.Session(c.s, "ada"), agentscript.ID("instead")); !errors.Is(err, engine.ErrApproval) {
		t.Fatal(err)
	}
	if is := c.held("ada"); is["transcript"] != was["transcript"] {
		t.Errorf("the conversation is %+v", is)
	}
	if err := c.eng.Signal(t.Context(), "instead", "go", "", engine.Answer{Result: json.RawMessage(`"now"`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.eng.Resume(t.Context(), "instead").Wait(); err != nil {
		t.Fatal(err)
	}
	if is := c.held("ada"); c.topics(is) != "first wait instead" || is["memory/notes/"].Text != "first\nafter first\nwait instead\nafter wait instead" ||
		is["transcript"].Version != was["transcript"].Version+1 {
		t.Errorf("the session holds %+v", is)
	}
}

// A run of the store can be replayed with what its session contained, whatever it contains now, and with any store.
func TestReplayOfARunInASession(t *testing.T) {
	s, sessions := store.NewMemory(), &session.Memory{}
	var asked []*model.Request
	m, err := savingModule(t.Context(), sayingHost(s, func(r *model.Request) { asked = append(asked, r) }))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, id := range []string{"one", "two"} {
		r, err := m.Start(t.Context(), agentscript.ID(id), agentscript.Input(id), agentscript.Session(sessions, "ada")).Wait()
		if err != nil {
			t.Fatal(err)
		}
		want[id] = r.Text()
	}
	n := len(asked)
	for _, id := range []string{"one", "two"} {
		info, err := s.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var found session.Found
		if err := json.Unmarshal(info.Session, &found); err != nil || found.ID != "ada" || (len(found.Entries) == 0) != (id == "one") {
			t.Errorf("%s found %s, %v", id, info.Session, err)
		}
		again, err := cassette.ReplayRun(t.Context(), s, id, nil)
		if err != nil {
			t.Fatal(err)
		}
		held, of := again.Sessions()
		r, err := m.Start(t.Context(), agentscript.Ephemeral(), agentscript.Input(id), agentscript.HandlerForAll(again), agentscript.Session(held, of)).Wait()
		if err != nil || r.Text() != want[id] || len(asked) != n {
			t.Errorf("%s: %q after %d calls, want %q, %v", id, r.Text(), len(asked)-n, want[id], err)
		}
	}
}

// The command resumes and forks in sessions as a host does, and a run that is exported and imported saves nothing in a
// session with the same name.
func TestSessionsOfRunsByCommand(t *testing.T) {
	h := newHome(t, strings.Replace(savingFlow, "agent(prompt", `agent(model = "openai/x", prompt`, 1))
	p := llmtest.New(llmtest.Reply{Text: "Fine.", Repeat: true})
	defer p.Close()
	do := func(code int, args ...string) output {
		t.Helper()
		o := h.run(p, args...)
		if o.code != code {
			t.Fatalf("%q: exit %d\n%s", args, o.code, o.stderr)
		}
		return o
	}
	lastAsked := func() string { all := p.Requests(); return string(all[len(all)-1].Body) }
	h.write("elsewhere", "")
	do(0, "run", "flow.star", "first", "--session", "ada", "--session-store", "kept", "-q")
	do(5, "run", "flow.star", "waits", "--session", "ada", "--session-store", "kept", "-q")
	waits := h.last()
	do(0, "run", "flow.star", "meanwhile", "--session", "ada", "--session-store", "kept", "-q", "--record", "rec")
	record, err := os.ReadFile(filepath.Join(h.dir, "rec"))
	if err != nil || !strings.Contains(string(record), `"session":{"id":"ada","entries":{`) || !strings.Contains(string(record), `waits`) {
		t.Errorf("the record does not say what the session held: %s, %v", record, err)
	}
	asked := len(p.Requests())
	if again := do(0, "run", "flow.star", "meanwhile", "--replay", "rec", "-q"); !strings.HasSuffix(again.stdout, "meanwhile\nafter meanwhile\n") || len(p.Requests()) != asked {
		t.Errorf("the replay prints %q", again.stdout)
	}
	if again := do(0, "run", "flow.star", "meanwhile", "--replay", h.last(), "-q"); !strings.HasSuffix(again.stdout, "meanwhile\nafter meanwhile\n") || len(p.Requests()) != asked {
		t.Errorf("the replay of the run prints %q", again.stdout)
	}
	do(0, "runs", "answer", waits, "go", "--result", `"now"`)
	do(0, "runs", "export", waits, "-o", "waits.jsonl")
	do(0, "runs", "import", "waits.jsonl", "--store", "other.db")
	do(0, "runs", "answer", "last", "go", "--result", `"now"`, "--store", "other.db")
	db := filepath.Join(h.dir, "kept", "runs.db")
	before := sessionOf(t, db, "ada")

	do(0, "runs", "resume", "last", "--store", "other.db", "-q")
	if body := lastAsked(); !strings.Contains(body, "first") || strings.Contains(body, "meanwhile") {
		t.Errorf("what was carried over goes on from %s", body)
	}
	if is := sessionOf(t, db, "ada"); is["transcript"] != before["transcript"] || is["memory/notes/"] != before["memory/notes/"] {
		t.Errorf("what was carried over changed the session to %+v", is)
	}
	if all := printed(h, "sessions", "ls"); all != "" {
		t.Errorf("it made sessions: %s", all)
	}

	do(0, "runs", "fork", waits, "other", "-q")
	if body := lastAsked(); !strings.Contains(body, "first") || !strings.Contains(body, "other") || strings.Contains(body, "waits") || strings.Contains(body, "meanwhile") {
		t.Errorf("the fork goes on from %s", body)
	}
	fork := h.last()
	do(0, "runs", "fork", waits, "aside", "-q", "--session", "aside")
	if is := sessionOf(t, db, "ada"); is["transcript"] != before["transcript"] || is["memory/notes/"] != before["memory/notes/"] {
		t.Errorf("the forks changed the session to %+v", is)
	}
	if said := saidIn(t, sessionOf(t, db, "aside")); !strings.HasPrefix(said, "first\n") || !strings.Contains(said, "aside") {
		t.Errorf("the session of the fork says %s", said)
	}
	if plan := do(0, "runs", "fork", fork, "--plan"); !strings.Contains(plan.stdout, "runs nothing") {
		t.Errorf("a fork of the fork: %s", plan.stdout)
	}

	do(0, "runs", "resume", waits, "-q")
	if body := lastAsked(); !strings.Contains(body, "first") || strings.Contains(body, "meanwhile") {
		t.Errorf("it goes on from %s", body)
	}
	after := sessionOf(t, db, "ada")
	if said := saidIn(t, after); after["transcript"].Version != before["transcript"].Version+1 || strings.Index(said, "meanwhile") > strings.Index(said, "waits") || !strings.Contains(said, "waits") {
		t.Errorf("the session is at %d, was at %d, and says %s", after["transcript"].Version, before["transcript"].Version, said)
	}
}

// A fork starts notes that end with the run as the script does, not with the other run's results.
func TestForkBeginsItsNotesAnew(t *testing.T) {
	s := store.NewMemory()
	eng := sayingHost(s, func(*model.Request) {})
	flow := strings.Replace(savingFlow, `, scope = "session"`, "", 1)
	m, err := eng.Load(t.Context(), fstest.MapFS{"talk.star": {Data: []byte(flow)}}, "talk.star")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Start(t.Context(), agentscript.ID("one"), agentscript.Input("one")).Wait(); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{"one": "one\nafter one", "two": "two\nafter two"} {
		if r, err := m.Start(t.Context(), agentscript.ForkRun("one"), agentscript.Input(in)).Wait(); err != nil || r.Text() != want {
			t.Errorf("%s: %q, %v", in, r.Text(), err)
		}
	}
}
