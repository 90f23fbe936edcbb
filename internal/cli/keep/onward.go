package keep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Waiting is a step that waits for an answer.
type Waiting struct {
	ID   string            `json:"id"`
	Step string            `json:"step"` // its position
	Kind engine.EffectKind `json:"kind"`
	Name string            `json:"name"`
	For  string            `json:"for"`            // a description of what it waits for
	Data json.RawMessage   `json:"data,omitempty"` // what is decided about
	Line string            `json:"answer"`         // the command that answers

	Schema string `json:"schema,omitempty"` // the JSON Schema of the awaited value
}

// Post reads what a run asks for, and what was sent to it.
func (s *Store) Post(ctx context.Context, run string) (*journal.Post, error) {
	info, err := s.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	return journal.ReadPost(ctx, s, info)
}

// Waits lists what a run waits for. It leaves out what was answered and not taken yet.
func (s *Store) Waits(post *journal.Post, run string) []Waiting {
	named := map[string]int{}
	for _, step := range post.Waits {
		if step.Kind == engine.EffectWait {
			named[step.Name]++
		}
	}
	return append([]Waiting{}, text.Each(post.Waits, func(step engine.Step) Waiting { return s.waits(step, run, named[step.Name] == 1) })...)
}

// Sent lists, as texts, the answers that were sent to a run and that it has not taken.
func Sent(post *journal.Post) []string {
	steps := map[int64]string{}
	for id, is := range post.Answered {
		steps[is.Seq] = journal.Position(id)
	}
	return text.Each(post.Untaken(), func(is engine.Signal) string {
		if step, ok := steps[is.Seq]; ok {
			return Answered(step, is)
		}
		return "an answer" + by(is) + " is kept for a step that waits for " + is.Name
	})
}

// Answered returns a text that says who answered a step, and when.
func Answered(step string, is engine.Signal) string {
	return journal.Position(step) + " was answered" + by(is)
}

func by(is engine.Signal) string {
	return " by " + cmp.Or(is.By, "somebody") + " at " + is.At.Format(time.RFC3339)
}

// waits describes a step that waits. The step is identified by its name if no other step has that name.
func (s *Store) waits(step engine.Step, run string, alone bool) Waiting {
	at := journal.Position(step.ID)
	w := Waiting{ID: step.ID, Schema: step.Types[journal.ValueSchema], Step: at, Kind: step.Kind, Name: step.Name}
	to, how := at, "--result JSON | --failed TEXT | --again"
	if name := step.Name; alone && name != "" && name[0] != '-' && text.Visible(name) == name { // otherwise a shell would turn it into another word
		to = name
	}
	switch step.Kind {
	case engine.EffectWait:
		var asked struct{ Name, Type string }
		_ = json.Unmarshal(step.Request, &asked) // written by this command; otherwise nothing is shown
		w.For = "a value of type " + cmp.Or(asked.Type, "any")
		how = "--result JSON"
	case engine.EffectApproval:
		var asked struct {
			Tool, Agent, Question string
			Data                  json.RawMessage
		}
		_ = json.Unmarshal(step.Request, &asked)
		w.For = "a decision: " + asked.Question
		if asked.Tool != "" {
			w.For = "a decision: agent " + asked.Agent + " wants to call " + asked.Tool
		}
		w.Data, how = asked.Data, "--approve | --failed REASON | --result JSON"
	default:
		if step.Kind == engine.EffectExec {
			how = `--result '{"code": 0, "stdout": "…", "stderr": "", "truncated": false}' | --failed TEXT | --again`
		}
		w.For = "whether " + string(step.Kind) + " " + step.Name + " was carried out, which is unknown"
		if step.Request != nil {
			w.Data = step.Request
		}
	}
	w.Line = s.Line("answer", run, to) + " " + how
	return w
}

// Line returns a command about a run: the one with which another invocation does something with it. A run that is
// carried out elsewhere is not resumed: a fork of it continues.
func (s *Store) Line(verb, run string, args ...string) string {
	words := []string{cmp.Or(s.lines.Verb, localVerb), verb, s.word(run)}
	if s.over != nil && verb == "resume" {
		words[1] = "fork"
	}
	for _, arg := range args {
		words = append(words, text.ShellWord(arg))
	}
	if s.lines.Flags != "" {
		words = append(words, s.lines.Flags)
	}
	if flag := s.Flag(); flag != "" {
		words = append(words, "--store "+text.ShellWord(flag))
	}
	return strings.Join(words, " ")
}

// localVerb is the command about the runs of this machine.
const localVerb = "agentscript runs"

// Of changes the commands in a failure to commands about the runs of this store.
func (s *Store) Of(err error) error {
	f, ok := errors.AsType[*term.Failure](err)
	if !ok || s.over == nil {
		return err
	}
	for _, d := range f.Found {
		d.Help = text.Each(d.Help, func(line string) string {
			if !strings.Contains(line, localVerb) {
				return line
			}
			line = inStore(strings.ReplaceAll(line, localVerb+" resume ", localVerb+" fork "), s.lines.Flags)
			return strings.ReplaceAll(line, localVerb, s.lines.Verb)
		})
	}
	return err
}

// InStore adds the store to the commands that a failure mentions. store is "" for the store that they use by default.
func InStore(err error, store string) error {
	f, ok := errors.AsType[*term.Failure](err)
	if !ok || store == "" {
		return err
	}
	for _, d := range f.Found {
		d.Help = text.Each(d.Help, func(line string) string { return inStore(line, "--store "+text.ShellWord(store)) })
	}
	return err
}

