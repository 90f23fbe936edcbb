package starlib_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/starlib"
)

var update = flag.Bool("update", false, "write golden files")

// load loads a script of one file and further files, given as names and texts.
func load(src string, files ...string) (*starlib.Module, diag.List) {
	return loadWith(starlib.Options{}, src, files...)
}

func loadWith(o starlib.Options, src string, files ...string) (*starlib.Module, diag.List) {
	fsys := fstest.MapFS{"main.star": {Data: []byte(src)}}
	for i := 0; i+1 < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	o.FS = fsys
	if o.Entry == "" {
		o.Entry = "main.star"
	}
	return starlib.Load(context.Background(), o)
}

// sound loads a script that must have no errors. It may declare agents only for the test.
func sound(t testing.TB, src string, files ...string) *starlib.Module {
	t.Helper()
	m, found := load(src, files...)
	if slices.ContainsFunc(found, func(d *diag.Diagnostic) bool { return d.Code != diag.UnusedAgent }) {
		t.Fatalf("loading failed:\n%s", render(m, found))
	}
	return m
}

func render(m *starlib.Module, l diag.List) string {
	var b strings.Builder
	if err := diag.Render(&b, l, m.Sources(), diag.Options{}); err != nil {
		return err.Error()
	}
	return b.String()
}

func codes(l diag.List) string {
	var out []string
	for _, d := range l {
		out = append(out, string(d.Code))
	}
	return strings.Join(out, " ")
}

// spec returns a run of main with an input, which binds the parameters of a function.
func spec(t testing.TB, m *starlib.Module, input generable.Value) run.Spec {
	t.Helper()
	e, d := m.Main()
	if d != nil {
		t.Fatal(d)
	}
	if e.Node != nil {
		return run.Spec{Node: e.Node, Input: input}
	}
	given := map[string]generable.Value{}
	if fields, ok := input.AsMap(); ok {
		for i := range fields.Len() {
			k, v := fields.At(i)
			given[k] = v
		}
	}
	args, err := e.Bind(given)
	if err != nil {
		t.Fatal(err)
	}
	return run.Spec{Main: e.Func, Args: args}
}

// answers returns a handler that answers each agent with a fixed text, or with the text of the request if there is
// none.
func answers(texts map[string]string) engine.Handler {
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req := e.Req.(*model.Request)
		text, ok := texts[e.Agent]
		if !ok {
			text = e.Agent + "(" + req.Messages[len(req.Messages)-1].Parts[0].Text + ")"
		}
		return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop,
			Parts: []model.Part{{Kind: model.PartText, Text: text}}}}
	})
}

var refuse = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s was not recorded", e.ID()))
})

// log collects a run's effect ids and log lines.
type log struct {
	mu    sync.Mutex
	ids   []string
	lines []string
}

func (l *log) listener() engine.Listener {
	return engine.Listener{Kinds: engine.EventEffect | engine.EventLog, Emit: func(ev engine.Event) {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case ev.Kind == engine.EventLog:
			l.lines = append(l.lines, ev.Path+": "+ev.Text())
		case ev.Phase() == engine.PhaseEnd:
			l.ids = append(l.ids, ev.ID)
		}
	}}
}

func sorted(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// everywhere runs a spec on goroutines, on the cooperative scheduler with several seeds and on replay, and requires
// equal results, effect ids and log lines.
func everywhere(t *testing.T, s run.Spec) (generable.Value, *log, error) {
	t.Helper()
	if s.Handler == nil {
		s.Handler = answers(nil)
	}
	if s.Model == "" {
		s.Model = "test/model"
	}
	record := &store.Memory{}
	first := &log{}
	s.Journal, s.Listener = record, first.listener()
	want, wantErr := run.Exec(sched.NewGoSched(context.Background()), &s)
	check := func(how string, sched engine.Sched, j engine.Journal, h engine.Handler) {
		t.Helper()
		seen := &log{}
		again := s
		again.Journal, again.Handler, again.Listener = j, h, seen.listener()
		got, err := run.Exec(sched, &again)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: error %v, on goroutines %v", how, err, wantErr)
		}
		if err == nil && !generable.Equal(got, want) {
			t.Errorf("%s: %s, on goroutines %s", how, generable.JSON(got, nil), generable.JSON(want, nil))
		}
		if wantErr == nil && (sorted(seen.ids) != sorted(first.ids) || sorted(seen.lines) != sorted(first.lines)) {
			t.Errorf("%s: effects\n%s\nlog\n%s\non goroutines\n%s\n%s", how, sorted(seen.ids), sorted(seen.lines), sorted(first.ids), sorted(first.lines))
		}
	}
	for seed := range uint64(5) {
		check(fmt.Sprintf("cooperative, seed %d", seed), sched.NewCoopSched(seed), &store.Memory{}, s.Handler)
	}
	check("virtual time", sched.NewVirtual(context.Background()), &store.Memory{}, s.Handler)
	if wantErr == nil {
		check("replay", sched.NewGoSched(context.Background()), record, refuse)
		check("cooperative replay", sched.NewCoopSched(99), record, refuse)
	}
	return want, first, wantErr
}

