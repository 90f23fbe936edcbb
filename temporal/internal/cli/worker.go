package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/sdk/worker"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/temporal"
)

const workerLong = `Worker carries out runs and their calls of models, tools and servers, until it is interrupted. It then takes nothing new,
and exits when the work in progress has ended or --drain is over. A second interrupt ends it at once. Runs continue on
other workers.

Keys, prices and retries are those of the worker. Each worker must be granted what its runs are granted: it refuses a run
that is granted more, and every effect beyond its own grants.`

// workerFlags names the flags of run that define how effects are carried out.
const workerFlags = "prices scripted cache env-file allow-exec allow-net allow-fs allow-env net-proxy mcp-sampling retries fallback fallback-on-refusal max-in-flight verbose"

// workerCommand is a worker that is about to start.
type workerCommand struct {
	*verbs
	flags            *setup.RunFlags
	own              *pflag.FlagSet
	drain, heartbeat time.Duration
	wait             time.Duration // for a server
	logs             logging
	level            string
	atOnce           int
	rate             float64
	deployment       string // NAME:BUILD
	sessions         string // a directory
	engines          engines
}

func (v *verbs) worker() *cobra.Command {
	w := &workerCommand{verbs: v, flags: &setup.RunFlags{}}
	w.own = w.flags.Flags()
	cmd := &cobra.Command{Use: "worker", Short: "Carry out runs", Long: workerLong, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return term.Usagef("usage: agentscript temporal worker [flags]", "worker takes no argument, and got %q", args[0])
		}
		if w.sessions == "" && cmd.Flags().Changed("session-store") {
			return term.Usagef("", "--session-store needs the name of a directory")
		}
		ctx, stop := v.c.Interruptible()
		defer stop()
		return v.failure(w.serve(ctx))
	}}
	v.to.addTo(cmd.Flags())
	cmd.Flags().DurationVar(&w.drain, "drain", 30*time.Second, "when interrupted, wait at most this `DURATION` for work in progress")
	cmd.Flags().DurationVar(&w.heartbeat, "heartbeat", 5*time.Second, "let another worker take over an effect that this one has not reported on for this `DURATION`")
	cmd.Flags().IntVar(&w.atOnce, "effects", 1000, "carry out at most `N` effects at once")
	cmd.Flags().Float64Var(&w.rate, "effects-per-second", 0, "let all workers of the queue together begin at most `N` effects a second; 0 is no limit; must be the same for all of them")
	cmd.Flags().StringVar(&w.deployment, "deployment", "", "run as a build of a deployment, `NAME:BUILD`: the server gives it the runs that begin while this build is the current one, and keeps them on it until they end")
	cmd.Flags().StringVar(&w.sessions, "session-store", "", "keep the sessions of runs in this `DIR`, the same for all workers; without it, runs with --session are refused")
	cmd.Flags().DurationVar(&w.wait, "wait", time.Minute, "while no server answers, or the server does not have the namespace yet, try again for this `DURATION`")
	cmd.Flags().StringVar(&w.level, "log-level", "info", "write log entries of at least this `LEVEL`: debug, info, warn or error")
	cmd.Flags().BoolVar(&w.logs.json, "log-json", false, "write log entries as JSON lines")
	cmd.Flags().AddFlagSet(onlyFlags(w.own, workerFlags))
	cmd.Flags().Lookup("verbose").Usage = "also write what scripts print and what the client library logs"
	cmd.Flags().SortFlags = false
	return cmd
}

// onlyFlags returns the flags of a set that have the given names.
func onlyFlags(set *pflag.FlagSet, names string) *pflag.FlagSet {
	var others []string
	set.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(strings.Fields(names), f.Name) {
			others = append(others, f.Name)
		}
	})
	return setup.Without(set, others...)
}

// version returns the deployment version of this worker, or none without --deployment.
func (w *workerCommand) version() (o worker.DeploymentOptions, problem *term.Failure) {
	name, build, _ := strings.Cut(w.deployment, ":")
	switch {
	case w.deployment == "":
		return o, nil
	case name == "" || build == "" || strings.ContainsAny(name, ".:") || strings.Contains(build, ":"):
		return o, term.Usagef("write --deployment flows:2026-11-29, say", "--deployment %q is no NAME:BUILD", w.deployment)
	}
	return worker.DeploymentOptions{UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: name, BuildID: build}}, nil
}