// inStore adds a flag to each command about runs in a line, after the run that the command names.
func inStore(line, flag string) string {
	const verb = localVerb + " "
	if flag == "" || strings.Contains(line, "--store") {
		return line
	}
	flag = " " + flag
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(line, verb)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, behind, more := strings.Cut(rest, " ")
		b.WriteString(verb)
		run, _, _ := strings.Cut(behind, " ")
		run = strings.TrimRight(run, ".,;:")
		at := len(name)
		if more && (run == "RUN" || run == "last" || strings.ContainsAny(run, "0123456789")) {
			at += len(" ") + len(run)
		}
		b.WriteString(rest[:at] + flag)
		line = rest[at:]
	}
}

// Onward adds to the failure of a run how the run can be continued.
func (s *Store) Onward(run, file string, err, failed error) {
	f, is := errors.AsType[*term.Failure](failed)
	e, ok := errors.AsType[*engine.Error](err)
	if !is || !ok || len(f.Found) == 0 {
		return
	}
	defer InStore(failed, s.Flag())
	if !s.Began(run) {
		if s.record == "" || !s.place.Off {
			return
		}
		s.Read(run, s.record, nil)
	}
	d := f.Found[0]
	switch e.Kind {
	case engine.KindApproval:
		if !s.Began(run) { // others can read the record
			d.Help = append(d.Help, s.Line("show", run)+" says what it waits for")
			return
		}
		post, err := s.Post(context.Background(), run)
		if err != nil {
			return
		}
		all := s.Waits(post, run)
		if len(all) > 0 && e.Code != diag.NeedsApproval { // the general help is replaced with specific lines
			d.Help = nil
		}
		for _, w := range all {
			d.Notes = append(d.Notes, diag.Note{Message: w.Step + " waits for " + w.For})
			d.Help = append(d.Help, w.Line)
		}
		d.Help = append(d.Help, "then continue with "+s.Line("resume", run))
	case engine.KindInput, engine.KindConfig, engine.KindStore, engine.KindReplay:
		if e.Code == diag.RunLost {
			return
		}
		d.Help = append(d.Help, "what was done is kept: "+s.Line("resume", run))
	case engine.KindBudget:
		d.Help = append(d.Help, s.larger(run, file, e))
	case engine.KindTimeout:
		if strings.Contains(e.Help, "--timeout") { // the time it took so far counts when it continues
			d.Help = append(d.Help, "continue with "+s.Line("resume", run, "--timeout", "DURATION"))
			return
		}
		d.Help = append(d.Help, "continue with "+s.Line("resume", run))
	default:
		if again := s.Again(run, e); again != "" {
			d.Help = append(d.Help, again)
			return
		}
		if resumes(e.Kind) {
			d.Help = append(d.Help, "continue with "+s.Line("resume", run))
			return
		}
		d.Help = append(d.Help, "fix it, and continue with "+s.Line("fork", run, "--script", file))
	}
}

// Again returns how to continue a run that ended because somebody answered that an effect failed: it fails in the
// same way each time it is resumed. It returns "" if that is not the reason.
func (s *Store) Again(run string, e *engine.Error) (line string) {
	err := s.Steps(context.Background(), run, 0, func(step engine.Step) error {
		if step.State != engine.StepCaught || step.Taken == 0 {
			return nil
		}
		out, err := engine.DecodeOutcome(step.Outcome, engine.TypesOf().OrMaps())
		if err == nil && out.Err != nil && out.Err.Code == e.Code && out.Err.Message == e.Message {
			line = "that it failed was answered; continue without that answer: " + s.Line("fork", run, "--from", journal.Position(step.ID))
		}
		return err
	})
	if err != nil {
		return ""
	}
	return line
}

// larger returns how to continue a run that a limit has ended: with a larger limit on the command line if it is a
// limit of the run, otherwise as a fork with a larger one in the script.
func (s *Store) larger(run, file string, e *engine.Error) string {
	flag := term.LimitFlag(e)
	switch {
	case flag != "":
	case e.Code == diag.UnknownPrice && strings.Contains(e.Help, "--prices"):
		return "continue with a price for the model: " + s.Line("resume", run, "--prices", "FILE")
	case e.Code == diag.UnknownPrice:
		return "continue with a model that has a price: " + s.Line("fork", run, "--model", "provider/model")
	case strings.Contains(e.Help, "budget(depth"):
		flag = s.limited(run, "max-depth")
	case !strings.Contains(e.Help, "budget("): // of an answer that was cut off, without the reason
		flag = s.limited(run, "max-tokens", "max-usd")
	}
	if flag == "" {
		return "raise it in the script, and continue with " + s.Line("fork", run, "--script", file)
	}
	return "continue with a larger one: " + s.Line("resume", run, flag, "N")
}

// limited returns the first of some flags of limits that a run was given, or "" if it was given none.
func (s *Store) limited(run string, flags ...string) string {
	info, err := s.Run(context.Background(), run)
	if err != nil {
		return ""
	}
	settings, problem := ReadSettings(run, info.Settings)
	for _, flag := range flags {
		if problem == nil && settings.Flags[flag] != nil {
			return "--" + flag
		}
	}
	return ""
}

// resumes reports whether the same run may get further the next time.
func resumes(k engine.ErrKind) bool {
	switch k {
	case engine.KindCancelled, engine.KindAuth, engine.KindRateLimit, engine.KindQuota, engine.KindOverloaded,
		engine.KindServer, engine.KindNetwork, engine.KindNotFound, engine.KindTruncated, engine.KindBadResponse, engine.KindRefused, engine.KindTool:
		return true
	}
	return false
}