// value parses JSON text.
func value(t testing.TB, text string) generable.Value {
	t.Helper()
	if !json.Valid([]byte(text)) {
		t.Fatalf("%q is no JSON", text)
	}
	r := lenient.Decode(generable.AnyT, text, generable.Options{})
	if !r.OK {
		t.Fatalf("%q: %v", text, r.Errors)
	}
	return r.Value
}

// A case of a flow file, written in comments:
//
//	# answer AGENT: text        what the model says to an agent, JSON strings for more lines
//	# run: JSON                 the input, or {parameter: value} for def main
//	# gives: JSON               the result
//	# fails: AS701 regexp       or the error
//	# logs: regexp              in the lines of print
type flowCase struct {
	input, gives, fails, logs string
	line                      int
}

var directive = regexp.MustCompile(`^# (answer (\S+)|run|gives|fails|logs): ?(.*)$`)

func readFlow(t *testing.T, src string) (map[string]string, []flowCase) {
	texts := map[string]string{}
	var cases []flowCase
	for i, line := range strings.Split(src, "\n") {
		m := directive.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[2] != "" {
			text := m[3]
			if json.Unmarshal([]byte(text), &text) != nil {
				text = m[3]
			}
			texts[m[2]] = text
			continue
		}
		if m[1] == "run" {
			cases = append(cases, flowCase{input: m[3], line: i + 1})
			continue
		}
		if len(cases) == 0 {
			t.Fatalf("line %d: %s before any run", i+1, m[1])
		}
		c := &cases[len(cases)-1]
		switch m[1] {
		case "gives":
			c.gives = m[3]
		case "fails":
			c.fails = m[3]
		case "logs":
			c.logs = m[3]
		}
	}
	return texts, cases
}

// testFlow runs the cases of one flow file.
func testFlow(t *testing.T, file string) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, found := starlib.Load(context.Background(), starlib.Options{FS: os.DirFS(filepath.Dir(file)), Entry: filepath.Base(file)})
	if found.HasErrors() {
		t.Fatalf("loading failed:\n%s", render(m, found))
	}
	texts, cases := readFlow(t, string(src))
	if len(cases) == 0 {
		t.Fatal("no # run: in this flow")
	}
	for _, c := range cases {
		run := spec(t, m, value(t, c.input))
		run.Handler = answers(texts)
		out, seen, err := everywhere(t, run)
		switch {
		case c.fails != "":
			var e *engine.Error
			code, pattern, _ := strings.Cut(c.fails, " ")
			if !asError(err, &e) || string(e.Code) != code || !regexp.MustCompile(pattern).MatchString(e.Message) {
				t.Errorf("line %d: got %v, want the error %s", c.line, err, c.fails)
			}
		case err != nil:
			t.Errorf("line %d: %v", c.line, err)
		default:
			if got := generable.JSON(out, nil); !generable.Equal(value(t, got), value(t, c.gives)) {
				t.Errorf("line %d: got %s, want %s", c.line, got, c.gives)
			}
		}
		if c.logs != "" && !regexp.MustCompile(c.logs).MatchString(strings.Join(seen.lines, "\n")) {
			t.Errorf("line %d: the log is\n%s\nwant %s", c.line, strings.Join(seen.lines, "\n"), c.logs)
		}
	}
}

func asError(err error, to **engine.Error) bool {
	e, ok := err.(*engine.Error)
	*to = e
	return ok
}

func TestFlows(t *testing.T) {
	files, err := filepath.Glob("testdata/flows/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no flows", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".star"), func(t *testing.T) { testFlow(t, file) })
	}
}
