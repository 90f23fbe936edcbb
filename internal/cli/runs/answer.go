package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

const answerLong = `Answer sends a run what it waits for: a value for wait(name), a decision on an approval, or the
result of a step when it is unknown whether the step was carried out. STEP is the name that the run
waits for, or the position of the step, as runs show lists them; it can be omitted if only one step
waits. The first answer counts. A run that is not running receives the answer when it is resumed.`

func (v *verbs) answer() *cobra.Command {
	var result, failed string
	var again, approve bool
	cmd := &cobra.Command{Use: "answer RUN [STEP]", Short: "Send a run the answer that it waits for", Long: answerLong}
	cmd.Flags().StringVar(&result, "result", "", "the value, as `JSON` (- is stdin)")
	cmd.Flags().StringVar(&failed, "failed", "", "the step failed, or the approval is denied, for this `REASON`")
	cmd.Flags().BoolVar(&again, "again", false, "the step was not carried out: carry it out")
	cmd.Flags().BoolVar(&approve, "approve", false, "approve the request")
	cmd.RunE = v.with(func(ctx context.Context, s *keep.Store, args []string) error {
		if len(args) == 0 || len(args) > 2 {
			return term.Usagef("usage: agentscript runs answer RUN [STEP] --result JSON | --failed TEXT | --again | --approve", "answer takes a RUN and a STEP, and got %d arguments", len(args))
		}
		var a engine.Answer
		n := 0
		for _, name := range []string{"result", "failed", "again", "approve"} {
			if cmd.Flags().Changed(name) {
				n++
			}
		}
		a.Again, a.Approved = again, approve
		if cmd.Flags().Changed("failed") {
			a.Failed = &failed
		}
		if cmd.Flags().Changed("result") {
			if result == "-" {
				data, err := io.ReadAll(io.LimitReader(v.c.Stdin, 64<<20))
				if err != nil {
					return term.Usagef("", "stdin: %v", err)
				}
				result = string(data)
			}
			if !json.Valid([]byte(result)) {
				help := "a text is written in quotes"
				if quoted, err := json.Marshal(result); err == nil {
					help += ": --result " + text.ShellWord(string(quoted))
				}
				return term.Usagef(help, "--result is not JSON: %s", text.Clip(result, 80))
			}
			a.Result = json.RawMessage(result)
		}
		if n != 1 || !again && !approve && a.Failed == nil && a.Result == nil {
			return term.Usagef("agentscript runs show "+args[0]+" says which fits", "answer takes one of --result, --failed, --again and --approve, and got %d", n)
		}
		info, err := v.writable(ctx, s, args[0])
		if err != nil && !unheard(err) {
			return err
		}
		if own, problem := keep.ReadSettings(info.ID, info.Settings); problem == nil { // otherwise it has no secrets that are known here
			own.Hide(v.c)
		}
		if a.Result != nil {
			a.Result = json.RawMessage(v.hidden(string(a.Result)))
		}
		if a.Failed != nil {
			failed = v.hidden(failed)
		}
		to := strings.Join(args[1:], "")
		if err != nil {
			return v.answeredUnheard(ctx, s, info, to, a)
		}
		return v.answered(ctx, s, info, to, a)
	})
	return v.flagged(cmd)
}

// who describes the person who answers, and the verb.
func (v *verbs) who() string {
	name := cmp.Or(v.c.Env("USER"), v.c.Env("USERNAME"))
	if is, err := user.Current(); name == "" && err == nil {
		name = is.Username
	}
	return cmp.Or(name, "somebody") + " by " + v.use() + " answer"
}

// hidden returns a text without the secrets of the run, because the text is stored.
func (v *verbs) hidden(text string) string {
	without := v.c.Hidden(text)
	if without != text {
		v.c.Report(diag.List{{Severity: diag.Warning, Message: "a secret is taken out of what is sent"}}, nil)
	}
	return without
}

// answeredUnheard sends an answer to a run that is carried out elsewhere while nobody can say what it waits for. The
// worker that takes the run up checks whether the answer fits.
func (v *verbs) answeredUnheard(ctx context.Context, s *keep.Store, info engine.RunInfo, to string, a engine.Answer) error {
	if to == "" || strings.Contains(to, "/") && !strings.Contains(to, "@") {
		return term.Usagef("name it as the script does, or by the whole id of the step", "no worker has the run %s, so it is unknown what it waits for", info.ID)
	}
	if err := journal.Send(ctx, s, info.ID, to, "", v.who(), time.Now(), a); err != nil {
		return err
	}
	return v.took(info, to, []keep.Waiting{}, to+": the answer is kept, and the first worker that takes the run up sees whether it fits")
}