func (w *workerCommand) serve(ctx context.Context) error {
	switch {
	case w.drain < 0:
		return term.Usagef("", "--drain must not be negative")
	case w.heartbeat <= 0 || w.atOnce <= 0:
		return term.Usagef("", "--heartbeat and --effects must be more than 0")
	case w.rate < 0:
		return term.Usagef("", "--effects-per-second must not be negative")
	case w.wait < 0:
		return term.Usagef("", "--wait must not be negative")
	case !slices.Contains([]string{"debug", "info", "warn", "error"}, w.level) || w.logs.level.UnmarshalText([]byte(w.level)) != nil:
		return term.Usagef("it is debug, info, warn or error", "there is no --log-level %q", w.level)
	}
	version, problem := w.version()
	if problem != nil {
		return problem
	}
	w.logs.all = w.flags.Verbose
	if problem := w.flags.Valid(w.own); problem != nil {
		return problem
	}
	w.to.createBlobs = true
	o, problem := w.to.options(w.c)
	if problem != nil {
		return problem
	}
	o.Settings, o.Held, o.Within, o.Heartbeat = w.settings, w.grantsOf, w.engineFor, w.heartbeat
	effects, problem := w.flags.Effects(w.c, w.own)
	if problem != nil {
		return problem
	}
	granted, opts, done, problem := effects.Within(w.c, &w.flags.Grants)
	if problem != nil {
		return problem
	}
	defer done()
	w.flags.Granted = granted
	w.engines = engines{effects: effects, workerEngine: setup.Engine(w.c, opts...), by: map[string]*grantedEngine{}}
	defer w.engines.end()
	if w.sessions != "" {
		sessions, err := setup.OpenSessions(ctx, w.c, w.sessions, nil)
		if err != nil {
			return err
		}
		defer sessions.Close() // every session was closed before
		o.Sessions = sessions
	}
	logs := w.logs.handler(w.c)
	o.Log = slog.New(logs)
	if w.flags.Verbose {
		o.Listen = w.printListener
	}
	to, err := w.to.connectWithRetry(ctx, w.c, sdkHandler{logs, w.logs.all}, w.wait, w.say)
	if err != nil {
		return err
	}
	defer to.Close()
	var fatal error
	failed, fails := context.WithCancel(ctx)
	defer fails()
	carries, err := temporal.NewWorker(to, w.engines.workerEngine, o, worker.Options{
		MaxConcurrentActivityExecutionSize: w.atOnce, TaskQueueActivitiesPerSecond: w.rate, StickyScheduleToStartTimeout: 2 * time.Second, WorkerStopTimeout: w.drain,
		OnFatalError: func(err error) { fatal = err; fails() }, DeploymentOptions: version,
	})
	if err != nil {
		return err
	}
	if err := carries.Start(); err != nil {
		return w.to.withEnv(w.c).unreachable(err)
	}
	at := w.to.withEnv(w.c)
	w.say("ready: worker of task queue %s, namespace %s, at %s", at.queue, at.namespace, at.address)
	<-failed.Done()
	if ctx.Err() == nil {
		return w.to.withEnv(w.c).unreachable(fatal)
	}
	w.say("draining for at most %s: interrupt again to end at once", w.drain)
	carries.Stop()
	return nil
}

// say writes a line in the format of the log.
func (w *workerCommand) say(format string, args ...any) {
	if w.logs.json {
		slog.New(w.logs.handler(w.c)).Info(fmt.Sprintf(format, args...))
		return
	}
	w.verbs.say(format, args...)
}

// say writes a line to stderr. It ignores errors, since stderr may be closed.
func (v *verbs) say(format string, args ...any) {
	_, _ = io.WriteString(v.c.Stderr, text.Terminal(fmt.Sprintf(format, args...))+"\n")
}

// settings returns the options of a run from the settings that it began with. It refuses a run that is granted more
// than the worker.
func (w *workerCommand) settings(head engine.RunHead, kept json.RawMessage) ([]agentscript.RunOption, error) {
	s, problem := keep.ReadSettings(head.ID, kept)
	if problem == nil {
		if flag := w.missingGrant(s.Flags); flag != "" {
			return nil, w.ungranted(flag)
		}
		o := &setup.RunFlags{}
		own := o.Flags()
		if _, problem = s.Carried().Apply(own, pflag.NewFlagSet("", pflag.ContinueOnError)); problem == nil {
			o.Project, problem = s.Project.Restore()
		}
		if problem == nil {
			problem = o.Valid(own)
		}
		if problem == nil {
			var opts []agentscript.RunOption
			if opts, problem = o.Carried(own, s.File); problem == nil {
				return opts, nil
			}
		}
	}
	return nil, badSettings(head.ID, problem)
}

func badSettings(run string, problem error) *engine.Error {
	return engine.Errorf(engine.KindInput, diag.BadInput, "the settings of run %s do not hold here: %s", run, problem.Error())
}