// answered sends an answer after checking that it fits.
func (v *verbs) answered(ctx context.Context, s *keep.Store, info engine.RunInfo, to string, a engine.Answer) error {
	if !info.Live && info.Status == engine.RunDone {
		return term.Usagef("", "run %s has ended: it is %s", info.ID, info.Status)
	}
	post, err := s.Post(ctx, info.ID)
	if err != nil {
		return err
	}
	all := s.Waits(post, info.ID)
	var fit []keep.Waiting
	for _, w := range all {
		if to == "" || w.Step == to || w.Name == to || w.ID == to {
			fit = append(fit, w)
		}
	}
	steps := strings.Join(text.Each(all, func(w keep.Waiting) string { return w.Step }), ", ")
	switch {
	case to == "" && len(all) == 0:
		if sent := keep.Sent(post); len(sent) > 0 {
			return term.Usagef(s.Line("resume", info.ID)+" continues with it", "run %s waits for no other answer: %s", info.ID, text.Visible(strings.Join(sent, ", ")))
		}
		return term.Usagef("agentscript runs show "+info.ID, "run %s waits for nothing", info.ID)
	case to == "" && len(all) > 1:
		return term.Usagef("it waits at "+steps, "run %s waits for more than one answer: say for which this is", info.ID)
	case len(fit) == 1 && fit[0].Kind != engine.EffectWait:
		to = fit[0].Step // a tool may also be named
	case len(fit) == 1 && to == "":
		to = fit[0].Name
	case len(fit) > 1:
		return term.Usagef("answer one of "+strings.Join(text.Each(fit, func(w keep.Waiting) string { return w.Step }), ", "), "several steps that wait are called %s", to)
	case len(fit) == 0 && a.Result == nil && !strings.ContainsAny(to, "/@"):
		return term.Usagef(cmp.Or(diag.DidYouMean(to, text.Each(all, func(w keep.Waiting) string { return w.Name })), "agentscript runs show "+info.ID+" lists what waits"), "no step of run %s waits for %s: only a value can be sent before one does", info.ID, text.Visible(to))
	}
	at := to
	if len(fit) > 0 {
		if problem := fits(fit[0], a); problem != nil {
			return problem
		}
		at = fit[0].ID // not the next step with that name, in case somebody else answers this one in the meantime
	} else if had, err := post.Had(to, a); err != nil { // it would answer whatever waits for the name next
		return err
	} else if had {
		return v.took(info, to, []keep.Waiting{}, to+" was answered so before: nothing changes")
	}
	if err := journal.Send(ctx, s, info.ID, at, "", v.who(), time.Now(), a); err != nil {
		return err
	}
	if post, err = s.Post(ctx, info.ID); err != nil {
		return err
	}
	left := s.Waits(post, info.ID)
	said := to + " is answered"
	switch {
	case slices.ContainsFunc(post.Queued, func(is engine.Signal) bool { return is.Name == to }):
		v.noWait(all, info, to)
		said = "the answer is kept for the first step that waits for " + to
	case len(left) > 0:
		said += fmt.Sprintf("; the run still waits for %s", text.Count(len(left), "answer"))
	case info.Live:
		said += "; the run continues"
	default:
		said += "; the run continues with " + s.Line("resume", info.ID)
	}
	return v.took(info, to, left, said)
}

// took reports what happened to an answer, and what is still waited for.
func (v *verbs) took(info engine.RunInfo, to string, left []keep.Waiting, said string) error {
	return v.c.PrintAs(v.json, struct {
		V     int            `json:"v"`
		Run   string         `json:"run"`
		To    string         `json:"to"`
		Waits []keep.Waiting `json:"waits"`
	}{form, info.ID, to, left}, func() string { return said })
}

// noWait warns that nothing waits for a name: the step may come later, or the name may be misspelled.
func (v *verbs) noWait(all []keep.Waiting, info engine.RunInfo, to string) {
	names := text.Each(all, func(w keep.Waiting) string { return w.Name })
	d := &diag.Diagnostic{Severity: diag.Warning, Message: fmt.Sprintf("no step of run %s waits for %q yet", info.ID, to)}
	if meant := diag.DidYouMean(to, names); meant != "" {
		d.Help = append(d.Help, meant)
	}
	v.c.Report(diag.List{d}, nil)
}
